#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

using V3 = Vec3<double>;

FrameClosureKind point_contact_closure() {
  return {.name = "point-contact",
          .summary = "b's point lies on the plane a and does not slide on it, unless its friction lets it",
          .has_axis = false,
          .rows = {"normal", "x", "y"},
          .evaluate =
              [](const RelativeMotion& m, const ClosureGeometry&, std::span<Row> rows) {
                const V3 zero = V3::Zero();
                rows[0] = translation_row(m, V3::UnitZ());
                rows[1] = slip_row(m, zero, zero, V3::UnitX(), zero);
                rows[2] = slip_row(m, zero, zero, V3::UnitY(), zero);
              },
          .holonomic_rows = 1,
          .on_plane = true};
}

}  // namespace linkwork
