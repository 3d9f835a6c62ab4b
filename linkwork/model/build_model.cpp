#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>

#include "linkwork/model/building.h"
#include "linkwork/model/jet.h"
#include "linkwork/model/kinds.h"
#include "linkwork/model/model.h"
#include "linkwork/model/remote_modules.h"
#include "linkwork/model/signal_block.h"
#include "linkwork/spatial/so3.h"

namespace linkwork {

namespace {

class Builder {
 public:
  explicit Builder(const Spec& spec) : spec_(spec), binding_(spec, model_), labels_(output_names(spec.forces)) {}

  Model build() {
    model_.name = spec_.name;
    model_.file = spec_.place.file;
    model_.source_text = spec_.source_text;
    model_.settings = spec_.settings;
    model_.kinds = spec_.kinds;
    model_.notes = spec_.notes;
    model_.warnings = spec_.warnings;
    model_.tree.gravity = spec_.settings.gravity;
    const Topology topology = choose_topology(spec_);
    build_tree(topology, binding_, model_);
    for (std::size_t j = 0; j < model_.joints.size(); ++j)
      if (model_.joints[j].cut) close_joint(JointIndex(j));
    const auto& relations = spec_.kinds->closures;
    for (const ClosureSpec& closure : spec_.closures)
      if (find_kind(relations, closure.type) == nullptr) add_frame_closure(closure);
    for (const CustomForce& force : spec_.custom_forces) add_custom_force(force);
    for (const ParameterSpec& parameter : spec_.changing) model_.parameters.push_back({parameter.name, parameter.value});
    for (const InputSpec& input : spec_.inputs)
      model_.inputs.push_back({input.name, binding_.bind(input.value), input.data, input.is_copy});
    for (const ClosureSpec& closure : spec_.closures)
      if (const auto* const kind = find_kind(relations, closure.type)) add_coordinate_closure(closure, *kind);
    for (const JointSpec& joint : spec_.joints) add_stops_and_friction(joint);
    for (const ClosureSpec& closure : spec_.closures) add_contact_and_friction(closure);
    for (const ForceSpec& force : spec_.forces) add_force(force);
    for (const SensorSpec& sensor : spec_.sensors) add_sensor(sensor);
    for (const StateSpec& state : spec_.states)
      model_.states.push_back({state.name, state.start, binding_.bind(state.rate), state.is_copy});
    for (const BlockSpec& block : spec_.blocks) add_block(block);
    check_block_cycles();
    build_events(binding_, model_);
    note_cuts(topology);
    for_each_law(model_, [&](BoundExpression& law, const std::string&) {
      if (law.expression.switch_count() == 0) return;
      law.first_switch = model_.switch_count;
      model_.switch_count += static_cast<int>(law.expression.switch_count());
    });
    measure(model_);
    note_odd_units();
    return std::move(model_);
  }

 private:
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
    CoordinateClosure closure{name, binding_.bind(relation), add_rows(name, {"r"}, place, compliance), holonomic};
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
      if (slot.kind == Variable::Kind::kBlockOutput)
        throw InputError(spec.place, fmt::format("closure '{}' uses an output of an FMU", spec.name), "a force, or a [[state]]");
      if (slot.kind == Variable::Kind::kSensor || slot.kind == Variable::Kind::kSensorRate)
        throw InputError(spec.place, fmt::format("closure '{}' uses a point or a distance", spec.name),
                         "joint coordinates; a closure between the bodies' frames");
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
    friction.load = binding_.bind(spec.load.value_or(Expression::constant(1.0)));
    friction.sticking = spec.sticking;
    friction.kinetic = spec.kinetic;
    friction.stribeck = spec.stribeck;
    friction.viscous = spec.viscous;
    model_.frictions.push_back(std::move(friction));
    return model_.frictions.back();
  }

  void add_contact_and_friction(const ClosureSpec& spec) {
    if (!spec.side && !spec.friction) return;
    const auto is_own = [&](const ConstraintRow& r) { return r.closure == spec.name; };
    const auto found = std::ranges::find_if(model_.rows, is_own);
    const int first = static_cast<int>(found - model_.rows.begin());
    int count = 0;
    while (first + count < model_.row_count() && is_own(row(first + count))) ++count;
    if (spec.side) make_one_sided(spec.name, first, *spec.side, spec.restitution, spec.poisson);
    if (!spec.friction) {
      // What a one-sided closure has beside its contact holds while that does.
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
    closure.a = binding_.frame(spec.a, on_plane ? rotation_from_z(spec.normal) : axes);
    closure.b = binding_.frame(spec.b, axes);
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

  /// It has a name of its own among all forces, if only for the output.
  void add_custom_force(CustomForce force) {
    if (!force.apply) throw InputError({}, fmt::format("the custom force '{}' does nothing", force.name), "a function to apply");
    if (force.name.empty()) force.name = fmt::format("custom{}", model_.custom_forces.size() + 1);
    if (std::ranges::find(labels_, force.name) != labels_.end() ||
        std::ranges::find(model_.custom_forces, force.name, &CustomForce::name) != model_.custom_forces.end())
      throw InputError({}, fmt::format("the name '{}' is taken by another force", force.name), "a name of its own");
    std::vector<std::string> known;
    for (const Body& body : model_.bodies) known.push_back(body.name);
    for (const Joint& joint : model_.joints)
      for (const std::string& component : joint.kind->velocities) known.push_back(coordinate_name(joint, component));
    for (const std::string& on : force.columns)
      if (std::ranges::find(known, on) == known.end()) throw unknown_name({}, "body or joint coordinate", on, known);
    model_.custom_forces.push_back(std::move(force));
  }

  /// Its elements belong to it.
  void add_force(const ForceSpec& spec) {
    const ForceKind* const kind = find_kind(spec_.kinds->forces, spec.type);
    if (kind == nullptr) throw unknown_name(spec.place, "force type", spec.type, names_of(spec_.kinds->forces));
    const int index = static_cast<int>(model_.forces.size());
    const std::array before{model_.joint_forces.size(), model_.springs.size(), model_.wrenches.size(), model_.bushings.size()};
    model_.forces.push_back(
        {spec.name, kind, spec.active, labels_[static_cast<std::size_t>(index)], before[0], before[1], before[2], before[3]});
    kind->build(spec, binding_, model_);
    for (std::size_t k = before[0]; k < model_.joint_forces.size(); ++k) model_.joint_forces[k].of = index;
    for (std::size_t k = before[1]; k < model_.springs.size(); ++k) model_.springs[k].of = index;
    for (std::size_t k = before[2]; k < model_.wrenches.size(); ++k) model_.wrenches[k].of = index;
    for (std::size_t k = before[3]; k < model_.bushings.size(); ++k) model_.bushings[k].of = index;
  }

  void add_sensor(const SensorSpec& spec) {
    const SensorKind* const kind = find_kind(spec_.kinds->sensors, spec.type);
    if (kind == nullptr) throw unknown_name(spec.place, "sensor type", spec.type, names_of(spec_.kinds->sensors));
    model_.sensors.push_back(
        {spec.name, kind, binding_.frame(spec.frame), binding_.frame(spec.b), binding_.bind(spec.value), spec.numbers});
  }

  /// Its states are integrated as the user's are, at rates that it gives.
  void add_block(const BlockSpec& spec) {
    const auto index = static_cast<int>(model_.blocks.size());
    Block block{spec.name, spec.block, {}, static_cast<int>(model_.states.size())};
    for (const Expression& input : spec.inputs) block.inputs.push_back(binding_.bind(input));
    for (std::size_t k = 0; k < spec.block->states.size(); ++k) {
      BoundExpression rate{Expression::linear({"rate"}, {1.0}, 0.0, spec.place), {}};
      rate.slots = {{.kind = Variable::Kind::kBlockRate, .index = index, .component = static_cast<int>(k)}};
      model_.states.push_back({spec.name + "." + spec.block->states[k], 0.0, std::move(rate), false});
    }
    model_.blocks.push_back(std::move(block));
  }

  /// Outputs that show inputs which need them at once have no value.
  void check_block_cycles() const {
    enum class Visit { kNot, kOpen, kDone };
    std::vector<std::vector<Visit>> visits;
    for (const Block& block : model_.blocks) visits.emplace_back(block.block->outputs.size(), Visit::kNot);
    const std::function<void(std::size_t, std::size_t)> visit = [&](std::size_t b, std::size_t o) {
      const Block& block = model_.blocks[b];
      if (visits[b][o] == Visit::kOpen)
        throw InputError(spec_.blocks[b].place,
                         fmt::format("the output '{}' of FMU '{}' depends on itself, through what it is connected to",
                                     block.block->outputs[o].name, block.name),
                         "a connection over a state, such as a filter ([[state]])");
      if (visits[b][o] == Visit::kDone) return;
      visits[b][o] = Visit::kOpen;
      if (!block.block->steps())
        for (const std::size_t input : block.block->outputs[o].depends_on)
          for (const Variable& slot : block.inputs[input].slots)
            if (slot.kind == Variable::Kind::kBlockOutput)
              visit(static_cast<std::size_t>(slot.index), static_cast<std::size_t>(slot.component));
      visits[b][o] = Visit::kDone;
    };
    for (std::size_t b = 0; b < visits.size(); ++b)
      for (std::size_t o = 0; o < visits[b].size(); ++o) visit(b, o);
  }

  template <class Kind>
  static std::vector<std::string> names_of(const std::vector<Kind>& kinds) {
    std::vector<std::string> names;
    for (const Kind& kind : kinds) names.emplace_back(kind.name);
    return names;
  }

  /// Numbers that look like degrees or millimetres.
  void note_odd_units() {
    constexpr double kManyTurns = 4.0 * std::numbers::pi, kHuge = 500.0;
    for (const JointSpec& joint : spec_.joints) {
      const JointKind& kind = *find_joint_kind(joint.type);
      for (std::size_t k = 0; k < joint.position.size(); ++k)
        if (kind.is_angle(k) && std::abs(joint.position[k]) > kManyTurns)
          model_.notes.push_back(
              fmt::format("joint '{}' starts at {:g} rad, more than two turns: degrees are written \"{:g}*deg\"", joint.name,
                          joint.position[k], joint.position[k]));
    }
    if (model_.units.length > kHuge)
      model_.notes.push_back(fmt::format("the mechanism is {:g} m large: millimetres are written \"{:g}*mm\"",
                                         model_.units.length, model_.units.length));
  }

  void note_cuts(const Topology& topology) {
    for (const Topology::Loop& loop : topology.loops) {
      const JointSpec& joint = spec_.joints[static_cast<std::size_t>(loop.joint)];
      model_.notes.push_back(fmt::format("joint '{}' is cut ({}) to open a loop of {} joints", joint.name,
                                         joint.cut ? "as the model asks" : "chosen", loop.length));
    }
  }

  const Spec& spec_;
  Model model_;
  Binding binding_;
  std::vector<std::string> labels_;  // of forces
};

}  // namespace

Model build_model(const Spec& spec) {
  refuse_remote_modules(spec);
  return Builder(spec).build();
}

std::string coordinate_name(const Joint& joint, const std::string& component) {
  return component.empty() ? joint.name : joint.name + "." + component;
}

int Model::input_index(const std::string& input) const {
  const auto found = std::ranges::find(inputs, input, &Input::name);
  if (found != inputs.end()) return static_cast<int>(found - inputs.begin());
  std::vector<std::string> known;
  for (const Input& one : inputs) known.push_back(one.name);
  throw unknown_name({}, "input", input, known);
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
