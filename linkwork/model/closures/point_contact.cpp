#include "linkwork/model/dual_kinds.h"

namespace linkwork {

constexpr static auto kPointContactRows = [](const auto& m, const ClosureGeometry&, auto rows) {
  using V3 = Vec3<ScalarOf<std::decay_t<decltype(m)>>>;
  const V3 zero = V3::Zero();
  rows[0] = translation_row(m, Vec3<double>::UnitZ());
  rows[1] = slip_row(m, zero, zero, V3::UnitX(), zero);
  rows[2] = slip_row(m, zero, zero, V3::UnitY(), zero);
};

FrameClosureKind point_contact_closure() {
  return {.name = "point-contact",
          .summary = "b's point lies on the plane a and does not slide on it, unless its friction lets it",
          .has_axis = false,
          .rows = {"normal", "x", "y"},
          .evaluate = kPointContactRows,
          .holonomic_rows = 1,
          .on_plane = true};
}

DualClosure point_contact_dual() { return {"point-contact", kPointContactRows}; }

}  // namespace linkwork
