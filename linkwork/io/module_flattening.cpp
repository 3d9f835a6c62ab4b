#include "linkwork/io/module_flattening.h"

#include <iterator>
#include <utility>

namespace linkwork {
namespace {

class Prefixer {
 public:
  explicit Prefixer(const std::string& prefix) : prefix_(prefix) {}

  void name(std::string& name) const { name = prefix_ + name; }

  void optional_name(std::string& text) const {
    if (!text.empty()) name(text);
  }

  void frame(FrameSpec& frame) const {
    if (frame.body != "ground") name(frame.body);
  }

  void expression(Expression& expression) const {
    if (expression.is_constant()) return;
    expression = expression.renamed([this](const std::string& variable) {
      if (variable[0] != '@' && variable.find('.') == std::string::npos) return variable;  // t; d and dv of a spring
      const std::size_t after = variable[0] == '@' ? 1 : variable.find('.') + 1;           // "@", "q.", "lambda."
      return variable.substr(0, after) + prefix_ + variable.substr(after);
    });
  }

 private:
  const std::string& prefix_;
};

template <class T>
void move_behind(std::vector<T>& whole, std::vector<T>&& part) {
  whole.insert(whole.end(), std::make_move_iterator(part.begin()), std::make_move_iterator(part.end()));
}

}  // namespace

void prefix_names(Spec& spec, const std::string& prefix) {
  const Prefixer prefixed(prefix);
  for (BodySpec& body : spec.bodies) prefixed.name(body.name);
  for (JointSpec& joint : spec.joints) {
    prefixed.name(joint.name);
    prefixed.frame(joint.parent);
    prefixed.frame(joint.child);
  }
  for (ClosureSpec& closure : spec.closures) {
    prefixed.name(closure.name);
    prefixed.frame(closure.a);
    prefixed.frame(closure.b);
    for (std::string& joint : closure.joints) prefixed.name(joint);
    prefixed.expression(closure.value);
    if (closure.friction && closure.friction->load) prefixed.expression(*closure.friction->load);
  }
  for (ForceSpec& force : spec.forces) {
    prefixed.optional_name(force.name);
    prefixed.optional_name(force.joint);
    prefixed.frame(force.a);
    prefixed.frame(force.b);
    prefixed.expression(force.value);
    prefixed.expression(force.law);
    for (Expression& component : force.force) prefixed.expression(component);
    for (Expression& component : force.torque) prefixed.expression(component);
  }
  for (SensorSpec& sensor : spec.sensors) {
    prefixed.name(sensor.name);
    prefixed.frame(sensor.frame);
    prefixed.frame(sensor.b);
    prefixed.expression(sensor.value);
  }
  for (InputSpec& input : spec.inputs) {
    prefixed.name(input.name);
    prefixed.expression(input.value);
  }
  for (StateSpec& state : spec.states) {
    prefixed.name(state.name);
    prefixed.expression(state.rate);
  }
  for (BlockSpec& block : spec.blocks) {
    prefixed.name(block.name);
    for (Expression& input : block.inputs) prefixed.expression(input);
  }
  for (EventSpec& event : spec.events) {
    prefixed.name(event.name);
    prefixed.expression(event.when);
    for (ActionSpec& action : event.actions) {
      prefixed.optional_name(action.name);
      prefixed.expression(action.value);
    }
  }
  for (ParameterSpec& parameter : spec.changing) prefixed.name(parameter.name);
  for (PortSpec& port : spec.ports) {
    prefixed.name(port.name);
    prefixed.frame(port.frame);
  }
  for (VisualSpec& visual : spec.visuals) prefixed.frame(visual.frame);
  for (ModuleSpec& module : spec.modules) prefixed.name(module.name);
}

void append(Spec& whole, Spec&& part) {
  const int before = static_cast<int>(whole.modules.size());
  for (BodySpec& body : part.bodies)
    if (body.module >= 0) body.module += before;
  move_behind(whole.bodies, std::move(part.bodies));
  move_behind(whole.joints, std::move(part.joints));
  move_behind(whole.closures, std::move(part.closures));
  move_behind(whole.forces, std::move(part.forces));
  move_behind(whole.sensors, std::move(part.sensors));
  move_behind(whole.inputs, std::move(part.inputs));
  move_behind(whole.states, std::move(part.states));
  move_behind(whole.blocks, std::move(part.blocks));
  move_behind(whole.events, std::move(part.events));
  move_behind(whole.changing, std::move(part.changing));
  move_behind(whole.ports, std::move(part.ports));
  move_behind(whole.visuals, std::move(part.visuals));
  move_behind(whole.notes, std::move(part.notes));
  for (ModuleSpec& module : part.modules)
    if (module.parent >= 0) module.parent += before;
  move_behind(whole.modules, std::move(part.modules));
}

}  // namespace linkwork
