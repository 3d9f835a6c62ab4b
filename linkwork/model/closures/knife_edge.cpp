#include "linkwork/model/dual_kinds.h"

namespace linkwork {

constexpr static auto kKnifeEdgeRows = [](const auto& m, const ClosureGeometry&, auto rows) {
  using V3 = Vec3<ScalarOf<std::decay_t<decltype(m)>>>;
  const V3 axis = m.R.col(2);
  rows[0] = slip_row(m, V3::Zero(), V3::Zero(), axis, m.w.cross(axis));
};

FrameClosureKind knife_edge_closure() {
  return {.name = "knife-edge",
          .summary = "b's point does not move along the axis, which b carries with it: a blade on ice, a wheel without spin",
          .has_axis = true,
          .rows = {"side"},
          .evaluate = kKnifeEdgeRows,
          .holonomic_rows = 0};
}

DualClosure knife_edge_dual() { return {"knife-edge", kKnifeEdgeRows}; }

}  // namespace linkwork
