#include "linkwork/model/binding.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>

#include "linkwork/model/kinds.h"
#include "linkwork/model/signal_block.h"

namespace linkwork {

namespace {

struct SensorVariable {
  const SensorKind* kind = nullptr;  // null: no kind has this prefix
  std::string name, component;
};

/// "<prefix>.<sensor>" or "<prefix>.<sensor>.<component>".
SensorVariable sensor_variable_of(const Spec& spec, const std::string& variable) {
  const std::size_t dot = variable.find('.');
  if (dot == std::string::npos || variable[0] == '@') return {};
  const std::string prefix = variable.substr(0, dot), of = variable.substr(dot + 1);
  const auto has_prefix = [&](const SensorKind& kind) {
    return kind.prefix == prefix || (!kind.rate_prefix.empty() && kind.rate_prefix == prefix);
  };
  const auto kind = std::ranges::find_if(spec.kinds->sensors, has_prefix);
  if (kind == spec.kinds->sensors.end()) return {};
  const std::size_t last = kind->components.size() == 1 ? std::string::npos : of.rfind('.');
  return {&*kind, of.substr(0, last), last == std::string::npos ? "" : of.substr(last + 1)};
}

}  // namespace

void check_sensor_cycles(const Spec& spec) {
  enum class Visit { kNot, kOpen, kDone };
  std::vector<Visit> visits(spec.sensors.size(), Visit::kNot);
  std::vector<std::string> path;
  std::unordered_map<std::string, std::size_t> sensor_of;
  for (std::size_t k = 0; k < spec.sensors.size(); ++k) sensor_of[spec.sensors[k].name] = k;
  const std::function<void(std::size_t)> visit = [&](std::size_t k) {
    const SensorSpec& sensor = spec.sensors[k];
    path.push_back(sensor.name);
    if (visits[k] == Visit::kOpen) {
      const auto from = std::ranges::find(path, sensor.name);
      throw InputError(sensor.place,
                       fmt::format("sensors need one another's values: {}", fmt::join(std::vector(from, path.end()), " -> ")),
                       "sensors that do not depend on themselves");
    }
    if (visits[k] == Visit::kNot) {
      visits[k] = Visit::kOpen;
      for (const std::string& variable : sensor.value.variables()) {
        const SensorVariable of = sensor_variable_of(spec, variable);
        const auto other = sensor_of.find(of.name);
        if (of.kind != nullptr && other != sensor_of.end()) visit(other->second);
      }
      visits[k] = Visit::kDone;
    }
    path.pop_back();
  };
  for (std::size_t k = 0; k < visits.size(); ++k) visit(k);
}

Pose<double> frame_pose(const FrameSpec& frame) { return {frame.rotation.toRotationMatrix(), frame.at}; }

Binding::Binding(const Spec& spec, const Model& model) : spec_(spec), model_(model) {
  body_of_["ground"] = 0;
  for (std::size_t k = 0; k < spec.bodies.size(); ++k) body_of_[spec.bodies[k].name] = static_cast<int>(k) + 1;
  for (std::size_t j = 0; j < spec.joints.size(); ++j) joint_of_[spec.joints[j].name] = static_cast<int>(j);
  for (std::size_t k = 0; k < spec.sensors.size(); ++k) sensor_of_[spec.sensors[k].name] = static_cast<int>(k);
  check_sensor_cycles(spec);
}

NodeFrame Binding::frame(const FrameSpec& spec, const Mat3<double>& axes) const {
  const int index = body(spec.body);
  const Body& on = model_.bodies[static_cast<std::size_t>(index)];
  return {on.node, on.X_NB * frame_pose(spec) * Pose<double>{axes, Vec3<double>::Zero()}, index};
}

Coordinate Binding::coordinate(const std::string& name, bool velocity, const Place& place) const {
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

BoundExpression Binding::bind(const Expression& expression) const {
  BoundExpression bound{.expression = expression, .slots = {}};
  for (std::size_t slot = 0; slot < expression.variables().size(); ++slot)
    bound.slots.push_back(variable(expression.variables()[slot], expression.place_of_variable(slot)));
  const auto stands_for_something = [&](const std::string& name) { return meaning(name) != nullptr; };
  if (std::ranges::none_of(expression.variables(), stands_for_something)) return bound;
  bound.expression = expression.substituted([&](const std::string& name) { return meaning(name); });
  bound.slots.clear();
  for (const std::string& name : bound.expression.variables()) bound.slots.push_back(variable(name, expression.place()));
  return bound;
}

/// Null for variables that stay.
const Expression* Binding::meaning(const std::string& name) const {
  if (const auto known = meanings_.find(name); known != meanings_.end()) return &known->second;
  if (name.starts_with("u.")) {
    const auto input = std::ranges::find(spec_.inputs, name.substr(2), &InputSpec::name);
    if (input == spec_.inputs.end() || !input->data) return nullptr;
    return &meanings_.emplace(name, Expression::of_curve(input->data, "t")).first->second;
  }
  const SensorVariable of = sensor_variable_of(spec_, name);
  const auto sensor = sensor_of_.find(of.name);
  if (of.kind == nullptr || !of.kind->is_expression || sensor == sensor_of_.end()) return nullptr;
  const Expression& value = spec_.sensors[static_cast<std::size_t>(sensor->second)].value;
  Expression whole = value.substituted([&](const std::string& inner) { return meaning(inner); });
  return &meanings_.emplace(name, std::move(whole)).first->second;
}

template <class T>
int Binding::index_of(const std::vector<T>& list, const std::string& name, const char* what, const Place& place) {
  const auto found = std::ranges::find(list, name, &T::name);
  if (found != list.end()) return static_cast<int>(found - list.begin());
  std::vector<std::string> known;
  for (const T& one : list) known.push_back(one.name);
  throw unknown_name(place, what, name, known);
}

Variable Binding::variable(const std::string& name, const Place& place) const {
  using Kind = Variable::Kind;
  if (name == "t") return {};
  if (name == "d" || name == "dv")
    return {.kind = name == "d" ? Kind::kSpan : Kind::kSpanRate, .index = static_cast<int>(model_.springs.size())};
  if (name[0] == '@') return {.kind = Kind::kParameter, .index = index_of(model_.parameters, name.substr(1), "parameter", place)};
  const std::size_t dot = name.find('.');
  const std::string what = name.substr(0, dot), of = name.substr(dot + 1);
  if (what == "q") return {.kind = Kind::kPosition, .coordinate = coordinate(of, false, place)};
  if (what == "v") return {.kind = Kind::kVelocity, .coordinate = coordinate(of, true, place)};
  if (what == "u") return {.kind = Kind::kInput, .index = index_of(spec_.inputs, of, "input", place)};
  if (what == "z") return {.kind = Kind::kState, .index = index_of(spec_.states, of, "state", place)};
  if (what == "y") return block_variable(of, place);
  if (what == "lambda") return {.kind = Kind::kMultiplier, .index = index_of(model_.rows, of, "row", place)};
  if (what == "error") return {.kind = Kind::kError, .index = index_of(model_.rows, of, "row", place)};
  if (what == "rate") return {.kind = Kind::kErrorRate, .index = index_of(model_.rows, of, "row", place)};
  return sensor_variable(name, place);
}

/// "<block>.<output>", of which both may have dots.
Variable Binding::block_variable(const std::string& name, const Place& place) const {
  std::vector<std::string> known;
  for (std::size_t k = 0; k < spec_.blocks.size(); ++k) {
    const std::vector<SignalBlock::Output>& outputs = spec_.blocks[k].block->outputs;
    for (std::size_t o = 0; o < outputs.size(); ++o) {
      known.push_back(spec_.blocks[k].name + "." + outputs[o].name);
      if (known.back() == name)
        return {.kind = Variable::Kind::kBlockOutput, .index = static_cast<int>(k), .component = static_cast<int>(o)};
    }
  }
  throw unknown_name(place, "output of an FMU", name, known);
}

Variable Binding::sensor_variable(const std::string& variable, const Place& place) const {
  const auto [kind, name, component] = sensor_variable_of(spec_, variable);
  if (kind == nullptr) throw InputError(place, fmt::format("there is no '{}'", variable), "the name of a sensor");
  std::vector<std::string> known;
  for (const SensorSpec& sensor : spec_.sensors)
    if (sensor.type == kind->name) known.push_back(sensor.name);
  if (std::ranges::find(known, name) == known.end()) throw unknown_name(place, fmt::format("{} sensor", kind->name), name, known);
  if (kind->is_output_only)
    throw InputError(place, fmt::format("'{}' shows accelerations, which an expression cannot use", variable),
                     "sensors of positions and velocities: point, body, distance");
  const auto at = std::ranges::find(kind->components, component);
  if (at == kind->components.end())
    throw InputError(place, fmt::format("the {} '{}' has no component '{}'", kind->name, name, component),
                     fmt::format("one of: {}", fmt::join(kind->components, ", ")));
  return {.kind = variable.starts_with(std::string(kind->prefix) + ".") ? Variable::Kind::kSensor : Variable::Kind::kSensorRate,
          .index = sensor_of_.at(name),
          .component = static_cast<int>(at - kind->components.begin())};
}

}  // namespace linkwork
