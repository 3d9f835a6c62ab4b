#include "linkwork/model/dual_kinds.h"

#include <algorithm>
#include <array>

#include "linkwork/model/model.h"

namespace linkwork {

namespace {

template <class Kinds>
const auto& named(const Kinds& kinds, std::string_view name) {
  return *std::ranges::find(kinds, name, [](const auto& kind) { return kind.name; });
}

const DualJoint& dual_of(const JointKind& kind) {
  static const std::array kinds{revolute_dual(),  prismatic_dual(), screw_dual(),         cylindrical_dual(), universal_dual(),
                                spherical_dual(), planar_dual(),    translational_dual(), free_dual(),        weld_dual()};
  return named(kinds, kind.name);
}

const DualClosure& dual_of(const FrameClosureKind& kind) {
  static const std::array kinds{
      pin_dual(),           point_dual(),   distance_dual(),     point_on_line_dual(), point_on_plane_dual(),
      point_contact_dual(), rolling_dual(), rolling_ball_dual(), rolling_discs_dual(), knife_edge_dual()};
  return named(kinds, kind.name);
}

}  // namespace

void evaluate(const FrameClosure& closure, const DualMotion& m, std::span<DualRow> rows) {
  if (closure.kind)
    dual_of(*closure.kind).evaluate(m, closure.geometry, rows);
  else
    dual_of(*closure.joint_kind).closure(m, closure.geometry.pitch, rows);
  const auto first = rows.begin() + closure.left_out;
  if (closure.left_out > 0) std::copy(first, first + closure.row_count, rows.begin());
}

void evaluate_coordinates(const JointKind& kind, const DualMotion& m, std::span<DualRow> rows) {
  dual_of(kind).coordinates(m, rows);
}

}  // namespace linkwork
