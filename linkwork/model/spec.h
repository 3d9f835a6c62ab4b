#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/model/custom_force.h"
#include "linkwork/model/expression.h"
#include "linkwork/model/input_error.h"

namespace linkwork {

struct Kinds;
/// Those that come with the library.
const std::shared_ptr<const Kinds>& standard_kinds();

/// The mechanism as the user wrote it: names, numbers with parameters already put in, expressions of time and state, and the
/// place of everything for messages. build_model() turns it into a Model.
struct FrameSpec {
  std::string body = "ground";
  Eigen::Vector3d at = Eigen::Vector3d::Zero();
  Eigen::Quaterniond rotation = Eigen::Quaterniond::Identity();
  Place place;
};

/// A simple shape: gives mass properties, and the drawing.
struct SolidSpec {
  std::string shape;                               // rod, cylinder, box, sphere, point
  Eigen::Vector3d from = Eigen::Vector3d::Zero();  // rod, cylinder; center of box and sphere; place of point
  Eigen::Vector3d to = Eigen::Vector3d::Zero();    // rod, cylinder
  Eigen::Vector3d size = Eigen::Vector3d::Zero();  // box
  double radius = 0.0;                             // cylinder, sphere
};

/// A shape that is drawn and has no part in the motion.
struct VisualSpec {
  std::string shape;                               // box, cylinder and capsule (along z), sphere, ellipsoid; or mesh
  FrameSpec frame;                                 // of its centre
  Eigen::Vector3d size = Eigen::Vector3d::Zero();  // box: edges; ellipsoid: half axes; mesh: scale
  double radius = 0.0, length = 0.0;               // cylinder, capsule (without its caps), sphere
  std::optional<std::array<double, 4>> color;      // red, green, blue, opacity; none: the mesh's own, or grey
  std::string file;                                // mesh: where it is, folders and all
};

struct BodySpec {
  std::string name;
  double mass = 0.0;
  Eigen::Vector3d com = Eigen::Vector3d::Zero();
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();  // about the center of mass, body axes
  bool any_inertia = false;                           // it may violate the triangle inequality, as rounded data do
  std::optional<SolidSpec> solid;
  Place place;
  int module = -1;  // in Spec::modules: the innermost that it is part of; -1: the model itself
};

/// What the formulation "compliance" puts in place of a closure: springs and dampers. What is not given is left to its options.
struct ComplianceSpec {
  std::optional<double> stiffness;
  std::optional<double> damping;
};

/// Dry friction. In a joint the numbers are forces or torques; in a contact they are coefficients, to be multiplied by the load.
struct FrictionSpec {
  double sticking = 0.0;  // what holds at rest at most
  double kinetic = 0.0;   // what opposes sliding
  double stribeck = 0.0;  // speed over which the one turns into the other; 0: at once
  double viscous = 0.0;   // per speed
  /// Of a contact: the force that presses it together; without it the contact's own normal force.
  std::optional<Expression> load;
};

/// A joint of the mechanism, or (see ClosureSpec) the same geometry used as a loop closure.
struct JointSpec {
  std::string name;
  std::string type;
  FrameSpec parent;
  FrameSpec child;
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();
  std::optional<Eigen::Vector3d> axis2;  // universal: the second axis
  double pitch = 0.0;                    // screw: advance per full turn, m
  std::vector<double> position;          // empty: not given
  std::vector<double> velocity;
  bool fixed = false;
  bool cut = false;
  double damping = 0.0;
  double stiffness = 0.0;
  double rest = 0.0;
  double friction = 0.0;  // Coulomb force or torque
  double armature = 0.0;  // inertia of a rotor that turns with the coordinate and with nothing else
  std::optional<FrictionSpec> dry_friction;
  std::optional<std::array<double, 2>> limits;
  std::optional<double> restitution;  // makes the limits stops
  bool poisson = false;               // their law of impact, else Newton's
  ComplianceSpec compliance;          // if it is cut
  Place place;
};

/// A constraint that is not a joint of the tree. Which fields are used depends on the type.
struct ClosureSpec {
  std::string name;
  std::string type;
  FrameSpec a;
  FrameSpec b;
  Eigen::Vector3d axis = Eigen::Vector3d::UnitZ();
  std::optional<Eigen::Vector3d> axis2;
  double pitch = 0.0;
  double length = 0.0;               // distance
  std::vector<std::string> joints;   // gear: "joint" or "joint.component"; drive: exactly one
  std::vector<double> coefficients;  // gear: sum of coefficient * coordinate = offset
  double offset = 0.0;
  Expression value;  // drive: function of t; expression: function of t and q that must vanish; of v too: pfaffian; friction-drive
  Eigen::Vector3d normal = Eigen::Vector3d::UnitZ();  // rolling and contacts: of the plane, in a
  double radius = 0.0;                                // rolling: of the wheel, ball or disc b
  double radius_a = 0.0;                              // rolling-discs: of disc a
  bool inside = false;                                // rolling-discs: b rolls inside a
  bool contact = true;                                // rolling: has the row that keeps the contact closed
  bool active = true;                                 // at the start
  std::optional<double> side;                         // one-sided: 1 if its first row may not be negative, -1 not positive
  double restitution = 0.0;
  bool poisson = false;  // the law of impact, else Newton's
  std::optional<FrictionSpec> friction;
  ComplianceSpec compliance;
  std::map<std::string, double> numbers;  // keys of kinds that have no field here
  Place place;
};

/// Which fields are used depends on the type.
struct ForceSpec {
  std::string name;                                    // optional
  std::string type;                                    // of Kinds::forces
  std::string joint;                                   // torque, force: "joint" or "joint.component"
  Expression value;                                    // torque, force
  FrameSpec a;                                         // spring, damper; wrench: the body and point it acts on
  FrameSpec b;                                         // spring, damper
  double stiffness = 0.0;                              // spring
  double damping = 0.0;                                // spring, damper
  double length = 0.0;                                 // spring: free length
  Expression law;                                      // spring: in place of stiffness and damping, what pulls its ends together
  std::array<Expression, 3> force;                     // wrench
  std::array<Expression, 3> torque;                    // wrench
  bool in_body_axes = false;                           // wrench: axes = "body" instead of "world"
  std::vector<double> force_stiffness, force_damping;  // bushing: along x, y, z of its frames; none: zeros
  std::vector<double> torque_stiffness, torque_damping;  // bushing: about them
  bool active = true;                                    // at the start
  std::map<std::string, double> numbers;
  Place place;
};

struct SensorSpec {
  std::string name;
  std::string type;  // of Kinds::sensors
  FrameSpec frame;
  FrameSpec b;  // distance: the other end
  Expression value;
  std::map<std::string, double> numbers;
  Place place;
};

/// A number that comes from outside: recorded data, or `value` until something sets it.
struct InputSpec {
  std::string name;
  Expression value;                             // of t
  std::shared_ptr<const Curve> data = nullptr;  // of t
  bool is_copy = false;                         // of a module's: the output has it from another
  Place place;
};

/// A continuous state of the user's own.
struct StateSpec {
  std::string name;
  double start = 0.0;
  Expression rate;
  Place place;
  bool is_copy = false;  // of a module's: the output has it from another
};

class SignalBlock;

/// A block that a program of its own computes: an FMU.
struct BlockSpec {
  std::string name;
  std::shared_ptr<const SignalBlock> block;
  std::vector<Expression> inputs;  // as the block lists them
  Place place;
};

/// One thing an event does.
struct ActionSpec {
  enum class Kind { kOn, kOff, kSet, kBounce, kKick, kStop } kind = Kind::kStop;
  std::string name;  // of a closure or force; kSet: a parameter; kBounce: a closure; kKick: a joint coordinate
  Expression value;  // kSet: the new value; kBounce: restitution; kKick: the impulse
  Place place;
};

/// What happens when an expression crosses zero.
struct EventSpec {
  std::string name;
  Expression when;
  int direction = 0;  // 1 rising, -1 falling, 0 both
  std::vector<ActionSpec> actions;
  Place place;
};

/// A parameter that events change: expressions refer to it as the variable "@name".
struct ParameterSpec {
  std::string name;
  double value = 0.0;
};

struct PortSpec {
  std::string name;
  FrameSpec frame;
};

/// A module that was read in. Its bodies tell that they are part of it (BodySpec::module).
struct ModuleSpec {
  std::string name;  // in full: "pair1.left"
  int parent = -1;   // in Spec::modules; -1: the model itself
  Place place;
};

/// A choice from a catalog with its options: "baumgarte:alpha=5,beta=5".
struct Choice {
  std::string name;
  std::map<std::string, double> options;
  Place place;
};

Choice parse_choice(std::string_view text, const Place& place);

struct Settings {
  Eigen::Vector3d gravity{0.0, -9.81, 0.0};
  double end = 10.0;
  double step = 1e-3;
  double rtol = 1e-6;
  double atol = 1e-9;
  double output_every = 0.01;
  double max_step = std::numeric_limits<double>::infinity();  // of integrators that choose their steps
  double constraint_tolerance = 1e-10;
  bool tolerance_in_metres = false;  // the user gave it: for lengths it then is in m, else relative to the mechanism's size
  double design_tolerance = 0.0;     // m: how far frames may be moved to make redundant constraints agree
  Choice coordinates{"auto", {}, {}};
  Choice formulation{"auto", {}, {}};
  Choice stabilization{"projection", {}, {}};
  Choice integrator{"rk4", {}, {}};
  Choice glue{"auto", {}, {}};
  std::vector<std::string> columns;  // of the output: groups, names, patterns; empty: all
  Place columns_place;
};

struct Spec {
  std::string name;
  std::string source_text;  // the file as read, for the report
  Place place;
  Settings settings;
  std::shared_ptr<const Kinds> kinds = standard_kinds();  // of closures, forces and sensors
  std::vector<BodySpec> bodies;
  std::vector<JointSpec> joints;
  std::vector<ClosureSpec> closures;
  std::vector<ForceSpec> forces;
  std::vector<CustomForce> custom_forces;  // of a program, not of a file
  std::vector<SensorSpec> sensors;
  std::vector<InputSpec> inputs;
  std::vector<StateSpec> states;
  std::vector<BlockSpec> blocks;
  std::vector<EventSpec> events;
  std::vector<ParameterSpec> changing;  // parameters that events set
  std::vector<PortSpec> ports;
  std::vector<ModuleSpec> modules;  // each after the one it is part of
  std::vector<VisualSpec> visuals;
  std::vector<std::string> notes;     // what was left out or chosen while reading
  std::vector<std::string> warnings;  // what is doubtful about it

  // Made, copied and destroyed in one source: compiled in each that uses it, they cost seconds of it.
  Spec();
  Spec(const Spec&);
  Spec(Spec&&) noexcept;
  Spec& operator=(const Spec&);
  Spec& operator=(Spec&&) noexcept;
  ~Spec();
};

}  // namespace linkwork
