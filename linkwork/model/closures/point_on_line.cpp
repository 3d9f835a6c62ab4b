#include "linkwork/model/dual_kinds.h"

namespace linkwork {

/// The rows are those of `pin`; only the meaning differs.
FrameClosureKind point_on_line_closure() {
  return {
      "point-on-line", "b's point stays on the line through a's point along the axis", true, {"x", "y"}, pin_closure().evaluate};
}

DualClosure point_on_line_dual() { return {"point-on-line", pin_dual().evaluate}; }

}  // namespace linkwork
