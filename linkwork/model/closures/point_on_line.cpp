#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

/// The rows are those of `pin`; only the meaning differs.
FrameClosureKind point_on_line_closure() {
  return {
      "point-on-line", "b's point stays on the line through a's point along the axis", true, {"x", "y"}, pin_closure().evaluate};
}

}  // namespace linkwork
