#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

using V3 = Vec3<double>;

FrameClosureKind point_closure() {
  return {"point",
          "the points coincide",
          false,
          {"x", "y", "z"},
          [](const RelativeMotion& m, const ClosureGeometry&, std::span<Row> r) {
            for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
          }};
}

}  // namespace linkwork
