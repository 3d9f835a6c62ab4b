#include "linkwork/model/model.h"

namespace linkwork {

SensorKind distance_sensor() {
  return {.name = "distance",
          .summary = "how far the origins of two frames are apart",
          .prefix = "d",
          .components = {""},
          .keys = {{"a", KeyKind::kFrame, kRequired, "one frame", &SensorSpec::frame},
                   {"b", KeyKind::kFrame, kRequired, "the other", &SensorSpec::b}},
          .read = [](const Sensor& sensor, const Observation& seen,
                     std::span<double> values) { values[0] = (seen.pose(sensor.b).p - seen.pose(sensor.frame).p).norm(); },
          .rate_prefix = "dv",
          .read_rates =
              [](const Sensor& sensor, const Observation& seen, std::span<double> rates) {
                const Vec3<double> span = seen.pose(sensor.b).p - seen.pose(sensor.frame).p;
                rates[0] = span.normalized().dot(seen.velocity(sensor.b) - seen.velocity(sensor.frame));
              },
          .is_drawn = true,
          .units = {"m"}};
}

}  // namespace linkwork
