#include "linkwork/model/kinds.h"

namespace linkwork {

std::vector<SensorKind> sensor_kinds() {
  return {point_sensor(), body_sensor(), expression_sensor(), distance_sensor(), imu_sensor()};
}

}  // namespace linkwork
