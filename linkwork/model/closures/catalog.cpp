#include <array>

#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/model/kinds.h"

namespace linkwork {

std::span<const FrameClosureKind> frame_closure_kinds() {
  static const std::array kinds{
      pin_closure(),           point_closure(),   distance_closure(),     point_on_line_closure(), point_on_plane_closure(),
      point_contact_closure(), rolling_closure(), rolling_ball_closure(), rolling_discs_closure(), knife_edge_closure()};
  return kinds;
}

const FrameClosureKind* find_frame_closure_kind(std::string_view name) { return find_kind(frame_closure_kinds(), name); }

std::vector<CoordinateClosureKind> coordinate_closure_kinds() {
  return {gear_closure(),     drive_closure(),          expression_closure(),
          pfaffian_closure(), friction_drive_closure(), speed_drive_closure()};
}

}  // namespace linkwork
