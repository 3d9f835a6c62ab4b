#include <algorithm>
#include <array>

#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {

std::span<const JointKind> joint_kinds() {
  static const std::array kinds{revolute_joint(),  prismatic_joint(), screw_joint(),  cylindrical_joint(),
                                universal_joint(), spherical_joint(), planar_joint(), translational_joint(),
                                free_joint(),      weld_joint()};
  return kinds;
}

const JointKind* find_joint_kind(std::string_view name) {
  const auto kinds = joint_kinds();
  const auto found = std::ranges::find(kinds, name, &JointKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

void joint_positions(const JointKind& kind, const RelativeMotion& m, std::span<double> q) {
  std::array<Row, 6> rows;
  kind.coordinates(m, rows);
  const int simple = kind.has_quaternion() ? kind.nv() - 3 : kind.nv();
  for (int i = 0; i < simple; ++i) q[static_cast<std::size_t>(i)] = rows[static_cast<std::size_t>(i)].value;
  if (!kind.has_quaternion()) return;
  const Quat turn(m.R);
  const auto at = [&](int i) -> double& { return q[static_cast<std::size_t>(simple + i)]; };
  at(0) = turn.w(), at(1) = turn.x(), at(2) = turn.y(), at(3) = turn.z();
}

}  // namespace linkwork
