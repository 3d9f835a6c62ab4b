#pragma once

#include <algorithm>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/relative_motion.h"
#include "linkwork/model/tree.h"

namespace linkwork {

/// One elementary joint of a kind, in the joint's own frame.
struct ElementaryJoint {
  NodeKind kind;
  Vec3<double> axis;  // what the node's z is
  int component;      // the first of the joint's coordinates it carries
};

/// Everything that makes a joint type: how it is built into the tree, which rows it has when it closes a loop, and how its
/// coordinates are read off the relative motion of its two frames when it is cut. The joint's frames are rotated so that its
/// axis is z (universal: its axes are x and y).
struct JointKind {
  std::string_view name;
  std::string_view summary;
  bool has_axis;
  std::vector<std::string> positions;  // component names; "" for the only one
  std::vector<std::string> velocities;
  std::vector<ElementaryJoint> elements;  // from parent to child
  std::vector<std::string> rows;          // names of the closure's rows
  void (*closure)(const RelativeMotion&, double pitch, std::span<Row>);
  /// A row per velocity component; its value is the position component unless the joint has a quaternion.
  void (*coordinates)(const RelativeMotion&, std::span<Row>);

  int nq() const { return static_cast<int>(positions.size()); }
  int nv() const { return static_cast<int>(velocities.size()); }
  bool has_quaternion() const { return nq() != nv(); }
  /// Whether a velocity component is that of a length.
  bool is_length(int component) const {
    const std::string& of = velocities[static_cast<std::size_t>(std::min(component, nv() - 1))];
    return name == "prismatic" || of == "x" || of == "y" || of == "z";
  }
  /// Whether a position component comes back after a full turn.
  bool is_angle(std::size_t component) const {
    return positions[component] == "angle" || name == "revolute" || name == "screw" || name == "universal";
  }
};

/// The position components (quaternions included) of a joint between two frames.
void joint_positions(const JointKind& kind, const RelativeMotion& m, std::span<double> q);

std::span<const JointKind> joint_kinds();
/// Null if there is none of that name.
const JointKind* find_joint_kind(std::string_view name);

// One per file.
JointKind revolute_joint();
JointKind prismatic_joint();
JointKind screw_joint();
JointKind cylindrical_joint();
JointKind universal_joint();
JointKind spherical_joint();
JointKind planar_joint();
JointKind translational_joint();
JointKind free_joint();
JointKind weld_joint();

}  // namespace linkwork
