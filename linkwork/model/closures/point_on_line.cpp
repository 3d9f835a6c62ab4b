#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

using V3 = Vec3<double>;

FrameClosureKind point_on_line_closure() {
  return {"point-on-line",
          "b's point stays on the line through a's point along the axis",
          true,
          {"x", "y"},
          [](const RelativeMotion& m, const ClosureGeometry&, std::span<Row> r) {
            r[0] = translation_row(m, V3::UnitX());
            r[1] = translation_row(m, V3::UnitY());
          }};
}

}  // namespace linkwork
