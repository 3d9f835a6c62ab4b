#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {

using V3 = Vec3<double>;

JointKind free_joint() {
  return {"free",
          "no constraint: the child floats",
          false,
          {"x", "y", "z", "qw", "qx", "qy", "qz"},
          {"x", "y", "z", "wx", "wy", "wz"},
          {{NodeKind::kFree, V3::UnitZ(), 0}},
          {},
          [](const RelativeMotion&, double, std::span<Row>) {},
          [](const RelativeMotion& m, std::span<Row> r) {
            for (int i = 0; i < 3; ++i) {
              r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
              r[static_cast<std::size_t>(i + 3)] = {0.0, m.R.col(i), V3::Zero(), 0.0};
            }
          }};
}

}  // namespace linkwork
