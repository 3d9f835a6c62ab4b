#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

using V3 = Vec3<double>;

FrameClosureKind point_on_plane_closure() {
  return {.name = "point-on-plane",
          .summary = "b's point stays in the plane through a's point across the axis",
          .has_axis = true,
          .rows = {"z"},
          .evaluate = [](const RelativeMotion& m, const ClosureGeometry&,
                         std::span<Row> r) { r[0] = translation_row(m, V3::UnitZ()); },
          .one_row_opens = true};
}

}  // namespace linkwork
