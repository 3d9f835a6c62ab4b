#include "linkwork/modules/assembly_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <optional>
#include <set>
#include <unordered_map>

#include "linkwork/linalg/index.h"
#include "linkwork/model/binding.h"
#include "linkwork/model/kinds.h"
#include "linkwork/modules/coupling_spec.h"
#include "linkwork/modules/model_module.h"
#include "linkwork/modules/states_module.h"
#include "linkwork/simulation/method_choice.h"
#include "linkwork/spatial/so3.h"

namespace linkwork {

namespace {

constexpr int kGround = -1, kSeveral = -2;

class Planner {
 public:
  Planner(const Spec& spec, bool shares_ports)
      : spec_(spec),
        remote_(remote_modules(spec)),
        shares_ports_(shares_ports && (spec.settings.glue.name == "auto" || spec.settings.glue.name == "hierarchical")) {
    for (std::size_t m = 0; m < spec.modules.size(); ++m) nest_of_[spec.modules[m].name] = static_cast<int>(m);
  }

  AssemblyPlan plan() {
    plan_.name = spec_.name;
    plan_.settings = spec_.settings;
    if (spec_.settings.formulation.name != "auto")
      plan_.settings.stabilization = fitting_stabilization(spec_.settings.formulation, spec_.settings.stabilization, plan_.notes);
    settings_ = plan_.settings;
    refuse_homeless();
    check_sensor_cycles(spec_);
    for (const BodySpec& body : spec_.bodies) {
      add_remote_modules(body.module);
      add_body(body);
    }
    add_remote_modules(static_cast<int>(spec_.modules.size()));
    for (const JointSpec& joint : spec_.joints) add_joint(joint);
    find_shared_states();
    for (const ClosureSpec& closure : spec_.closures) add_closure(closure);
    const std::vector<std::string> names = output_names(spec_.forces);
    for (std::size_t k = 0; k < names.size(); ++k) add_force(spec_.forces[k], names[k]);
    for (const SensorSpec& sensor : spec_.sensors) add_sensor(sensor);
    add_states();
    add_inputs();
    if (with_states_) add_coupling(*with_states_);
    plan_.inputs = spec_.inputs;
    plan_.starts_at_ports = remote_ != nullptr;
    for (std::size_t m = 0; m < parts_.size(); ++m) finish_module(m);
    std::vector<std::vector<int>> inner_of(spec_.modules.size() + 1);
    for (std::size_t m = 0; m < spec_.modules.size(); ++m) {
      const int parent = spec_.modules[m].parent;
      (parent < 0 ? inner_of.back() : inner_of[at(parent)]).push_back(static_cast<int>(m));
    }
    plan_.nest = nest(-1, inner_of);
    if (with_states_) add_states_module();
    if (!plan_.settings.tolerance_in_metres)  // until the whole is known
      plan_.settings.constraint_tolerance *= std::max(kShortestDistance, longest_distance(spec_));
    return std::move(plan_);
  }

 private:
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

  void add_body(const BodySpec& body) {
    const int nest = body.module;
    const auto [entry, is_new] = module_of_nest_.emplace(nest, static_cast<int>(parts_.size()));
    if (is_new) {
      Spec part;
      part.name = nest < 0 ? kOwnModule : spec_.modules[at(nest)].name;
      part.place = nest < 0 ? spec_.place : spec_.modules[at(nest)].place;
      part.settings = settings_;
      part.kinds = spec_.kinds;
      part.changing = spec_.changing;
      parts_.push_back(std::move(part));
      plan_.modules.emplace_back();
      ports_.emplace_back();
    }
    module_of_[body.name] = entry->second;
    parts_[at(entry->second)].bodies.push_back(body);
    parts_[at(entry->second)].bodies.back().module = -1;  // the part is a model of its own
  }

  /// Modules on other hosts take their place among the others: those before module `nest` of the spec.
  void add_remote_modules(int nest) {
    for (; next_nest_ < nest; ++next_nest_) {
      if (remote_ == nullptr) continue;
      const ModuleSpec& module = spec_.modules[at(next_nest_)];
      const auto found = std::ranges::find(remote_->modules, module.name, &RemoteModuleSpec::name);
      if (found == remote_->modules.end()) continue;
      module_of_nest_.emplace(next_nest_, static_cast<int>(parts_.size()));
      Spec part;
      part.name = module.name;
      parts_.push_back(std::move(part));
      plan_.modules.emplace_back().remote = *found;
      ports_.emplace_back();
    }
  }

  bool is_remote(int module) const { return module >= 0 && plan_.modules[at(module)].remote; }

  /// A port of a module on another host stands for a body.
  int module_of_body(const std::string& body) const {
    if (body == "ground") return kGround;
    if (const RemoteModuleSpec* const remote = remote_ ? remote_->of_body(body) : nullptr)
      return module_of_nest_.at(nest_of_.at(remote->name));
    return module_of_.at(body);
  }

  /// What concerns no body that moves belongs to the first module.
  Spec& part(int module) {
    for (int first = 0; module < 0 && first < static_cast<int>(parts_.size()); ++first)
      if (!is_remote(first)) module = first;
    if (module < 0 || is_remote(module))
      throw InputError(spec_.place, "there is something in the model that belongs to none of its modules",
                       "all of it in the modules, or a module that is here");
    return parts_[at(module)];
  }

  static int together(int a, int b) { return a == kGround || a == b ? b : b == kGround ? a : kSeveral; }

  void add_joint(const JointSpec& joint) {
    const int module = together(module_of_body(joint.parent.body), module_of_body(joint.child.body));
    module_of_joint_[joint.name] = module;
    if (module == kSeveral) {
      couple(joint, joint.name);
      return;
    }
    if (is_remote(module))
      throw InputError(joint.place, fmt::format("the joint '{}' is on a module that another host computes", joint.name),
                       "a [[connection]] of its port");
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
    if (shared_states_.contains(name)) return kSeveral;
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

  int module_of(const ClosureSpec& closure) const {
    const CoordinateClosureKind* const kind = find_kind(spec_.kinds->closures, closure.type);
    const int module = kind ? module_of_variables(kind->relation(closure), kGround)
                            : together(module_of_body(closure.a.body), module_of_body(closure.b.body));
    return closure.friction && closure.friction->load ? module_of_variables(*closure.friction->load, module) : module;
  }

  int module_of(const ForceSpec& force) const {
    int module = together(module_of_body(force.a.body), module_of_body(force.b.body));
    if (!force.joint.empty()) module = together(module, module_of_coordinate(force.joint));
    module = module_of_variables(force.law, module_of_variables(force.value, module));
    for (const Expression& component : force.force) module = module_of_variables(component, module);
    for (const Expression& component : force.torque) module = module_of_variables(component, module);
    return module;
  }

  // --- states that concern several modules

  /// The states that an expression uses, through sensors too.
  void collect_states(const Expression& expression, std::set<std::string>& states) const {
    for (const std::string& variable : expression.variables()) {
      const std::size_t dot = variable.find('.');
      if (dot == std::string::npos || variable.starts_with("@")) continue;
      const std::string name = variable.substr(dot + 1);
      if (variable.starts_with("z."))
        states.insert(name);
      else if (!variable.starts_with("q.") && !variable.starts_with("v.") && !variable.starts_with("u."))
        if (const auto sensor = std::ranges::find(spec_.sensors, name, &SensorSpec::name); sensor != spec_.sensors.end())
          collect_states(sensor->value, states);
    }
  }
  std::set<std::string> states_of(const ClosureSpec& closure) const {
    std::set<std::string> states;
    if (const CoordinateClosureKind* const kind = find_kind(spec_.kinds->closures, closure.type))
      collect_states(kind->relation(closure), states);
    if (closure.friction && closure.friction->load) collect_states(*closure.friction->load, states);
    return states;
  }
  std::set<std::string> states_of(const ForceSpec& force) const {
    std::set<std::string> states;
    collect_states(force.value, states);
    collect_states(force.law, states);
    for (const Expression& component : force.force) collect_states(component, states);
    for (const Expression& component : force.torque) collect_states(component, states);
    return states;
  }
  std::set<std::string> states_of(const SensorSpec& sensor) const {
    std::set<std::string> states;
    collect_states(sensor.value, states);
    return states;
  }
  std::set<std::string> states_of(const JointSpec&) const { return {}; }

  /// Those with rates, or uses, of several modules. They are integrated apart, and all that uses them is one coupling.
  void find_shared_states() {
    const auto share = [&](const std::set<std::string>& states) {
      const std::size_t before = shared_states_.size();
      shared_states_.insert(states.begin(), states.end());
      if (shared_states_.size() > before) module_of_state_.clear();
      return shared_states_.size() > before;
    };
    const auto share_all = [&](const auto& elements) {
      return std::ranges::count_if(
                 elements, [&](const auto& element) { return module_of(element) == kSeveral && share(states_of(element)); }) > 0;
    };
    for (bool more = !spec_.states.empty(); more;) {
      more = false;
      for (const StateSpec& state : spec_.states) {
        if (module_of_state(state.name) != kSeveral) continue;
        std::set<std::string> own{state.name};
        collect_states(state.rate, own);
        more = share(own) || more;
      }
      more = share_all(spec_.closures) || more;
      more = share_all(spec_.forces) || more;
      more = share_all(spec_.sensors) || more;
    }
    if (shared_states_.empty()) return;
    with_states_.emplace(spec_, kStatesModule, spec_.place);
    for (const StateSpec& state : spec_.states)
      if (shared_states_.contains(state.name)) with_states_->add(state);
  }

  void add_states_module() {
    std::vector<StateSpec> states;
    for (const StateSpec& state : spec_.states)
      if (shared_states_.contains(state.name)) states.push_back(state);
    const int ports = (static_cast<int>(states.size()) + kStatesPerPort - 1) / kStatesPerPort;
    const auto index = static_cast<int>(plan_.modules.size());
    for (int p = 0; p < ports; ++p) plan_.couplings.back().ports.push_back({index, p});
    plan_.nest.modules.push_back(index);
    plan_.modules.push_back({kStatesModule, ports, 0.1, [states, settings = settings_](const std::vector<double>&) {
                               return make_states_module(states, settings);
                             }});
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
      if (module != kGround && module != kSeveral) part(module).states.push_back(state);
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
      if (module_of_state(state.name) == kGround && !taken.contains(state.name)) part(kGround).states.push_back(state);
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
      if (!taken && !parts_.empty()) part(kGround).inputs.push_back(input);
    }
  }

  void add_closure(const ClosureSpec& closure) {
    const int module = module_of(closure);
    if (module != kSeveral && !is_remote(module))
      part(module).closures.push_back(closure);
    else if (find_kind(spec_.kinds->closures, closure.type))
      couple(closure);
    else
      add_connection(closure);
  }

  static Pose<double> pose_of(const FrameSpec& frame) { return {frame.rotation.toRotationMatrix(), frame.at}; }

  /// Frames of one body may share a port.
  PortRef port(const FrameSpec& frame, Pose<double>& on_ground, std::optional<Pose<double>>& in_port) {
    if (frame.body != "ground" && shares_ports_) {
      const int module = module_of_body(frame.body);
      const auto& ports = ports_[at(module)];
      const auto known = std::ranges::find(ports, frame.body, &FrameSpec::body);
      if (known != ports.end() && !is_remote(module)) {
        if (known->at != frame.at || known->rotation.coeffs() != frame.rotation.coeffs())
          in_port = pose_of(*known).inverse() * pose_of(frame);
        return {module, static_cast<int>(known - ports.begin())};
      }
    }
    return port(frame, on_ground);
  }

  PortRef port(const FrameSpec& frame, Pose<double>& on_ground) {
    if (frame.body == "ground") {
      on_ground = pose_of(frame);
      return {};
    }
    const int module = module_of_body(frame.body);
    if (is_remote(module)) {
      std::vector<std::string>& names = plan_.modules[at(module)].ports;
      const std::string name = frame.body.substr(frame.body.rfind('.') + 1);
      const auto known = std::ranges::find(names, name);
      const auto place = static_cast<int>(known - names.begin());
      if (known == names.end()) names.push_back(name);
      return {module, place};
    }
    auto& ports = ports_[at(module)];
    const auto known = std::ranges::find_if(ports, [&](const FrameSpec& p) {
      return p.body == frame.body && p.at == frame.at && p.rotation.coeffs() == frame.rotation.coeffs();
    });
    if (known != ports.end()) return {module, static_cast<int>(known - ports.begin())};
    ports.push_back(frame);
    return {module, static_cast<int>(ports.size()) - 1};
  }

  /// What is neither a constraint of two frames nor a linear spring.
  template <class Element, class... More>
  void couple(const Element& element, const std::string& name, const More&... more) {
    if (with_states_ && !states_of(element).empty()) return with_states_->add(element, more...);
    CouplingSpec coupling(spec_, name, element.place);
    coupling.add(element, more...);
    add_coupling(coupling);
  }
  void add_coupling(CouplingSpec& coupling) {
    plan_.couplings.push_back(coupling.finish());
    for (const std::string& body : plan_.couplings.back().bodies) {
      Pose<double> unused;
      FrameSpec origin;
      origin.body = body;
      plan_.couplings.back().ports.push_back(port(origin, unused));
    }
  }
  void couple(const ClosureSpec& closure) { couple(closure, closure.name); }

  void add_connection(const ClosureSpec& closure) {
    const auto* const kind = find_frame_closure_kind(closure.type);
    if ((kind && !kind->is_holonomic()) || closure.side || closure.friction || !closure.active || is_switched(closure.name)) {
      for (const FrameSpec* frame : {&closure.a, &closure.b})
        if (const int module = module_of_body(frame->body); is_remote(module))
          refuse_at_remote(module, closure.name, closure.place);
      couple(closure);
      return;
    }
    Connection connection;
    connection.name = closure.name;
    connection.a = port(closure.a, connection.ground_a, connection.in_a);
    connection.b = port(closure.b, connection.ground_b, connection.in_b);
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

  [[noreturn]] void refuse_at_remote(int module, const std::string& name, const Place& place) const {
    throw InputError(place,
                     fmt::format("'{}' asks more of the module '{}' than the motion of its ports, and another host computes it",
                                 name, plan_.modules[at(module)].remote->name),
                     "a constraint of two frames that always holds, or a linear spring");
  }

  void add_force(const ForceSpec& force, const std::string& name) {
    int module = together(module_of_body(force.a.body), module_of_body(force.b.body));
    const bool is_linear = !force.law.is_given() && force.active && !is_switched(force.name);
    const bool links = is_linear && find_kind(spec_.kinds->forces, force.type)->links_modules;
    for (const FrameSpec* frame : {&force.a, &force.b})
      if (const int own = module_of_body(frame->body); is_remote(own) && !links) refuse_at_remote(own, name, force.place);
    if ((module == kSeveral || is_remote(module)) && is_linear && find_kind(spec_.kinds->forces, force.type)->links_modules) {
      SpringLink spring;
      spring.name = name;
      spring.a = port(force.a, spring.ground_a, spring.in_a);
      spring.b = port(force.b, spring.ground_b, spring.in_b);
      spring.stiffness = force.stiffness;
      spring.damping = force.damping;
      spring.length = force.length;
      plan_.springs.push_back(spring);
      return;
    }
    module = module_of(force);
    if (module == kSeveral) {
      couple(force, name, name);
      return;
    }
    part(module).forces.push_back(force);
    part(module).forces.back().name = name;
  }

  void add_sensor(const SensorSpec& sensor) {
    const int module = module_of(sensor);
    if (module == kSeveral)
      couple(sensor, sensor.name);
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
    ModulePlan& module = plan_.modules[m];
    module.name = parts_[m].name;
    if (module.remote) {
      module.port_count = static_cast<int>(module.ports.size());
      return;
    }
    check_connected(parts_[m]);
    module.weight = static_cast<double>(parts_[m].bodies.size());
    module.port_count = static_cast<int>(ports_[m].size());
  }

  /// `inner_of`: the nests in each, of the whole last.
  Nest nest(int holder, const std::vector<std::vector<int>>& inner_of) {
    Nest result;
    if (const auto own = module_of_nest_.find(holder); own != module_of_nest_.end()) result.modules.push_back(own->second);
    for (const int m : holder < 0 ? inner_of.back() : inner_of[at(holder)]) {
      Nest inner = nest(m, inner_of);
      if (inner.nests.empty())
        result.modules.insert(result.modules.end(), inner.modules.begin(), inner.modules.end());
      else
        result.nests.push_back(std::move(inner));
    }
    return result;
  }

  const Spec& spec_;
  const RemoteModules* remote_;  // null: there are none
  const bool shares_ports_;
  int next_nest_ = 0;  // of spec_.modules, that remote ones have yet to be looked for among
  AssemblyPlan plan_;
  Settings settings_;                               // of the modules
  std::unordered_map<std::string, int> nest_of_;    // module of the spec, by name
  std::unordered_map<int, int> module_of_nest_;     // its own bodies' module of the plan
  std::unordered_map<std::string, int> module_of_;  // by body
  std::unordered_map<std::string, int> module_of_joint_;
  mutable std::unordered_map<std::string, int> module_of_state_;
  std::set<std::string> shared_states_;
  std::optional<CouplingSpec> with_states_;  // they, and all that uses them

 public:
  std::vector<Spec> parts_;  // a module each
  std::vector<std::vector<FrameSpec>> ports_;
};

}  // namespace

AssemblyPlan plan_assembly(const Spec& spec, bool shares_ports) {
  Planner planner(spec, shares_ports);
  AssemblyPlan plan = planner.plan();
  for (std::size_t m = 0; m < planner.parts_.size(); ++m) {
    if (plan.modules[m].remote) continue;
    const auto part = std::make_shared<const Spec>(std::move(planner.parts_[m]));
    plan.modules[m].part = part;
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
