#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {

using V3 = Vec3<double>;

JointKind prismatic_joint() {
  return {"prismatic",
          "slides along its axis",
          true,
          {""},
          {""},
          {{NodeKind::kPrismatic, V3::UnitZ(), 0}},
          {"x", "y", "rx", "ry", "rz"},
          [](const RelativeMotion& m, double, std::span<Row> r) {
            r[0] = translation_row(m, V3::UnitX());
            r[1] = translation_row(m, V3::UnitY());
            rotation_rows(m, r[2], r[3], r[4]);
          },
          [](const RelativeMotion& m, std::span<Row> r) { r[0] = translation_row(m, V3::UnitZ()); }};
}

}  // namespace linkwork
