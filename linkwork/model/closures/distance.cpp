#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

FrameClosureKind distance_closure() {
  return {
      .name = "distance",
      .summary = "the points keep their distance, like a massless rod with ball ends",
      .has_axis = false,
      .rows = {"d"},
      .evaluate =
          [](const RelativeMotion& m, const ClosureGeometry& geometry, std::span<Row> r) {
            r[0] = distance_row(m);
            r[0].value -= geometry.length;
          },
      .keys = {{"length", KeyKind::kPositive, kRequired, "distance between the origins of the frames, m", &ClosureSpec::length}},
      .one_row_opens = true};
}

}  // namespace linkwork
