#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

using V3 = Vec3<double>;

FrameClosureKind pin_closure() {
  return {"pin",
          "the points coincide across the axis: two rows, for planar loops",
          true,
          {"x", "y"},
          [](const RelativeMotion& m, const ClosureGeometry&, std::span<Row> r) {
            r[0] = translation_row(m, V3::UnitX());
            r[1] = translation_row(m, V3::UnitY());
          }};
}

}  // namespace linkwork
