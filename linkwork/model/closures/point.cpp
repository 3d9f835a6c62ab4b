#include "linkwork/model/dual_kinds.h"

namespace linkwork {

using V3 = Vec3<double>;

constexpr static auto kPointRows = [](const auto& m, const ClosureGeometry&, auto r) {
  for (int i = 0; i < 3; ++i) r[static_cast<std::size_t>(i)] = translation_row(m, V3::Unit(i));
};

FrameClosureKind point_closure() { return {"point", "the points coincide", false, {"x", "y", "z"}, kPointRows}; }

DualClosure point_dual() { return {"point", kPointRows}; }

}  // namespace linkwork
