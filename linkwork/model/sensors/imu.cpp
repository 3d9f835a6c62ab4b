#include "linkwork/model/model.h"

namespace linkwork {

SensorKind imu_sensor() {
  return {.name = "imu",
          .summary = "what gyroscopes and accelerometers fixed to a body show, in their own axes",
          .prefix = "imu",
          .components = {"wx", "wy", "wz", "ax", "ay", "az"},
          .keys = {{"frame", KeyKind::kFrame, kRequired, "where it is fixed, and its axes", &SensorSpec::frame}},
          .read =
              [](const Sensor& sensor, const Observation& seen, std::span<double> values) {
                std::ranges::copy(seen.angular_velocity(sensor.frame), values.begin());
                std::ranges::copy(seen.specific_force(sensor.frame), values.begin() + 3);
              },
          .is_drawn = true,
          .units = {"rad/s", "rad/s", "rad/s", "m/s^2", "m/s^2", "m/s^2"},
          .is_output_only = true};
}

}  // namespace linkwork
