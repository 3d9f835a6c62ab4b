#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/relative_motion.h"

namespace linkwork {

struct ClosureGeometry {
  double pitch = 0.0;   // screw, m per rad
  double length = 0.0;  // distance
};

/// A constraint between two frames: rows of their relative motion. The closure's axis is z in both frames.
struct FrameClosureKind {
  std::string_view name;
  std::string_view summary;
  bool has_axis;
  std::vector<std::string> rows;
  void (*evaluate)(const RelativeMotion&, const ClosureGeometry&, std::span<Row>);
};

inline constexpr int kMaxRows = 6;

/// Null if there is none of that name among the kinds below. Joint types used as closures come from model/joints.
const FrameClosureKind* find_frame_closure_kind(std::string_view name);
std::span<const FrameClosureKind> frame_closure_kinds();

// One per file.
FrameClosureKind pin_closure();
FrameClosureKind point_closure();
FrameClosureKind distance_closure();
FrameClosureKind point_on_line_closure();
FrameClosureKind point_on_plane_closure();

}  // namespace linkwork
