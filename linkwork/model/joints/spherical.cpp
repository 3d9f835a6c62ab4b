#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {

using V3 = Vec3<double>;

JointKind spherical_joint() {
  return {"spherical",
          "turns freely about a point",
          false,
          {"w", "x", "y", "z"},
          {"wx", "wy", "wz"},
          {{NodeKind::kSpherical, V3::UnitZ(), 0}},
          {"x", "y", "z"},
          [](const RelativeMotion& m, double, std::span<Row> r) {
            for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
          },
          [](const RelativeMotion& m, std::span<Row> r) {
            for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = {0.0, m.R.col(i), V3::Zero(), 0.0};
          }};
}

}  // namespace linkwork
