#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {

using V3 = Vec3<double>;

JointKind weld_joint() {
  return {"weld",
          "no motion: the child is fixed to the parent",
          false,
          {},
          {},
          {},
          {"x", "y", "z", "rx", "ry", "rz"},
          [](const RelativeMotion& m, double, std::span<Row> r) {
            for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
            rotation_rows(m, r[3], r[4], r[5]);
          },
          [](const RelativeMotion&, std::span<Row>) {}};
}

}  // namespace linkwork
