#include <algorithm>

#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

/// Two discs in one plane, across z. With n from a's centre to b's, they touch at r = -radius n from b's centre, or at
/// r = radius n if b rolls inside a, and roll along z x n.
void disc_on_disc(const RelativeMotion& m, const ClosureGeometry& geometry, std::span<Row> rows) {
  const double distance = std::max(m.p.norm(), 1e-12);
  const V3 n = m.p / distance, ndot = (m.pdot - n * n.dot(m.pdot)) / distance;
  const double reach = geometry.inside ? geometry.radius : -geometry.radius;
  const V3 z = V3::UnitZ();
  rows[0] = distance_row(m);
  rows[0].value -= geometry.gap;
  rows[1] = slip_row(m, reach * n, reach * ndot, z.cross(n), z.cross(ndot));
}

}  // namespace

FrameClosureKind rolling_discs_closure() {
  return {.name = "rolling-discs",
          .summary = "a disc b rolls without slip on the disc a, on its outside or inside, in one plane across the axis",
          .has_axis = true,
          .rows = {"normal", "slip"},
          .evaluate = disc_on_disc,
          .holonomic_rows = 1};
}

}  // namespace linkwork
