#include "linkwork/model/dual_kinds.h"

namespace linkwork {

constexpr static auto kRollingBallRows = [](const auto& m, const ClosureGeometry& geometry, auto rows) {
  using V3 = Vec3<ScalarOf<std::decay_t<decltype(m)>>>;
  const V3 r = V3(-geometry.radius * V3::UnitZ()), zero = V3::Zero();
  rows[0] = translation_row(m, Vec3<double>::UnitZ());
  rows[0].value -= geometry.radius;
  rows[1] = slip_row(m, r, zero, V3::UnitX(), zero);
  rows[2] = slip_row(m, r, zero, V3::UnitY(), zero);
};

FrameClosureKind rolling_ball_closure() {
  return {.name = "rolling-ball",
          .summary = "a ball b rolls without slip on the plane a",
          .has_axis = false,
          .rows = {"normal", "x", "y"},
          .evaluate = kRollingBallRows,
          .holonomic_rows = 1,
          .on_plane = true,
          .keys = {{"radius", KeyKind::kPositive, kRequired, "radius of the wheel, ball or disc b, m", &ClosureSpec::radius}}};
}

DualClosure rolling_ball_dual() { return {"rolling-ball", kRollingBallRows}; }

}  // namespace linkwork
