#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/keys.h"
#include "linkwork/model/relative_motion.h"

namespace linkwork {

inline constexpr int kMaxRows = 6;

struct ClosureGeometry {
  double pitch = 0.0;   // screw, m per rad
  double length = 0.0;  // distance
  double radius = 0.0;  // of what rolls, b
  double gap = 0.0;     // rolling-discs: distance of the centres
  bool inside = false;  // rolling-discs: b inside a
};

/// A constraint between two frames: rows of their relative motion. The closure's axis is z in both frames; of a plane and what
/// rolls on it, z is the normal in a and the axis in b.
struct FrameClosureKind {
  std::string_view name;
  std::string_view summary;
  bool has_axis;
  std::vector<std::string> rows;
  void (*evaluate)(const RelativeMotion&, const ClosureGeometry&, std::span<Row>);
  int holonomic_rows = kMaxRows;                // as many of the first rows; the others stand at velocity level
  bool on_plane = false;                        // a has a normal instead of the axis
  std::vector<KindKey<ClosureSpec>> keys = {};  // beside frames and axes
  /// Throws InputError if what the keys say does not go together.
  void (*check)(const ClosureSpec&, const KeyPlaces&) = nullptr;
  bool one_row_opens = false;  // its only row may be one-sided

  bool is_holonomic() const { return static_cast<int>(rows.size()) <= holonomic_rows; }
  bool can_open() const { return one_row_opens || has_contact_row(); }
  bool has_contact_row() const { return holonomic_rows == 1 && rows.size() > 1; }
};

/// Null if there is none of that name among the kinds below. Joint types used as closures come from model/joints.
const FrameClosureKind* find_frame_closure_kind(std::string_view name);
std::span<const FrameClosureKind> frame_closure_kinds();

// One per file.
FrameClosureKind pin_closure();
FrameClosureKind point_closure();
FrameClosureKind distance_closure();
FrameClosureKind point_on_line_closure();
FrameClosureKind point_on_plane_closure();
FrameClosureKind rolling_closure();
FrameClosureKind rolling_ball_closure();
FrameClosureKind rolling_discs_closure();
FrameClosureKind knife_edge_closure();
FrameClosureKind point_contact_closure();

}  // namespace linkwork
