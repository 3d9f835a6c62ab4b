#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {

using V3 = Vec3<double>;

JointKind revolute_joint() {
  return {"revolute",
          "turns about its axis",
          true,
          {""},
          {""},
          {{NodeKind::kRevolute, V3::UnitZ(), 0}},
          {"x", "y", "z", "rx", "ry"},
          [](const RelativeMotion& m, double, std::span<Row> r) {
            for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
            swing_rows(m, r[3], r[4]);
          },
          [](const RelativeMotion& m, std::span<Row> r) { r[0] = twist_row(m); }};
}

}  // namespace linkwork
