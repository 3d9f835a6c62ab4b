#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

using V3 = Vec3<double>;

FrameClosureKind knife_edge_closure() {
  return {.name = "knife-edge",
          .summary = "b's point does not move along the axis, which b carries with it: a blade on ice, a wheel without spin",
          .has_axis = true,
          .rows = {"side"},
          .evaluate =
              [](const RelativeMotion& m, const ClosureGeometry&, std::span<Row> rows) {
                const V3 axis = m.R.col(2);
                rows[0] = slip_row(m, V3::Zero(), V3::Zero(), axis, m.w.cross(axis));
              },
          .holonomic_rows = 0};
}

}  // namespace linkwork
