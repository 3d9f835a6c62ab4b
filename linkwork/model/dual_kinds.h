#pragma once

#include <span>
#include <string_view>

#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/model/dual_motion.h"
#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {

struct FrameClosure;

/// The rows of joints and closures with their derivatives: made of the same function as those of the kind.
struct DualJoint {
  std::string_view name;
  void (*closure)(const DualMotion&, double pitch, std::span<DualRow>);
  void (*coordinates)(const DualMotion&, std::span<DualRow>);
};
struct DualClosure {
  std::string_view name;
  void (*evaluate)(const DualMotion&, const ClosureGeometry&, std::span<DualRow>);
};

/// As FrameClosure::evaluate().
void evaluate(const FrameClosure& closure, const DualMotion& m, std::span<DualRow> rows);
/// As JointKind::coordinates.
void evaluate_coordinates(const JointKind& kind, const DualMotion& m, std::span<DualRow> rows);

// Beside the kinds, one per file.
DualJoint revolute_dual();
DualJoint prismatic_dual();
DualJoint screw_dual();
DualJoint cylindrical_dual();
DualJoint universal_dual();
DualJoint spherical_dual();
DualJoint planar_dual();
DualJoint translational_dual();
DualJoint free_dual();
DualJoint weld_dual();
DualClosure pin_dual();
DualClosure point_dual();
DualClosure distance_dual();
DualClosure point_on_line_dual();
DualClosure point_on_plane_dual();
DualClosure point_contact_dual();
DualClosure rolling_dual();
DualClosure rolling_ball_dual();
DualClosure rolling_discs_dual();
DualClosure knife_edge_dual();

}  // namespace linkwork
