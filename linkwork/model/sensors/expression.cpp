#include "linkwork/model/model.h"

namespace linkwork {

SensorKind expression_sensor() {
  return {.name = "expression",
          .summary = "the value of an expression",
          .prefix = "s",
          .components = {""},
          .keys = {{"expression", KeyKind::kExpressionOfState, kRequired, "the value it shows", &SensorSpec::value}},
          .read = [](const Sensor& sensor, const Observation& seen,
                     std::span<double> values) { values[0] = seen.value(sensor.value); },
          .is_expression = true};
}

}  // namespace linkwork
