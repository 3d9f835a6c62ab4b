#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/model/index.h"
#include "linkwork/model/joints/joint_kind.h"
#include "linkwork/model/spec.h"
#include "linkwork/model/tree.h"

namespace linkwork {

/// A frame fixed to a node of the tree.
struct NodeFrame {
  int node = 0;
  Pose<double> X_NF;
};

struct Body {
  std::string name;
  int node = 0;
  Pose<double> X_NB;
  double mass = 0.0;
  std::optional<SolidSpec> solid;
};

struct Joint {
  std::string name;
  const JointKind* kind = nullptr;
  NodeFrame parent;  // the joint's frames, rotated so that its axis is z (universal: axes x and y)
  NodeFrame child;
  double pitch = 0.0;  // m per rad
  bool cut = false;
  /// Indices of its components in State::q and State::v. Empty when the coordinates must be read off the relative motion of
  /// the two frames: cut joints, and quaternion joints that the tree runs through from child to parent.
  std::vector<int> q;
  std::vector<int> v;
  std::vector<double> start;    // position as given, or the default
  bool fixed = false;           // assembly keeps its position,
  bool velocity_given = false;  // and, if this is so too, its velocity
  double damping = 0.0, stiffness = 0.0, rest = 0.0, friction = 0.0;
  std::optional<std::array<double, 2>> limits;
  Place place;

  bool in_state() const { return static_cast<int>(v.size()) == kind->nv(); }
};

/// One scalar coordinate of a joint.
struct Coordinate {
  JointIndex joint;
  int component = 0;
};

/// What a slot of an expression stands for.
struct Variable {
  enum class Kind { kTime, kPosition, kVelocity } kind = Kind::kTime;
  Coordinate coordinate;
};

struct BoundExpression {
  Expression expression;
  std::vector<Variable> slots;
};

struct FrameClosure {
  std::string name;
  NodeFrame a;
  NodeFrame b;
  int first_row = 0;
  int row_count = 0;
  ClosureGeometry geometry;
  const FrameClosureKind* kind = nullptr;  // one of the two is set
  const JointKind* joint_kind = nullptr;
  JointIndex joint;       // the cut joint it stands for, if any
  bool internal = false;  // a joint that is cut only by the choice of coordinates: not part of the output

  void evaluate(const RelativeMotion& m, std::span<Row> rows) const {
    if (kind)
      kind->evaluate(m, geometry, rows);
    else
      joint_kind->closure(m, geometry.pitch, rows);
  }
};

/// phi(q, t) = 0 on joint coordinates: gear, drive, expression. One row.
struct CoordinateClosure {
  std::string name;
  BoundExpression phi;
  int row = 0;
};

struct ConstraintRow {
  std::string name;  // "closure.row"
  std::string closure;
  Place place;
  ComplianceSpec compliance = {};
  bool holonomic = true;  // else it stands at velocity level: A v = u without a phi
  bool internal = false;  // of an internal closure
};

/// The three kinds of applied force beside the joints' own stiffness, damping and friction.
struct JointForce {
  Coordinate coordinate;
  BoundExpression value;
};
struct Spring {
  NodeFrame a;
  NodeFrame b;
  double stiffness = 0.0, damping = 0.0, length = 0.0;
};
struct BodyWrench {
  NodeFrame at;
  std::array<BoundExpression, 3> torque;
  std::array<BoundExpression, 3> force;
  bool in_body_axes = false;
};

struct Sensor {
  std::string name;
  std::string type;
  NodeFrame frame;
  BoundExpression value;
};

/// The mechanism, indexed and ready for the recursions. Immutable once built: shared freely between threads.
struct Model {
  std::string name;
  std::string file;  // where it comes from, for messages
  std::string source_text;
  Settings settings;
  Tree tree;
  std::vector<Body> bodies;  // bodies[0] is the ground
  std::vector<Joint> joints;
  std::vector<FrameClosure> frame_closures;
  std::vector<CoordinateClosure> coordinate_closures;
  std::vector<ConstraintRow> rows;
  std::vector<JointForce> joint_forces;
  std::vector<Spring> springs;
  std::vector<BodyWrench> wrenches;
  std::vector<Sensor> sensors;
  std::vector<double> start_q;  // as the user gave it, before assembly
  std::vector<double> start_v;
  std::vector<std::string> notes;  // what was chosen for the user: cut joints

  int row_count() const { return static_cast<int>(rows.size()); }
  /// The joint whose coordinate is the given velocity index, as "joint" or "joint.component", for messages.
  std::string velocity_name(int v) const;
  /// The joint a node belongs to, for messages.
  std::string node_name(int node) const;
};

/// Column-style name of a coordinate: "theta", "slide.angle".
std::string coordinate_name(const Joint& joint, const std::string& component);

Model build_model(const Spec& spec);

}  // namespace linkwork
