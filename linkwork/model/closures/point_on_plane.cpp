#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

constexpr static auto kPointOnPlaneRows = [](const auto& m, const ClosureGeometry&, auto r) { r[0] = translation_row(m, V3::UnitZ()); };

FrameClosureKind point_on_plane_closure() {
  return {.name = "point-on-plane",
          .summary = "b's point stays in the plane through a's point across the axis",
          .has_axis = true,
          .rows = {"z"},
          .evaluate = kPointOnPlaneRows,
          .one_row_opens = true};
}

DualClosure point_on_plane_dual() { return {"point-on-plane", kPointOnPlaneRows}; }

}  // namespace linkwork
