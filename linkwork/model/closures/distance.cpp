#include "linkwork/model/dual_kinds.h"

namespace linkwork {

constexpr static auto kDistanceRows = [](const auto& m, const ClosureGeometry& geometry, auto r) {
  r[0] = distance_row(m);
  r[0].value -= geometry.length;
};

FrameClosureKind distance_closure() {
  return {
      .name = "distance",
      .summary = "the points keep their distance, like a massless rod with ball ends",
      .has_axis = false,
      .rows = {"d"},
      .evaluate = kDistanceRows,
      .keys = {{"length", KeyKind::kPositive, kRequired, "distance between the origins of the frames, m", &ClosureSpec::length}},
      .one_row_opens = true};
}

DualClosure distance_dual() { return {"distance", kDistanceRows}; }

}  // namespace linkwork
