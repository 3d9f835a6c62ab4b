#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/model/index.h"
#include "linkwork/model/joints/joint_kind.h"
#include "linkwork/model/made_once.h"
#include "linkwork/model/sensors/sensor_kind.h"
#include "linkwork/model/spec.h"
#include "linkwork/model/tree.h"

namespace linkwork {

struct ForceKind;
class ConstraintLayout;

/// A frame fixed to a node of the tree.
struct NodeFrame {
  int node = 0;
  Pose<double> X_NF;
  int body = 0;  // of those that make up the node, the one it belongs to: in Model::bodies
};

struct Body {
  std::string name;
  int node = 0;
  Pose<double> X_NB;
  double mass = 0.0;
  std::optional<SolidSpec> solid;
  RigidInertia inertia = {};  // about its node, in the node's axes
  int carrier = -1;           // the joint of the tree that it hangs on; -1: the ground
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
  std::vector<double> start;           // position as given, or the default
  std::vector<double> start_velocity;  // likewise
  bool fixed = false;                  // assembly keeps its position,
  bool velocity_given = false;         // and, if this is so too, its velocity
  bool position_given = false;
  double damping = 0.0, stiffness = 0.0, rest = 0.0, friction = 0.0, armature = 0.0;
  std::optional<std::array<double, 2>> limits;
  bool stops_at_limits = false;
  Place place;

  bool in_state() const { return static_cast<int>(v.size()) == kind->nv(); }
};

/// One scalar coordinate of a joint.
struct Coordinate {
  JointIndex joint;
  int component = 0;
};

/// What a slot of an expression stands for. Multipliers and errors of rows only in events.
struct Variable {
  enum class Kind {
    kTime,
    kPosition,
    kVelocity,
    kParameter,
    kMultiplier,
    kError,
    kErrorRate,
    kSensor,
    kSensorRate,
    kInput,
    kState,
    kBlockOutput,
    kBlockRate,  // of its states
    kSpan,       // distance of a spring's ends, in its own law
    kSpanRate
  };
  Kind kind = Kind::kTime;
  Coordinate coordinate = {};  // kPosition, kVelocity
  int index = 0;               // of the parameter, row, sensor, input, state, block or spring
  int component = 0;           // of the sensor or block

  bool is_coordinate() const { return kind == Kind::kPosition || kind == Kind::kVelocity; }
};

struct BoundExpression {
  Expression expression;
  std::vector<Variable> slots;
  int first_switch =
      -1;  // of its functions that switch, among those of the model; -1: it has none, or does not act on the motion
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
  int left_out = 0;       // of the kind's first rows
  JointIndex joint;       // the cut joint it stands for, if any
  bool internal = false;  // a joint that is cut only by the choice of coordinates: not part of the output

  void evaluate(const RelativeMotion& m, std::span<Row> rows) const {
    if (kind)
      kind->evaluate(m, geometry, rows);
    else
      joint_kind->closure(m, geometry.pitch, rows);
    if (left_out > 0) std::copy(rows.begin() + left_out, rows.begin() + left_out + row_count, rows.begin());
  }
};

/// phi(q, t) = 0 on joint coordinates: gear, drive, expression. Or, at velocity level, f(q, v, t) = 0, linear in v. One row.
struct CoordinateClosure {
  std::string name;
  BoundExpression phi;
  int row = 0;
  bool holonomic = true;

  /// Whether the row acts on the coordinate of a slot.
  bool acts_on(const Variable& slot) const {
    return slot.kind == (holonomic ? Variable::Kind::kPosition : Variable::Kind::kVelocity);
  }
};

struct ConstraintRow {
  std::string name;  // "closure.row"
  std::string closure;
  Place place;
  ComplianceSpec compliance = {};
  bool internal = false;  // of an internal closure
  bool holonomic = true;  // else it stands at velocity level: A v = u without a phi
  bool active = true;     // at the start
  bool switched = false;  // it comes and goes

  /// Whether it holds at position level, and always: only such rows can be embedded.
  bool is_permanent() const { return holonomic && !switched; }
};

/// A closure whose first row holds one way only: side * phi >= 0 while open, side * lambda >= 0 while closed.
struct Contact {
  std::string name;  // of the closure
  int row = 0;
  double side = 1.0;
  double restitution = 0.0;
  bool poisson = false;  // the law of impact, else Newton's
  int along = 0;         // rows after it that hold while it does
};

/// Dry friction on one or two rows at velocity level. Sticking, they are constraints; sliding, a force law.
struct DryFriction {
  std::string name;  // of the closure
  int first_row = 0;
  int rows = 1;
  int normal_row = -1;     // whose multiplier is the load, -1: `load`
  bool one_sided = false;  // the normal row is a contact's
  double side = 1.0;       // of that contact
  BoundExpression load;
  double sticking = 0.0, kinetic = 0.0, stribeck = 0.0, viscous = 0.0;

  /// Per unit of load.
  double sliding_force(double speed) const {
    const double share = stribeck > 0.0 ? std::exp(-(speed / stribeck) * (speed / stribeck)) : 0.0;
    return kinetic + (sticking - kinetic) * share;
  }
};

/// A [[force]], which its elements below refer to.
struct Force {
  std::string name;
  const ForceKind* kind = nullptr;
  bool active = true;                                                // at the start
  std::string label;                                                 // in names of columns: its name, or one that was made for it
  std::size_t joint_force = 0, spring = 0, wrench = 0, bushing = 0;  // its first element of each sort, if it has any
};

/// What forces are made of, beside the joints' own stiffness, damping and friction.
struct JointForce {
  Coordinate coordinate;
  BoundExpression value;
  int of = 0;  // in Model::forces
};
struct Spring {
  NodeFrame a;
  NodeFrame b;
  double stiffness = 0.0, damping = 0.0, length = 0.0;
  BoundExpression law = {};  // in place of them, if it is given
  int of = 0;
};
struct BodyWrench {
  NodeFrame at;
  std::array<BoundExpression, 3> torque;
  std::array<BoundExpression, 3> force;
  bool in_body_axes = false;
  int of = 0;
};

/// Springs and dampers in all six directions between two frames: along x, y, z of a; the two components of the smallest rotation
/// that carries a's z to b's; the angle about z. Both frames are turned so that z is the axis it may turn about freely.
struct Bushing {
  NodeFrame a;
  NodeFrame b;
  std::array<double, 6> stiffness{}, damping{};
  int of = 0;

  /// The six quantities with their derivatives.
  static std::array<Row, 6> rows(const RelativeMotion& m) {
    std::array<Row, 6> rows;
    for (int k = 0; k < 3; ++k) rows[static_cast<std::size_t>(k)] = translation_row(m, Vec3<double>::Unit(k));
    swing_rows(m, rows[3], rows[4]);
    rows[5] = twist_row(m);
    return rows;
  }
};

/// What an event does, bound to the model.
struct Action {
  enum class Target { kRows, kForce, kParameter, kBounce, kKick, kStop };
  Target target = Target::kStop;
  std::string text;          // as the user would say it: "on 'latch'"
  bool on = false;           // kRows, kForce
  int first = 0, count = 0;  // rows; first is also the index of a force or parameter
  Coordinate coordinate;     // kKick
  BoundExpression value;     // kParameter, kBounce, kKick
};

struct Event {
  std::string name;
  BoundExpression when;
  int direction = 0;  // 1 rising, -1 falling, 0 both
  std::vector<Action> actions;
  Place place;
};

struct Parameter {
  std::string name;
  double start = 0.0;
};

struct Sensor {
  std::string name;
  const SensorKind* kind = nullptr;
  NodeFrame frame, b;
  BoundExpression value;
  std::map<std::string, double> numbers;
};

/// A number from outside. Its current value, if one was set, belongs to a System.
struct Input {
  std::string name;
  BoundExpression value;                        // of t, until it is set
  std::shared_ptr<const Curve> data = nullptr;  // or in its place: it then cannot be set
  bool is_copy = false;                         // not in the output
};

/// A continuous state of the user's own; its value is in State::z, those of the model first.
struct UserState {
  std::string name;
  double start = 0.0;
  BoundExpression rate;
  bool is_copy = false;  // not in the output
};

/// What a program of its own computes. Its states are among the user's.
struct Block {
  std::string name;
  std::shared_ptr<const SignalBlock> block;
  std::vector<BoundExpression> inputs;
  int first_state = 0;
};

/// The mechanism, indexed and ready for the recursions. Immutable once built: shared freely between threads.
struct Model {
  std::string name;
  std::string file;  // where it comes from, for messages
  std::string source_text;
  Settings settings;
  std::shared_ptr<const Kinds> kinds;
  Tree tree;
  std::vector<Body> bodies;  // bodies[0] is the ground
  std::vector<Joint> joints;
  std::vector<FrameClosure> frame_closures;
  std::vector<CoordinateClosure> coordinate_closures;
  std::vector<ConstraintRow> rows;
  std::vector<Force> forces;
  std::vector<JointForce> joint_forces;
  std::vector<Spring> springs;
  std::vector<BodyWrench> wrenches;
  std::vector<Bushing> bushings;
  std::vector<CustomForce> custom_forces;
  std::vector<Sensor> sensors;
  std::vector<Input> inputs;
  std::vector<UserState> states;
  std::vector<Block> blocks;
  std::vector<Contact> contacts;
  std::vector<DryFriction> frictions;
  std::vector<Event> events;
  std::vector<Parameter> parameters;  // that events change
  std::vector<double> start_q;        // as the user gave it, before assembly
  std::vector<double> start_v;
  std::vector<std::string> notes;     // those of the Spec, and what was chosen for the user: cut joints
  std::vector<std::string> warnings;  // those of the Spec
  int switch_count = 0;               // functions that switch in expressions that act on the motion

  // Made, copied and destroyed in one source: compiled in each that uses it, they cost seconds of it.
  Model();
  Model(const Model&);
  Model(Model&&) noexcept;
  Model& operator=(const Model&);
  Model& operator=(Model&&) noexcept;
  ~Model();

  /// What is large and what is small: the size of the mechanism and what follows from it, so that nothing is decided in metres.
  struct Units {
    double length = 1.0;     // the longest distance within a body
    double rate = 0.0;       // of a pendulum of that length, 1/s; 0 without gravity
    VecX<double> velocity;   // by velocity coordinate: the length where it slides, 1 where it turns
    VecX<double> row;        // by constraint row: the length if phi is one, 1 if it is an angle, or what a relation changes by
    VecX<double> tolerance;  // by row: what the constraint tolerance is relative to; 1 where the user gave it in m
  };
  Units units;
  /// What is known of the constraints beforehand: layout_of() (dynamics/constraint_layout.h).
  MadeOnce<ConstraintLayout> layout;
  /// The largest constraint error, phi or A v - u, in units of the tolerance's.
  double largest_error(const VecX<double>& errors) const {
    return errors.size() == 0 ? 0.0 : errors.cwiseAbs().cwiseQuotient(units.tolerance).maxCoeff();
  }
  /// How fast it moves, 1/s: the fastest coordinate in its unit, or that of a pendulum.
  double speed(const VecX<double>& v) const {
    return std::max(units.rate, v.size() == 0 ? 0.0 : v.cwiseAbs().cwiseQuotient(units.velocity).maxCoeff());
  }

  int row_count() const { return static_cast<int>(rows.size()); }
  /// Whether a body is one with the node that carries it, by a weld of the tree.
  bool is_welded(const Body& body) const {
    return body.carrier >= 0 && joints[static_cast<std::size_t>(body.carrier)].kind->elements.empty();
  }
  /// The input of a name; throws InputError if there is none.
  int input_index(const std::string& input) const;
  /// Whether anything can happen between steps.
  bool has_events() const { return !events.empty() || !contacts.empty() || !frictions.empty(); }
  /// The joint whose coordinate is the given velocity index, as "joint" or "joint.component", for messages.
  std::string velocity_name(int v) const;
  /// The joint a node belongs to, for messages.
  std::string node_name(int node) const;
};

/// Calls visit(expression, who) for every expression that acts on the motion, `who` in words: "the torque on 'crank'".
template <class SomeModel, class Visit>
void for_each_law(SomeModel& model, Visit&& visit) {
  for (auto& force : model.joint_forces)
    visit(force.value, "the force on joint '" + model.joints[force.coordinate.joint()].name + "'");
  for (auto& spring : model.springs) visit(spring.law, "the law of the spring on '" + model.node_name(spring.b.node) + "'");
  for (auto& state : model.states) visit(state.rate, "the rate of state '" + state.name + "'");
  for (auto& block : model.blocks)
    for (auto& input : block.inputs) visit(input, "an input of FMU '" + block.name + "'");
  for (auto& wrench : model.wrenches)
    for (std::size_t k = 0; k < 3; ++k) {
      visit(wrench.torque[k], "the torque on the body of '" + model.node_name(wrench.at.node) + "'");
      visit(wrench.force[k], "the force on the body of '" + model.node_name(wrench.at.node) + "'");
    }
  for (auto& closure : model.coordinate_closures) visit(closure.phi, "closure '" + closure.name + "'");
  for (auto& friction : model.frictions) visit(friction.load, "the load of '" + friction.name + "'");
}

/// Column-style name of a coordinate: "theta", "slide.angle".
std::string coordinate_name(const Joint& joint, const std::string& component);

Model build_model(const Spec& spec);

/// Which rows of a closure a displacement changes somewhere: lengths, where the others are angles. `length`: the model's unit.
std::array<bool, kMaxRows> rows_that_are_lengths(const FrameClosure& closure, double length);

/// Finds Model::units; the last thing to be done when a model is made.
void measure(Model& model);

}  // namespace linkwork
