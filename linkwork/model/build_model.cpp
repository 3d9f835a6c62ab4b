#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>
#include <unordered_map>

#include "linkwork/model/closures/coordinate_closure.h"
#include "linkwork/model/jet.h"
#include "linkwork/model/model.h"
#include "linkwork/model/topology.h"
#include "linkwork/spatial/so3.h"

namespace linkwork {

namespace {

using P = Pose<double>;

P frame_pose(const FrameSpec& frame) { return {frame.rotation.toRotationMatrix(), frame.at}; }

/// The rotation that brings a joint's or closure's own axes (z, or x and y) to where the user's axis vectors point.
Mat3<double> axes_rotation(bool has_axis, const Vec3<double>& axis, const std::optional<Vec3<double>>& axis2) {
  if (!has_axis) return Mat3<double>::Identity();
  if (!axis2) return rotation_from_z(axis);
  Mat3<double> R;
  R << axis, *axis2, axis.cross(*axis2);
  return R;
}

Mat3<double> about_z(double angle) { return Eigen::AngleAxisd(angle, Vec3<double>::UnitZ()).toRotationMatrix(); }

/// cos or sin of an angle that is a multiple of 90 degrees up to rounding, made exact.
double snapped(double x) {
  if (std::abs(x) < 1e-15) return 0.0;
  if (std::abs(std::abs(x) - 1.0) < 1e-15) return std::copysign(1.0, x);
  return x;
}

class Builder {
 public:
  explicit Builder(const Spec& spec) : spec_(spec), topology_(choose_topology(spec)) {}

  Model build() {
    model_.name = spec_.name;
    model_.file = spec_.place.file;
    model_.source_text = spec_.source_text;
    model_.settings = spec_.settings;
    model_.tree.gravity = spec_.settings.gravity;
    add_bodies();
    for (std::size_t j = 0; j < spec_.joints.size(); ++j) add_joint(spec_.joints[j], topology_.cut[j]);
    model_.start_q.reserve(spec_.joints.size());
    for (int body : topology_.order) hang(body);
    align_frames();
    add_inertias();
    attach_joint_frames();
    for (std::size_t j = 0; j < model_.joints.size(); ++j)
      if (model_.joints[j].cut) close_joint(JointIndex(j));
    for (const ClosureSpec& closure : spec_.closures)
      if (find_coordinate_closure_kind(closure.type) == nullptr) add_frame_closure(closure);
    for (const ParameterSpec& parameter : spec_.changing) model_.parameters.push_back({parameter.name, parameter.value});
    for (const ClosureSpec& closure : spec_.closures)
      if (const auto* const kind = find_coordinate_closure_kind(closure.type)) add_coordinate_closure(closure, *kind);
    for (const JointSpec& joint : spec_.joints) add_stops_and_friction(joint);
    for (const ClosureSpec& closure : spec_.closures) add_contact_and_friction(closure);
    for (const ForceSpec& force : spec_.forces) add_force(force);
    for (const SensorSpec& sensor : spec_.sensors) add_sensor(sensor);
    for (const EventSpec& event : spec_.events) add_event(event);
    note_cuts();
    for_each_law(model_, [&](BoundExpression& law, const std::string&) {
      if (law.expression.switch_count() == 0) return;
      law.first_switch = model_.switch_count;
      model_.switch_count += static_cast<int>(law.expression.switch_count());
    });
    measure(model_);
    return std::move(model_);
  }

 private:
  void add_bodies() {
    model_.bodies.push_back({"ground", 0, {}, 0.0, std::nullopt});
    body_of_["ground"] = 0;
    for (const BodySpec& body : spec_.bodies) {
      body_of_[body.name] = static_cast<int>(model_.bodies.size());
      model_.bodies.push_back({body.name, 0, {}, body.mass, body.solid});
    }
    raw_.push_back({});
  }

  void add_joint(const JointSpec& spec, bool cut) {
    Joint joint;
    joint.name = spec.name;
    joint.kind = find_joint_kind(spec.type);
    joint.pitch = spec.pitch / (2.0 * std::numbers::pi);
    joint.cut = cut;
    joint.fixed = spec.fixed;
    joint.velocity_given = !spec.velocity.empty();
    joint.position_given = !spec.position.empty();
    joint.damping = spec.damping;
    joint.stiffness = spec.stiffness;
    joint.rest = spec.rest;
    joint.friction = spec.friction;
    joint.limits = spec.limits;
    joint.stops_at_limits = spec.restitution.has_value();
    joint.place = spec.place;
    joint.start = spec.position;
    if (joint.start.empty()) {
      joint.start.assign(joint.kind->positions.size(), 0.0);
      if (joint.kind->has_quaternion()) joint.start[joint.start.size() - 4] = 1.0;
    }
    joint.start_velocity = spec.velocity;
    joint.start_velocity.resize(joint.kind->velocities.size(), 0.0);
    if (cut && spec.fixed)
      throw InputError(spec.place, fmt::format("joint '{}' is both cut and fixed", spec.name),
                       "fixed = true on joints of the spanning tree only: every loop needs a joint that can be cut");
    joint_of_[joint.name] = static_cast<int>(model_.joints.size());
    model_.joints.push_back(std::move(joint));
  }

  /// Adds the nodes of the tree joint that carries a body.
  void hang(int body) {
    const int j = topology_.via_joint[static_cast<std::size_t>(body)];
    const JointSpec& spec = spec_.joints[static_cast<std::size_t>(j)];
    Joint& joint = model_.joints[static_cast<std::size_t>(j)];
    const Body& parent = model_.bodies[static_cast<std::size_t>(topology_.parent_body[static_cast<std::size_t>(body)])];
    const bool backwards = body_of_.at(spec.parent.body) == body;
    const Mat3<double> axes = axes_rotation(joint.kind->has_axis, spec.axis, spec.axis2);
    const P X_PF = frame_pose(backwards ? spec.child : spec.parent) * P{axes, Vec3<double>::Zero()};
    const P X_BM = frame_pose(backwards ? spec.parent : spec.child) * P{axes, Vec3<double>::Zero()};

    std::vector<ElementaryJoint> elements = joint.kind->elements;
    if (backwards) {
      std::ranges::reverse(elements);
      for (ElementaryJoint& element : elements) element.axis = -element.axis;
    }
    const bool mirrored = backwards && joint.kind->has_quaternion();
    if (!mirrored) {
      joint.q.resize(joint.kind->positions.size());
      joint.v.resize(joint.kind->velocities.size());
    }
    int node = parent.node;
    P X_NF = parent.X_NB * X_PF;
    for (const ElementaryJoint& element : elements) {
      const bool about_axis = velocity_count(element.kind) == 1;
      const P turn{about_axis ? rotation_from_z(element.axis) : Mat3<double>::Identity(), Vec3<double>::Zero()};
      node = add_node(node, element.kind, X_NF * turn, joint.pitch);
      X_NF = turn.inverse();
      append_start(joint, element, mirrored);
      if (mirrored) continue;
      const Node& added = model_.tree.nodes.back();
      for (int k = 0; k < position_count(element.kind); ++k)
        joint.q[static_cast<std::size_t>(element.component + k)] = added.q + k;
      for (int k = 0; k < velocity_count(element.kind); ++k)
        joint.v[static_cast<std::size_t>(element.component + k)] = added.v + k;
    }
    Body& child = model_.bodies[static_cast<std::size_t>(body)];
    child.node = node;
    child.X_NB = X_NF * X_BM.inverse();
  }

  int add_node(int parent, NodeKind kind, const P& X_PN, double pitch) {
    Tree& tree = model_.tree;
    Node node;
    node.parent = parent;
    node.kind = kind;
    node.q = tree.nq;
    node.v = tree.nv;
    node.pitch = pitch;
    tree.nq += position_count(kind);
    tree.nv += velocity_count(kind);
    tree.nodes.push_back(node);
    raw_.push_back(X_PN);
    return tree.size() - 1;
  }

  void append_start(const Joint& joint, const ElementaryJoint& element, bool mirrored) {
    std::vector<double> q(joint.start);
    std::vector<double> v(joint.start_velocity);
    if (mirrored) mirror(q, v);
    for (int k = 0; k < position_count(element.kind); ++k)
      model_.start_q.push_back(q[static_cast<std::size_t>(element.component + k)]);
    for (int k = 0; k < velocity_count(element.kind); ++k)
      model_.start_v.push_back(v[static_cast<std::size_t>(element.component + k)]);
  }

  /// Coordinates of a spherical or free joint as seen from its child instead of its parent.
  static void mirror(std::vector<double>& q, std::vector<double>& v) {
    const bool floats = q.size() == 7;
    double* const turn = q.data() + (floats ? 3 : 0);
    double* const spin = v.data() + (floats ? 3 : 0);
    const Quat given(turn[0], turn[1], turn[2], turn[3]);
    const Vec3<double> w(spin[0], spin[1], spin[2]);
    Eigen::Map<Vec3<double>>{spin} = -(given * w);
    for (int k = 1; k < 4; ++k) turn[k] = -turn[k];
    if (!floats) return;
    Eigen::Map<Vec3<double>> x(q.data()), xdot(v.data());
    const Vec3<double> seen = given.conjugate() * x;
    xdot = (-(given.conjugate() * xdot) + w.cross(seen)).eval();
    x = -seen;
  }

  /// Turns every node's frame about its own z so that its first child needs no gamma, and factors the constant rotations.
  void align_frames() {
    Tree& tree = model_.tree;
    std::vector<ZxzAngles> angles(tree.nodes.size(), ZxzAngles{0.0, 0.0, 0.0});
    turn_.assign(tree.nodes.size(), 0.0);
    std::vector<bool> has_child(tree.nodes.size(), false);
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
      angles[i] = zxz_angles(raw_[i].R);
      const auto parent = static_cast<std::size_t>(tree.nodes[i].parent);
      const bool one_dof = velocity_count(tree.nodes[i].kind) == 1;
      if (parent != 0 && one_dof && velocity_count(tree.nodes[parent].kind) == 1 && !has_child[parent])
        turn_[parent] = angles[i].gamma;
      has_child[parent] = true;
    }
    for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
      Node& node = tree.nodes[i];
      const double parent_turn = turn_[static_cast<std::size_t>(node.parent)];
      node.p = about_z(-parent_turn) * raw_[i].p;
      node.R_PF = about_z(-parent_turn) * raw_[i].R;
      if (velocity_count(node.kind) != 1) continue;
      const double gamma = angles[i].gamma - parent_turn;
      node.ca = snapped(std::cos(angles[i].alpha)), node.sa = snapped(std::sin(angles[i].alpha));
      node.has_alpha = node.ca != 1.0;
      node.right_angle = node.ca == 0.0;
      node.theta0 = angles[i].theta + turn_[i];
      if (!node.has_alpha) {  // both turns are about the same axis
        node.theta0 += gamma;
        continue;
      }
      node.cg = snapped(std::cos(gamma)), node.sg = snapped(std::sin(gamma));
      node.has_gamma = node.cg != 1.0;
    }
    for (Body& body : model_.bodies)
      body.X_NB = P{about_z(-turn_[static_cast<std::size_t>(body.node)]), Vec3<double>::Zero()} * body.X_NB;
  }

  void add_inertias() {
    for (const BodySpec& spec : spec_.bodies) {
      const Body& body = model_.bodies[static_cast<std::size_t>(body_of_.at(spec.name))];
      model_.tree.nodes[static_cast<std::size_t>(body.node)].inertia +=
          RigidInertia::about_com(spec.mass, spec.com, spec.inertia).seen_from(body.X_NB);
    }
    model_.tree.nodes[0].inertia = {};
    mark_planar_nodes(model_.tree);
  }

  NodeFrame frame(const FrameSpec& spec, const Mat3<double>& axes = Mat3<double>::Identity()) const {
    const Body& body = model_.bodies[static_cast<std::size_t>(body_of_.at(spec.body))];
    return {body.node, body.X_NB * frame_pose(spec) * P{axes, Vec3<double>::Zero()}};
  }

  void attach_joint_frames() {
    for (std::size_t j = 0; j < spec_.joints.size(); ++j) {
      const JointSpec& spec = spec_.joints[j];
      Joint& joint = model_.joints[j];
      const Mat3<double> axes = axes_rotation(joint.kind->has_axis, spec.axis, spec.axis2);
      joint.parent = frame(spec.parent, axes);
      joint.child = frame(spec.child, axes);
    }
  }

  int add_rows(const std::string& closure, const std::vector<std::string>& names, const Place& place,
               const ComplianceSpec& compliance) {
    const int first = model_.row_count();
    for (const std::string& name : names) model_.rows.push_back({closure + "." + name, closure, place, compliance});
    return first;
  }

  void close_joint(JointIndex index) {
    const Joint& joint = model_.joints[index()];
    FrameClosure closure;
    closure.name = joint.name;
    closure.a = joint.parent;
    closure.b = joint.child;
    closure.geometry.pitch = joint.pitch;
    closure.joint_kind = joint.kind;
    closure.joint = index;
    closure.row_count = static_cast<int>(joint.kind->rows.size());
    closure.first_row = add_rows(joint.name, joint.kind->rows, joint.place, spec_.joints[index()].compliance);
    if (closure.row_count > 0) model_.frame_closures.push_back(std::move(closure));
  }

  ConstraintRow& row(int index) { return model_.rows[static_cast<std::size_t>(index)]; }

  /// One row on joint coordinates.
  int relate(const std::string& name, const Expression& relation, bool holonomic, const Place& place,
             const ComplianceSpec& compliance = {}) {
    CoordinateClosure closure{name, bind(relation), add_rows(name, {"r"}, place, compliance), holonomic};
    row(closure.row).holonomic = holonomic;
    model_.coordinate_closures.push_back(std::move(closure));
    return model_.coordinate_closures.back().row;
  }

  void add_coordinate_closure(const ClosureSpec& spec, const CoordinateClosureKind& kind) {
    const bool holonomic = kind.holonomic;
    ConstraintRow& added = row(relate(spec.name, kind.relation(spec), holonomic, spec.place, spec.compliance));
    added.active = spec.active;
    added.switched = !spec.active;
    const CoordinateClosure& closure = model_.coordinate_closures.back();
    if (!holonomic) check_linear(closure.phi, spec);
    bool moves = false;
    for (const Variable& slot : closure.phi.slots) {
      if (!slot.is_coordinate()) continue;
      moves = moves || closure.acts_on(slot);
      if (slot.kind == Variable::Kind::kVelocity) continue;
      const Joint& joint = model_.joints[slot.coordinate.joint()];
      if (joint.kind->has_quaternion() && slot.coordinate.component >= joint.kind->nv() - 3)
        throw InputError(spec.place, fmt::format("closure '{}' uses a quaternion component of joint '{}'", spec.name, joint.name),
                         "coordinates that are angles or lengths; constrain the bodies' frames instead");
    }
    if (!moves)
      throw InputError(
          spec.place,
          fmt::format("closure '{}' does not depend on any joint {}", spec.name, holonomic ? "coordinate" : "velocity"),
          holonomic ? "an expression of q.<joint>" : "an expression with v.<joint>");
  }

  /// A row at velocity level is sum a_i(q, t) v_i + a_0(q, t).
  static void check_linear(const BoundExpression& relation, const ClosureSpec& spec) {
    std::mt19937 random(2718);
    const auto uniform = [&] { return 0.1 + static_cast<double>(random()) / static_cast<double>(std::mt19937::max()); };
    std::vector<Jet> jets(relation.slots.size());
    for (int trial = 0; trial < 4; ++trial) {
      for (std::size_t s = 0; s < jets.size(); ++s)
        jets[s] = {uniform(), relation.slots[s].kind == Variable::Kind::kVelocity ? uniform() : 0.0, 0.0};
      const Jet f = relation.expression.evaluate<Jet>(std::span<const Jet>(jets));
      if (std::abs(f.d2) <= 1e-9 * (1.0 + std::abs(f.d1))) continue;
      throw InputError(spec.value.place().line > 0 ? spec.value.place() : spec.place,
                       fmt::format("closure '{}' is not linear in the velocities", spec.name),
                       "a sum of terms with one v.<joint> each, or none");
    }
  }

  /// Limits that stop the joint, and its dry friction, as rows of their own.
  void add_stops_and_friction(const JointSpec& spec) {
    if (spec.restitution && spec.limits)
      for (const bool high : {false, true}) {
        const std::string name = spec.name + (high ? ".high" : ".low");
        const double limit = (*spec.limits)[high ? 1 : 0];
        const int stop = relate(name, Expression::linear({"q." + spec.name}, {1.0}, limit, spec.place), true, spec.place);
        make_one_sided(name, stop, high ? -1.0 : 1.0, *spec.restitution, spec.poisson);
      }
    if (!spec.dry_friction) return;
    const std::string name = spec.name + ".friction";
    const int first = relate(name, Expression::linear({"v." + spec.name}, {1.0}, 0.0, spec.place), false, spec.place);
    add_friction(name, first, 1, *spec.dry_friction);
  }

  void make_one_sided(const std::string& name, int index, double side, double restitution, bool poisson) {
    row(index).active = false;
    row(index).switched = true;
    model_.contacts.push_back({name, index, side, restitution, poisson});
  }

  DryFriction& add_friction(const std::string& name, int first, int count, const FrictionSpec& spec) {
    for (int r = first; r < first + count; ++r) row(r).active = false, row(r).switched = true;
    DryFriction friction;
    friction.name = name;
    friction.first_row = first;
    friction.rows = count;
    friction.load = bind(spec.load.value_or(Expression::constant(1.0)));
    friction.sticking = spec.sticking;
    friction.kinetic = spec.kinetic;
    friction.stribeck = spec.stribeck;
    friction.viscous = spec.viscous;
    model_.frictions.push_back(std::move(friction));
    return model_.frictions.back();
  }

  void add_contact_and_friction(const ClosureSpec& spec) {
    const auto is_own = [&](const ConstraintRow& r) { return r.closure == spec.name; };
    const auto found = std::ranges::find_if(model_.rows, is_own);
    const int first = static_cast<int>(found - model_.rows.begin());
    int count = 0;
    while (first + count < model_.row_count() && is_own(row(first + count))) ++count;
    if (spec.side) make_one_sided(spec.name, first, *spec.side, spec.restitution, spec.poisson);
    if (!spec.friction) {
      // What a one-sided closure has beside its contact holds while that does.
      if (!spec.side) return;
      for (int r = first + 1; r < first + count; ++r) row(r).active = false, row(r).switched = true;
      model_.contacts.back().along = count - 1;
      return;
    }
    const bool has_normal = row(first).holonomic;
    const int tangential = first + (has_normal ? 1 : 0);
    DryFriction& friction = add_friction(spec.name, tangential, first + count - tangential, *spec.friction);
    if (!spec.friction->load) {
      if (!has_normal)
        throw InputError(spec.place, fmt::format("the friction of closure '{}' has no load", spec.name),
                         "load = the force that presses the bodies together, or a closure with a contact row");
      friction.normal_row = first;
    }
    friction.one_sided = spec.side.has_value();
    friction.side = spec.side.value_or(1.0);
  }

  void add_frame_closure(const ClosureSpec& spec) {
    FrameClosure closure;
    closure.name = spec.name;
    closure.kind = find_frame_closure_kind(spec.type);
    closure.joint_kind = closure.kind ? nullptr : find_joint_kind(spec.type);
    const bool has_axis = closure.kind ? closure.kind->has_axis : closure.joint_kind->has_axis;
    const auto& names = closure.kind ? closure.kind->rows : closure.joint_kind->rows;
    const Mat3<double> axes = axes_rotation(has_axis, spec.axis, spec.axis2);
    const bool on_plane = closure.kind && closure.kind->on_plane;
    closure.a = frame(spec.a, on_plane ? rotation_from_z(spec.normal) : axes);
    closure.b = frame(spec.b, axes);
    if (closure.a.node == closure.b.node)
      throw InputError(spec.place, fmt::format("closure '{}' joins two frames of one rigid body", spec.name),
                       "bodies that can move relative to each other");
    const double gap = spec.inside ? spec.radius_a - spec.radius : spec.radius_a + spec.radius;
    closure.geometry = {spec.pitch / (2.0 * std::numbers::pi), spec.length, spec.radius, gap, spec.inside};
    closure.left_out = closure.kind && closure.kind->has_contact_row() && !spec.contact ? 1 : 0;
    closure.row_count = static_cast<int>(names.size()) - closure.left_out;
    closure.first_row = add_rows(spec.name, {names.begin() + closure.left_out, names.end()}, spec.place, spec.compliance);
    const int holonomic = closure.kind ? closure.kind->holonomic_rows - closure.left_out : closure.row_count;
    for (int r = 0; r < closure.row_count; ++r) {
      row(closure.first_row + r).holonomic = r < holonomic;
      row(closure.first_row + r).active = spec.active;
      row(closure.first_row + r).switched = !spec.active;
    }
    model_.frame_closures.push_back(std::move(closure));
  }

  /// "joint" or "joint.component", where the joint's own name may have dots (modules).
  Coordinate coordinate(const std::string& name, bool velocity, const Place& place) const {
    std::string joint_name = name, component;
    auto found = joint_of_.find(joint_name);
    if (found == joint_of_.end()) {
      const std::size_t dot = name.rfind('.');
      if (dot != std::string::npos) {
        joint_name = name.substr(0, dot);
        component = name.substr(dot + 1);
        found = joint_of_.find(joint_name);
      }
    }
    if (found == joint_of_.end())
      throw InputError(place, fmt::format("there is no joint coordinate '{}'", name), "the name of a joint");
    const JointKind& kind = *model_.joints[static_cast<std::size_t>(found->second)].kind;
    const auto& names = velocity ? kind.velocities : kind.positions;
    const auto at = std::ranges::find(names, component);
    if (at == names.end())
      throw InputError(place, fmt::format("joint '{}' ({}) has no coordinate '{}'", joint_name, kind.name, component),
                       names.empty() ? "a joint that moves" : fmt::format("one of: {}", fmt::join(names, ", ")));
    return {JointIndex(found->second), static_cast<int>(at - names.begin())};
  }

  BoundExpression bind(const Expression& expression) const {
    BoundExpression bound{.expression = expression, .slots = {}};
    for (const std::string& name : expression.variables()) {
      if (name == "t") {
        bound.slots.push_back({});
        continue;
      }
      if (name[0] == '@' || !(name.starts_with("q.") || name.starts_with("v."))) {
        bound.slots.push_back(other_variable(name, expression.place()));
        continue;
      }
      const bool velocity = name[0] == 'v';
      bound.slots.push_back({velocity ? Variable::Kind::kVelocity : Variable::Kind::kPosition,
                             coordinate(name.substr(2), velocity, expression.place())});
    }
    return bound;
  }

  /// Variables that are not coordinates.
  Variable other_variable(const std::string& name, const Place& place) const {
    Variable variable;
    if (name[0] == '@') {
      const auto at = std::ranges::find(model_.parameters, name.substr(1), &Parameter::name);
      variable.kind = Variable::Kind::kParameter;
      variable.index = static_cast<int>(at - model_.parameters.begin());
      return variable;
    }
    const std::size_t dot = name.find('.');
    const std::string what = name.substr(0, dot), of = name.substr(dot + 1);
    if (what == "p" || what == "pv") return point_variable(what == "pv", of, place);
    variable.kind = what == "lambda"  ? Variable::Kind::kMultiplier
                    : what == "error" ? Variable::Kind::kError
                                      : Variable::Kind::kErrorRate;
    const auto at = std::ranges::find(model_.rows, of, &ConstraintRow::name);
    if (at == model_.rows.end()) throw unknown_name(place, "row", of, row_names());
    variable.index = static_cast<int>(at - model_.rows.begin());
    return variable;
  }

  Variable point_variable(bool velocity, const std::string& of, const Place& place) const {
    const std::size_t dot = of.rfind('.');
    const std::string sensor = of.substr(0, dot), axis = dot == std::string::npos ? "" : of.substr(dot + 1);
    std::vector<std::string> known;
    for (const SensorSpec& s : spec_.sensors)
      if (s.type == "point") known.push_back(s.name);
    if (std::ranges::find(known, sensor) == known.end()) throw unknown_name(place, "point sensor", sensor, known);
    if (axis != "x" && axis != "y" && axis != "z")
      throw InputError(place, fmt::format("the point '{}' has no component '{}'", sensor, axis), "x, y or z");
    Variable variable;
    variable.kind = velocity ? Variable::Kind::kPointVelocity : Variable::Kind::kPoint;
    variable.axis = axis[0] - 'x';
    variable.index = static_cast<int>(std::ranges::find(spec_.sensors, sensor, &SensorSpec::name) - spec_.sensors.begin());
    return variable;
  }

  std::vector<std::string> row_names() const {
    std::vector<std::string> names;
    for (const ConstraintRow& r : model_.rows) names.push_back(r.name);
    return names;
  }

  void add_event(const EventSpec& spec) {
    Event event{spec.name, bind(spec.when), spec.direction, {}, spec.place};
    for (const ActionSpec& action : spec.actions) event.actions.push_back(bound_action(action));
    model_.events.push_back(std::move(event));
  }

  Action bound_action(const ActionSpec& spec) {
    using Kind = ActionSpec::Kind;
    Action action;
    action.value = bind(spec.value);
    switch (spec.kind) {
      case Kind::kStop:
        action.text = "stop";
        break;
      case Kind::kSet: {
        action.target = Action::Target::kParameter;
        action.text = fmt::format("set {} = {}", spec.name, spec.value.text());
        const auto at = std::ranges::find(model_.parameters, spec.name, &Parameter::name);
        action.first = static_cast<int>(at - model_.parameters.begin());
        break;
      }
      case Kind::kKick:
        action.target = Action::Target::kKick;
        action.text = fmt::format("kick {} by {}", spec.name, spec.value.text());
        action.coordinate = coordinate(spec.name, true, spec.place);
        break;
      case Kind::kBounce:
        action.target = Action::Target::kBounce;
        action.text = fmt::format("bounce {} with {}", spec.name, spec.value.text());
        find_rows(spec, action);
        if (action.count == 0) throw unknown_name(spec.place, "closure", spec.name, closure_names());
        break;
      case Kind::kOn:
      case Kind::kOff:
        action.on = spec.kind == Kind::kOn;
        action.text = fmt::format("{} {}", action.on ? "on" : "off", spec.name);
        find_switched(spec, action);
        break;
    }
    return action;
  }

  void find_rows(const ActionSpec& spec, Action& action) const {
    for (int r = model_.row_count(); r-- > 0;)
      if (model_.rows[static_cast<std::size_t>(r)].closure == spec.name) action.first = r, ++action.count;
  }

  void find_switched(const ActionSpec& spec, Action& action) {
    if (const auto force = force_of_.find(spec.name); force != force_of_.end()) {
      action.target = force->second.first;
      action.first = force->second.second;
      return;
    }
    action.target = Action::Target::kRows;
    find_rows(spec, action);
    if (action.count == 0) {
      std::vector<std::string> known = closure_names();
      for (const auto& [name, force] : force_of_) known.push_back(name);
      std::ranges::sort(known);
      throw unknown_name(spec.place, "closure or force", spec.name, known);
    }
    for (int r = action.first; r < action.first + action.count; ++r) {
      const auto is_contact = [&](const Contact& c) { return c.row == r; };
      const auto is_friction = [&](const DryFriction& f) { return r >= f.first_row && r < f.first_row + f.rows; };
      if (std::ranges::any_of(model_.contacts, is_contact) || std::ranges::any_of(model_.frictions, is_friction))
        throw InputError(spec.place, fmt::format("'{}' opens and closes by itself, or has friction", spec.name),
                         "a closure that is neither one-sided nor has friction");
      row(r).switched = true;
    }
  }

  std::vector<std::string> closure_names() const {
    std::vector<std::string> names;
    for (const ConstraintRow& r : model_.rows)
      if (names.empty() || names.back() != r.closure) names.push_back(r.closure);
    return names;
  }

  void add_force(const ForceSpec& spec) {
    const auto name_it = [&](Action::Target target, std::size_t count) {
      if (!spec.name.empty()) force_of_[spec.name] = {target, static_cast<int>(count) - 1};
    };
    if (spec.type == "torque" || spec.type == "force") {
      model_.joint_forces.push_back({coordinate(spec.joint, true, spec.place), bind(spec.value), spec.active});
      name_it(Action::Target::kJointForce, model_.joint_forces.size());
    } else if (spec.type == "wrench") {
      BodyWrench wrench;
      wrench.at = frame(spec.a);
      wrench.in_body_axes = spec.in_body_axes;
      wrench.active = spec.active;
      for (std::size_t k = 0; k < 3; ++k) {
        wrench.torque[k] = bind(spec.torque[k]);
        wrench.force[k] = bind(spec.force[k]);
      }
      model_.wrenches.push_back(std::move(wrench));
      name_it(Action::Target::kWrench, model_.wrenches.size());
    } else {
      model_.springs.push_back({frame(spec.a), frame(spec.b), spec.stiffness, spec.damping, spec.length, spec.active});
      name_it(Action::Target::kSpring, model_.springs.size());
    }
  }

  void add_sensor(const SensorSpec& spec) {
    const bool is_expression = spec.type == "expression";
    model_.sensors.push_back({spec.name, spec.type, is_expression ? NodeFrame{} : frame(spec.frame),
                              is_expression ? bind(spec.value) : BoundExpression{}});
  }

  void note_cuts() {
    for (const Topology::Loop& loop : topology_.loops) {
      const JointSpec& joint = spec_.joints[static_cast<std::size_t>(loop.joint)];
      model_.notes.push_back(fmt::format("joint '{}' is cut ({}) to open a loop of {} joints", joint.name,
                                         joint.cut ? "as the model asks" : "chosen", loop.length));
    }
  }

  const Spec& spec_;
  Topology topology_;
  Model model_;
  std::unordered_map<std::string, int> body_of_;
  std::unordered_map<std::string, int> joint_of_;
  std::unordered_map<std::string, std::pair<Action::Target, int>> force_of_;
  std::vector<P> raw_;        // by node: its frame at position 0 in its parent's, before align_frames
  std::vector<double> turn_;  // by node: how far align_frames turned it
};

}  // namespace

Model build_model(const Spec& spec) { return Builder(spec).build(); }

std::string coordinate_name(const Joint& joint, const std::string& component) {
  return component.empty() ? joint.name : joint.name + "." + component;
}

std::string Model::velocity_name(int v) const {
  for (const Joint& joint : joints)
    for (std::size_t k = 0; k < joint.v.size(); ++k)
      if (joint.v[k] == v) return coordinate_name(joint, joint.kind->velocities[k]);
  for (const Body& body : bodies) {  // free bodies: no joint has this coordinate
    const Node& node = tree.nodes[static_cast<std::size_t>(body.node)];
    if (body.node != 0 && v >= node.v && v < node.v + velocity_count(node.kind)) return body.name;
  }
  return fmt::format("v[{}]", v);
}

std::string Model::node_name(int node) const {
  if (node == 0) return "ground";
  return velocity_name(tree.nodes[static_cast<std::size_t>(node)].v);
}

}  // namespace linkwork
