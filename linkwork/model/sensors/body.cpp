#include "linkwork/model/model.h"

namespace linkwork {

SensorKind body_sensor() {
  return {.name = "body",
          .summary = "where a body's frame is, and its rotation as a quaternion",
          .prefix = "x",
          .components = {"x", "y", "z", "qw", "qx", "qy", "qz"},
          .keys = {{"body", KeyKind::kBody, kRequired, "the body it looks at", &SensorSpec::frame}},
          .read =
              [](const Sensor& sensor, const Observation& seen, std::span<double> values) {
                const Pose<double> X = seen.pose(sensor.frame);
                const Quat turn(X.R);
                std::ranges::copy(X.p, values.begin());
                values[3] = turn.w(), values[4] = turn.x(), values[5] = turn.y(), values[6] = turn.z();
              },
          .is_drawn = true,
          .units = {"m", "m", "m", "1", "1", "1", "1"}};
}

}  // namespace linkwork
