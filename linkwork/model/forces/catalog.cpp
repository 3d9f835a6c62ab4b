#include "linkwork/model/kinds.h"

namespace linkwork {

std::vector<ForceKind> force_kinds() { return {joint_torque(), joint_force(), spring_force(), damper_force(), wrench_force()}; }

}  // namespace linkwork
