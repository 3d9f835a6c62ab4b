#include "linkwork/model/model.h"

namespace linkwork {

SensorKind point_sensor() {
  return {.name = "point",
          .summary = "where a point of a body is, world axes",
          .prefix = "p",
          .components = {"x", "y", "z"},
          .keys = {{"body", KeyKind::kBody, kRequired, "the body it looks at", &SensorSpec::frame},
                   {"at", KeyKind::kVector, kOptional, "the point, body frame, m; default `[0, 0, 0]`", &SensorSpec::frame}},
          .read = [](const Sensor& sensor, const Observation& seen,
                     std::span<double> values) { std::ranges::copy(seen.pose(sensor.frame).p, values.begin()); },
          .rate_prefix = "pv",
          .read_rates = [](const Sensor& sensor, const Observation& seen,
                           std::span<double> rates) { std::ranges::copy(seen.velocity(sensor.frame), rates.begin()); },
          .is_drawn = true,
          .units = {"m", "m", "m"}};
}

}  // namespace linkwork
