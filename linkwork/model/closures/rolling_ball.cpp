#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

using V3 = Vec3<double>;

FrameClosureKind rolling_ball_closure() {
  return {.name = "rolling-ball",
          .summary = "a ball b rolls without slip on the plane a",
          .has_axis = false,
          .rows = {"normal", "x", "y"},
          .evaluate =
              [](const RelativeMotion& m, const ClosureGeometry& geometry, std::span<Row> rows) {
                const V3 r(0.0, 0.0, -geometry.radius), zero = V3::Zero();
                rows[0] = translation_row(m, V3::UnitZ());
                rows[0].value -= geometry.radius;
                rows[1] = slip_row(m, r, zero, V3::UnitX(), zero);
                rows[2] = slip_row(m, r, zero, V3::UnitY(), zero);
              },
          .holonomic_rows = 1,
          .on_plane = true,
          .keys = {{"radius", KeyKind::kPositive, kRequired, "radius of the wheel, ball or disc b, m", &ClosureSpec::radius}}};
}

}  // namespace linkwork
