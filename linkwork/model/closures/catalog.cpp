#include <algorithm>
#include <array>

#include "linkwork/model/closures/frame_closure.h"

namespace linkwork {

std::span<const FrameClosureKind> frame_closure_kinds() {
  static const std::array kinds{
      pin_closure(),           point_closure(),   distance_closure(),     point_on_line_closure(), point_on_plane_closure(),
      point_contact_closure(), rolling_closure(), rolling_ball_closure(), rolling_discs_closure(), knife_edge_closure()};
  return kinds;
}

const FrameClosureKind* find_frame_closure_kind(std::string_view name) {
  const auto kinds = frame_closure_kinds();
  const auto found = std::ranges::find(kinds, name, &FrameClosureKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace linkwork
