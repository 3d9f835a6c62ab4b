#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

using V3 = Vec3<double>;

FrameClosureKind distance_closure() {
  return {"distance",
          "the points keep their distance, like a massless rod with ball ends",
          false,
          {"d"},
          [](const RelativeMotion& m, const ClosureGeometry& geometry, std::span<Row> r) {
            r[0] = distance_row(m);
            r[0].value -= geometry.length;
          }};
}

}  // namespace linkwork
