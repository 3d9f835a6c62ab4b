#include "linkwork/model/binding.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/model/kinds.h"

namespace linkwork {

Pose<double> frame_pose(const FrameSpec& frame) { return {frame.rotation.toRotationMatrix(), frame.at}; }

Binding::Binding(const Spec& spec, const Model& model) : spec_(spec), model_(model) {
  body_of_["ground"] = 0;
  for (std::size_t k = 0; k < spec.bodies.size(); ++k) body_of_[spec.bodies[k].name] = static_cast<int>(k) + 1;
  for (std::size_t j = 0; j < spec.joints.size(); ++j) joint_of_[spec.joints[j].name] = static_cast<int>(j);
}

NodeFrame Binding::frame(const FrameSpec& spec, const Mat3<double>& axes) const {
  const Body& on = model_.bodies[static_cast<std::size_t>(body(spec.body))];
  return {on.node, on.X_NB * frame_pose(spec) * Pose<double>{axes, Vec3<double>::Zero()}};
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
  for (const std::string& name : expression.variables()) bound.slots.push_back(variable(name, expression.place()));
  return bound;
}

Variable Binding::variable(const std::string& name, const Place& place) const {
  using Kind = Variable::Kind;
  if (name == "t") return {};
  if (name[0] == '@') {
    const auto at = std::ranges::find(model_.parameters, name.substr(1), &Parameter::name);
    return {.kind = Kind::kParameter, .index = static_cast<int>(at - model_.parameters.begin())};
  }
  const std::size_t dot = name.find('.');
  const std::string what = name.substr(0, dot), of = name.substr(dot + 1);
  if (what == "q") return {.kind = Kind::kPosition, .coordinate = coordinate(of, false, place)};
  if (what == "v") return {.kind = Kind::kVelocity, .coordinate = coordinate(of, true, place)};
  if (what == "lambda") return row_variable(Kind::kMultiplier, of, place);
  if (what == "error") return row_variable(Kind::kError, of, place);
  if (what == "rate") return row_variable(Kind::kErrorRate, of, place);
  return sensor_variable(what, of, place);
}

Variable Binding::row_variable(Variable::Kind kind, const std::string& row, const Place& place) const {
  const auto at = std::ranges::find(model_.rows, row, &ConstraintRow::name);
  if (at != model_.rows.end()) return {.kind = kind, .index = static_cast<int>(at - model_.rows.begin())};
  std::vector<std::string> known;
  for (const ConstraintRow& r : model_.rows) known.push_back(r.name);
  throw unknown_name(place, "row", row, known);
}

/// "<prefix>.<sensor>" or "<prefix>.<sensor>.<component>".
Variable Binding::sensor_variable(const std::string& prefix, const std::string& of, const Place& place) const {
  const auto has_prefix = [&](const SensorKind& kind) {
    return kind.prefix == prefix || (!kind.rate_prefix.empty() && kind.rate_prefix == prefix);
  };
  const auto kind = std::ranges::find_if(spec_.kinds->sensors, has_prefix);
  if (kind == spec_.kinds->sensors.end()) throw InputError(place, fmt::format("there is no '{}.{}'", prefix, of));
  const bool single = kind->components.size() == 1;
  const std::size_t dot = single ? std::string::npos : of.rfind('.');
  const std::string name = of.substr(0, dot), component = dot == std::string::npos ? "" : of.substr(dot + 1);
  std::vector<std::string> known;
  for (const SensorSpec& sensor : spec_.sensors)
    if (sensor.type == kind->name) known.push_back(sensor.name);
  if (std::ranges::find(known, name) == known.end()) throw unknown_name(place, fmt::format("{} sensor", kind->name), name, known);
  const auto at = std::ranges::find(kind->components, component);
  if (at == kind->components.end())
    throw InputError(place, fmt::format("the {} '{}' has no component '{}'", kind->name, name, component),
                     fmt::format("one of: {}", fmt::join(kind->components, ", ")));
  const auto sensor = std::ranges::find(spec_.sensors, name, &SensorSpec::name);
  return {.kind = kind->prefix == prefix ? Variable::Kind::kSensor : Variable::Kind::kSensorRate,
          .index = static_cast<int>(sensor - spec_.sensors.begin()),
          .component = static_cast<int>(at - kind->components.begin())};
}

}  // namespace linkwork
