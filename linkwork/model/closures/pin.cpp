#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

constexpr static auto kPinRows = [](const auto& m, const ClosureGeometry&, auto r) {
  r[0] = translation_row(m, V3::UnitX());
  r[1] = translation_row(m, V3::UnitY());
};

FrameClosureKind pin_closure() {
  return {"pin", "the points coincide across the axis: two rows, for planar loops", true, {"x", "y"}, kPinRows};
}

DualClosure pin_dual() { return {"pin", kPinRows}; }

}  // namespace linkwork
