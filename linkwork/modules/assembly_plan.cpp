#include "linkwork/modules/assembly_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <set>
#include <unordered_map>

#include "linkwork/model/binding.h"
#include "linkwork/model/kinds.h"
#include "linkwork/modules/coupling_spec.h"
#include "linkwork/modules/model_module.h"
#include "linkwork/spatial/so3.h"

namespace linkwork {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

constexpr int kGround = -1, kSeveral = -2;

class Planner {
 public:
  explicit Planner(const Spec& spec) : spec_(spec) {
    for (std::size_t m = 0; m < spec.modules.size(); ++m) nest_of_[spec.modules[m].name] = static_cast<int>(m);
  }

  AssemblyPlan plan() {
    plan_.name = spec_.name;
    plan_.settings = spec_.settings;
    refuse_homeless();
    check_sensor_cycles(spec_);
    for (const BodySpec& body : spec_.bodies) add_body(body);
    for (const JointSpec& joint : spec_.joints) add_joint(joint);
    for (const ClosureSpec& closure : spec_.closures) add_closure(closure);
    const std::vector<std::string> names = output_names(spec_.forces);
    for (std::size_t k = 0; k < names.size(); ++k) add_force(spec_.forces[k], names[k]);
    for (const SensorSpec& sensor : spec_.sensors) add_sensor(sensor);
    add_states();
    add_inputs();
    plan_.inputs = spec_.inputs;
    for (std::size_t m = 0; m < parts_.size(); ++m) finish_module(m);
    plan_.nest = nest(-1);
    if (!plan_.settings.tolerance_in_metres) plan_.settings.constraint_tolerance *= std::max(kShortest, longest_distance());
    return std::move(plan_);
  }

 private:
  static constexpr double kShortest = 1e-3;  // m; of angles between modules no more can be asked

  /// Between two frames of a body, as Model::units has it.
  double longest_distance() const {
    std::unordered_map<std::string, Vec3<double>> first;
    double longest = 0.0;
    const auto add = [&](const std::string& body, const Vec3<double>& at) {
      const Vec3<double>& reference = first.try_emplace(body, at).first->second;
      longest = std::max(longest, (at - reference).norm());
    };
    for (const BodySpec& body : spec_.bodies) add(body.name, body.com);
    const auto add_ends = [&](const FrameSpec& a, const FrameSpec& b) { add(a.body, a.at), add(b.body, b.at); };
    for (const JointSpec& joint : spec_.joints) add_ends(joint.parent, joint.child);
    for (const ClosureSpec& closure : spec_.closures) add_ends(closure.a, closure.b);
    return longest > 0.0 ? longest : 1.0;
  }

  /// What would belong to no module.
  void refuse_homeless() const {
    for (const CustomForce& force : spec_.custom_forces)
      throw InputError({}, fmt::format("the custom force '{}' may act on any module", force.name), "glue \"none\"");
    for (const BlockSpec& block : spec_.blocks)
      throw InputError(block.place, fmt::format("the FMU '{}' may be connected to any module", block.name), "glue \"none\"");
  }

  /// Whether an event switches the closure or force, or has it bounce.
  bool is_switched(const std::string& name) const {
    return std::ranges::any_of(spec_.events, [&](const EventSpec& event) {
      return std::ranges::any_of(event.actions, [&](const ActionSpec& action) {
        using Kind = ActionSpec::Kind;
        const bool switches = action.kind == Kind::kOn || action.kind == Kind::kOff || action.kind == Kind::kBounce;
        return switches && action.name == name;
      });
    });
  }

  /// The innermost module whose name stands before a name.
  int nest_holding(const std::string& name) const {
    for (std::size_t dot = name.rfind('.'); dot != std::string::npos && dot > 0; dot = name.rfind('.', dot - 1))
      if (const auto found = nest_of_.find(name.substr(0, dot)); found != nest_of_.end()) return found->second;
    return -1;
  }

  void add_body(const BodySpec& body) {
    const int nest = nest_holding(body.name);
    const auto [entry, is_new] = module_of_nest_.emplace(nest, static_cast<int>(parts_.size()));
    if (is_new) {
      Spec part;
      part.name = nest < 0 ? kOwnModule : spec_.modules[at(nest)].name;
      part.place = nest < 0 ? spec_.place : spec_.modules[at(nest)].place;
      part.settings = spec_.settings;
      part.kinds = spec_.kinds;
      part.changing = spec_.changing;
      parts_.push_back(std::move(part));
      plan_.modules.emplace_back();
      ports_.emplace_back();
    }
    module_of_[body.name] = entry->second;
    parts_[at(entry->second)].bodies.push_back(body);
  }

  int module_of_body(const std::string& body) const { return body == "ground" ? kGround : module_of_.at(body); }

  /// What concerns no body that moves belongs to the first module.
  Spec& part(int module) { return parts_.at(at(std::max(module, 0))); }

  static int together(int a, int b) { return a == kGround || a == b ? b : b == kGround ? a : kSeveral; }

  void add_joint(const JointSpec& joint) {
    const int module = together(module_of_body(joint.parent.body), module_of_body(joint.child.body));
    module_of_joint_[joint.name] = module;
    if (module == kSeveral) {
      couple(joint.name, joint.place, [&](CouplingSpec& coupling) { coupling.add(joint); });
      return;
    }
    part(module).joints.push_back(joint);
    plan_.modules[at(std::max(module, 0))].joints.push_back(static_cast<int>(&joint - spec_.joints.data()));
  }

  /// "joint" or "joint.component".
  int module_of_coordinate(const std::string& name) const {
    if (const auto found = module_of_joint_.find(name); found != module_of_joint_.end()) return found->second;
    return module_of_joint_.at(name.substr(0, name.rfind('.')));
  }

  /// Inputs belong to all modules that use them, and so do states that depend on no coordinate.
  int module_of_variables(const Expression& expression, int module) const {
    for (const std::string& variable : expression.variables()) {
      const std::size_t dot = variable.find('.');
      if (dot == std::string::npos || variable.starts_with("u.") || variable.starts_with("@")) continue;
      const std::string name = variable.substr(dot + 1);
      const bool is_coordinate = variable.starts_with("q.") || variable.starts_with("v.");
      const int of = is_coordinate                ? module_of_coordinate(name)
                     : variable.starts_with("z.") ? module_of_state(name)
                                                  : module_of_sensor(name);
      module = together(module, of);
    }
    return module;
  }

  /// Where its rate comes from. States may need one another's values.
  int module_of_state(const std::string& name) const {
    const auto [known, is_new] = module_of_state_.try_emplace(name, kGround);
    if (!is_new) return known->second;
    const auto state = std::ranges::find(spec_.states, name, &StateSpec::name);
    const int module = module_of_variables(state->rate, kGround);
    return module_of_state_[name] = module;
  }

  /// "sensor" or "sensor.component".
  int module_of_sensor(const std::string& name) const {
    auto sensor = std::ranges::find(spec_.sensors, name, &SensorSpec::name);
    if (sensor == spec_.sensors.end())
      sensor = std::ranges::find(spec_.sensors, name.substr(0, name.rfind('.')), &SensorSpec::name);
    return sensor == spec_.sensors.end() ? kGround : module_of(*sensor);
  }

  int module_of(const SensorSpec& sensor) const {
    const int module = together(module_of_body(sensor.frame.body), module_of_body(sensor.b.body));
    return module_of_variables(sensor.value, module);
  }

  static bool uses(const Spec& part, const std::string& variable) {
    const auto is_in = [&](const Expression& expression) {
      return std::ranges::find(expression.variables(), variable) != expression.variables().end();
    };
    const auto in_force = [&](const ForceSpec& force) {
      return is_in(force.value) || is_in(force.law) || std::ranges::any_of(force.force, is_in) ||
             std::ranges::any_of(force.torque, is_in);
    };
    return std::ranges::any_of(part.forces, in_force) || std::ranges::any_of(part.closures, is_in, &ClosureSpec::value) ||
           std::ranges::any_of(part.sensors, is_in, &SensorSpec::value) ||
           std::ranges::any_of(part.states, is_in, &StateSpec::rate);
  }

  /// The output has a state once. One that depends on no coordinate is integrated by every module that uses it, to the same bits.
  void add_states() {
    for (const StateSpec& state : spec_.states) {
      const int module = module_of_state(state.name);
      if (module == kSeveral)
        throw InputError(state.place, fmt::format("state '{}' depends on coordinates of several modules", state.name),
                         "a state for each module, or glue \"none\"");
      if (module != kGround) part(module).states.push_back(state);
    }
    std::set<std::string> taken;
    for (bool more = true; more;) {  // states that others use
      more = false;
      for (const StateSpec& state : spec_.states)
        for (Spec& part : parts_) {
          if (module_of_state(state.name) != kGround || !uses(part, "z." + state.name)) continue;
          if (std::ranges::find(part.states, state.name, &StateSpec::name) != part.states.end()) continue;
          part.states.push_back(state);
          part.states.back().is_copy = !taken.insert(state.name).second;
          more = true;
        }
    }
    for (const StateSpec& state : spec_.states)
      if (module_of_state(state.name) == kGround && !taken.contains(state.name)) parts_.front().states.push_back(state);
  }

  /// The output has an input once.
  void add_inputs() {
    for (const InputSpec& input : spec_.inputs) {
      bool taken = false;
      for (Spec& part : parts_) {
        if (!uses(part, "u." + input.name)) continue;
        part.inputs.push_back(input);
        part.inputs.back().is_copy = taken;
        taken = true;
      }
      if (!taken && !parts_.empty()) parts_.front().inputs.push_back(input);
    }
  }

  void add_closure(const ClosureSpec& closure) {
    if (const CoordinateClosureKind* const kind = find_kind(spec_.kinds->closures, closure.type)) {
      const int module = module_of_variables(kind->relation(closure), kGround);
      if (module == kSeveral)
        couple(closure);
      else
        part(module).closures.push_back(closure);
      return;
    }
    const int module = together(module_of_body(closure.a.body), module_of_body(closure.b.body));
    if (module == kSeveral)
      add_connection(closure);
    else
      part(module).closures.push_back(closure);
  }

  PortRef port(const FrameSpec& frame, Pose<double>& on_ground) {
    if (frame.body == "ground") {
      on_ground = {frame.rotation.toRotationMatrix(), frame.at};
      return {};
    }
    const int module = module_of_.at(frame.body);
    auto& ports = ports_[at(module)];
    const auto known = std::ranges::find_if(ports, [&](const FrameSpec& p) {
      return p.body == frame.body && p.at == frame.at && p.rotation.coeffs() == frame.rotation.coeffs();
    });
    if (known != ports.end()) return {module, static_cast<int>(known - ports.begin())};
    ports.push_back(frame);
    return {module, static_cast<int>(ports.size()) - 1};
  }

  /// What is neither a constraint of two frames nor a linear spring.
  template <class Fill>
  void couple(const std::string& name, const Place& place, Fill fill) {
    CouplingSpec coupling(spec_, name, place);
    fill(coupling);
    plan_.couplings.push_back(coupling.finish());
    for (const std::string& body : plan_.couplings.back().bodies) {
      Pose<double> unused;
      FrameSpec origin;
      origin.body = body;
      plan_.couplings.back().ports.push_back(port(origin, unused));
    }
  }
  void couple(const ClosureSpec& closure) {
    couple(closure.name, closure.place, [&](CouplingSpec& coupling) { coupling.add(closure); });
  }

  void add_connection(const ClosureSpec& closure) {
    const auto* const kind = find_frame_closure_kind(closure.type);
    if ((kind && !kind->is_holonomic()) || closure.side || closure.friction || !closure.active || is_switched(closure.name)) {
      couple(closure);
      return;
    }
    Connection connection;
    connection.name = closure.name;
    connection.a = port(closure.a, connection.ground_a);
    connection.b = port(closure.b, connection.ground_b);
    connection.kind = find_frame_closure_kind(closure.type);
    connection.joint_kind = connection.kind ? nullptr : find_joint_kind(closure.type);
    const bool has_axis = connection.kind ? connection.kind->has_axis : connection.joint_kind->has_axis;
    if (has_axis && closure.axis2)
      connection.axes << closure.axis, *closure.axis2, closure.axis.cross(*closure.axis2);
    else if (has_axis)
      connection.axes = rotation_from_z(closure.axis);
    connection.geometry.pitch = closure.pitch / (2.0 * std::numbers::pi);
    connection.geometry.length = closure.length;
    connection.compliance = closure.compliance;
    connection.place = closure.place;
    if (connection.row_count() > 0) plan_.connections.push_back(std::move(connection));
  }

  void add_force(const ForceSpec& force, const std::string& name) {
    int module = together(module_of_body(force.a.body), module_of_body(force.b.body));
    const bool is_linear = !force.law.is_given() && force.active && !is_switched(force.name);
    if (module == kSeveral && is_linear && find_kind(spec_.kinds->forces, force.type)->links_modules) {
      SpringLink spring;
      spring.name = name;
      spring.a = port(force.a, spring.ground_a);
      spring.b = port(force.b, spring.ground_b);
      spring.stiffness = force.stiffness;
      spring.damping = force.damping;
      spring.length = force.length;
      plan_.springs.push_back(spring);
      return;
    }
    if (!force.joint.empty()) module = together(module, module_of_coordinate(force.joint));
    module = module_of_variables(force.law, module_of_variables(force.value, module));
    for (const Expression& component : force.force) module = module_of_variables(component, module);
    for (const Expression& component : force.torque) module = module_of_variables(component, module);
    if (module == kSeveral) {
      couple(name, force.place, [&](CouplingSpec& coupling) { coupling.add(force, name); });
      return;
    }
    part(module).forces.push_back(force);
    part(module).forces.back().name = name;
  }

  void add_sensor(const SensorSpec& sensor) {
    const int module = module_of(sensor);
    if (module == kSeveral)
      couple(sensor.name, sensor.place, [&](CouplingSpec& coupling) { coupling.add(sensor); });
    else
      part(module).sensors.push_back(sensor);
  }

  /// Every module stands on its own: its bodies hang on the ground by its own joints.
  void check_connected(const Spec& part) const {
    std::set<std::string> reached{"ground"};
    for (bool more = true; more;) {
      more = false;
      for (const JointSpec& joint : part.joints) {
        if (reached.contains(joint.parent.body) == reached.contains(joint.child.body)) continue;
        reached.insert({joint.parent.body, joint.child.body});
        more = true;
      }
    }
    for (const BodySpec& body : part.bodies)
      if (!reached.contains(body.name))
        throw InputError(
            body.place,
            fmt::format("body '{}' is not connected to the ground by joints of its module '{}'", body.name, part.name),
            "a joint in the module itself, of type \"free\" for a module that others carry; or glue \"none\"");
  }

  void finish_module(std::size_t m) {
    check_connected(parts_[m]);
    ModulePlan& module = plan_.modules[m];
    module.name = parts_[m].name;
    module.weight = static_cast<double>(parts_[m].bodies.size());
    module.port_count = static_cast<int>(ports_[m].size());
  }

  Nest nest(int holder) {
    Nest result;
    if (const auto own = module_of_nest_.find(holder); own != module_of_nest_.end()) result.modules.push_back(own->second);
    for (std::size_t m = 0; m < spec_.modules.size(); ++m) {
      if (spec_.modules[m].parent != holder) continue;
      Nest inner = nest(static_cast<int>(m));
      if (inner.nests.empty())
        result.modules.insert(result.modules.end(), inner.modules.begin(), inner.modules.end());
      else
        result.nests.push_back(std::move(inner));
    }
    return result;
  }

  const Spec& spec_;
  AssemblyPlan plan_;
  std::unordered_map<std::string, int> nest_of_;    // module of the spec, by name
  std::unordered_map<int, int> module_of_nest_;     // its own bodies' module of the plan
  std::unordered_map<std::string, int> module_of_;  // by body
  std::unordered_map<std::string, int> module_of_joint_;
  mutable std::unordered_map<std::string, int> module_of_state_;

 public:
  std::vector<Spec> parts_;  // a module each
  std::vector<std::vector<FrameSpec>> ports_;
};

}  // namespace

std::vector<std::pair<int, int>> AssemblyPlan::joined() const {
  std::vector<std::pair<int, int>> pairs;
  const auto add = [&](const PortRef& a, const PortRef& b) {
    if (!a.is_ground() && !b.is_ground()) pairs.emplace_back(a.module, b.module);
  };
  for (const Connection& connection : connections) add(connection.a, connection.b);
  for (const SpringLink& spring : springs) add(spring.a, spring.b);
  for (const CouplingPlan& coupling : couplings)
    for (std::size_t a = 0; a < coupling.ports.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (coupling.ports[a].module != coupling.ports[b].module) add(coupling.ports[b], coupling.ports[a]);
  return pairs;
}

AssemblyPlan plan_assembly(const Spec& spec) {
  Planner planner(spec);
  AssemblyPlan plan = planner.plan();
  for (std::size_t m = 0; m < plan.modules.size(); ++m) {
    const auto part = std::make_shared<const Spec>(std::move(planner.parts_[m]));
    plan.modules[m].make = [part, ports = std::move(planner.ports_[m])](const std::vector<double>& start) {
      return make_model_module(build_model(*part), ports, start);
    };
  }
  return plan;
}

void set_start(AssemblyPlan& plan, const Spec& spec, const std::vector<double>& joint_values) {
  std::vector<std::size_t> ends{0};
  for (const JointSpec& joint : spec.joints) {
    const JointKind& kind = *find_joint_kind(joint.type);
    ends.push_back(ends.back() + kind.positions.size() + kind.velocities.size());
  }
  for (ModulePlan& module : plan.modules) {
    module.start.clear();
    for (const int joint : module.joints)
      module.start.insert(module.start.end(), joint_values.begin() + static_cast<std::ptrdiff_t>(ends[at(joint)]),
                          joint_values.begin() + static_cast<std::ptrdiff_t>(ends[at(joint) + 1]));
  }
}

}  // namespace linkwork
