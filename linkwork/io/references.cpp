#include "linkwork/io/references.h"

#include <fmt/format.h>

#include <algorithm>

namespace linkwork {
namespace {

using JointKinds = std::unordered_map<std::string, const JointKind*>;

std::vector<std::string> joint_names(const std::vector<const Spec*>& specs) {
  std::vector<std::string> names;
  for (const Spec* spec : specs) {
    for (const JointSpec& joint : spec->joints) names.push_back(joint.name);
  }
  return names;
}

std::vector<std::string> body_names(const std::vector<const Spec*>& specs) {
  std::vector<std::string> names{"ground"};
  for (const Spec* spec : specs) {
    for (const BodySpec& body : spec->bodies) names.push_back(body.name);
  }
  return names;
}

std::vector<std::string> with_joint(const std::string& joint, const std::vector<std::string>& components) {
  std::vector<std::string> names;
  names.reserve(components.size());
  for (const std::string& component : components) names.push_back(joint + "." + component);
  return names;
}

/// Checks "joint" or "joint.component" against the components of the joint's positions or velocities.
class CoordinateCheck {
 public:
  CoordinateCheck(const std::vector<const Spec*>& specs, const JointKinds& kinds,
                  const std::vector<std::string> JointKind::*components)
      : specs_(specs), kinds_(kinds), components_(components) {}

  void check(const std::string& name, const Place& place, bool quaternions_allowed) const {
    if (const auto joint = kinds_.find(name); joint != kinds_.end()) {
      check_alone(name, *joint->second, place);
      return;
    }
    const std::size_t dot = name.rfind('.');
    const auto joint = dot == std::string::npos ? kinds_.end() : kinds_.find(name.substr(0, dot));
    if (joint == kinds_.end()) throw unknown_name(place, "joint", name, joint_names(specs_));
    check_component(joint->first, name.substr(dot + 1), *joint->second, place, quaternions_allowed);
  }

 private:
  void check_alone(const std::string& joint, const JointKind& kind, const Place& place) const {
    const auto& components = kind.*components_;
    if (components.size() == 1) return;
    if (components.empty()) {
      throw InputError(place, fmt::format("the {} joint '{}' has no coordinates", kind.name, joint), "a joint that moves");
    }
    throw InputError(place, fmt::format("the {} joint '{}' has {} coordinates", kind.name, joint, components.size()),
                     "one of: " + listed(with_joint(joint, components)));
  }

  void check_component(const std::string& joint, const std::string& component, const JointKind& kind, const Place& place,
                       bool quaternions_allowed) const {
    const auto& components = kind.*components_;
    const auto found = std::find(components.begin(), components.end(), component);
    if (found == components.end() || component.empty()) {
      const std::string what = fmt::format("the {} joint '{}' has no component '{}'", kind.name, joint, component);
      if (components.size() == 1) throw InputError(place, what, "'" + joint + "' alone");
      throw InputError(place, what,
                       components.empty() ? "a joint that moves" : "one of: " + listed(with_joint(joint, components)));
    }
    const bool in_quaternion = kind.has_quaternion() && components.end() - found <= 4 && components_ == &JointKind::positions;
    if (in_quaternion && !quaternions_allowed) {
      throw InputError(place, fmt::format("'{}.{}' is part of a quaternion", joint, component), "an angle or a distance");
    }
  }

  const std::vector<const Spec*>& specs_;
  const JointKinds& kinds_;
  const std::vector<std::string> JointKind::*components_;
};

}  // namespace

void References::add_variables(const Expression& expression) {
  for (std::size_t slot = 0; slot < expression.variables().size(); ++slot) {
    const std::string& variable = expression.variables()[slot];
    if (!variable.starts_with("q.") && !variable.starts_with("v.")) continue;
    auto& list = variable.starts_with("q.") ? positions_ : velocities_;
    list.push_back({variable.substr(2), expression.place_of_variable(slot)});
  }
}

void References::check(const std::vector<const Spec*>& specs) const {
  std::unordered_set<std::string> bodies{"ground"};
  JointKinds kinds;
  for (const Spec* spec : specs) {
    for (const BodySpec& body : spec->bodies) bodies.insert(body.name);
    for (const JointSpec& joint : spec->joints) kinds[joint.name] = find_joint_kind(joint.type);
  }
  for (const auto& [name, place] : bodies_) {
    if (!bodies.contains(name)) throw unknown_name(place, "body", name, body_names(specs));
  }
  const CoordinateCheck positions(specs, kinds, &JointKind::positions);
  const CoordinateCheck velocities(specs, kinds, &JointKind::velocities);
  for (const auto& [name, place] : coordinates_) positions.check(name, place, false);
  for (const auto& [name, place] : positions_) positions.check(name, place, true);
  for (const auto& [name, place] : velocities_) velocities.check(name, place, true);
}

void UniqueNames::add(const std::string& kind, const std::string& name, const Place& place) {
  const auto [use, is_new] = used_.emplace(name, Use{kind, place});
  if (is_new) return;
  const int line = use->second.place.line;
  throw InputError(place,
                   fmt::format("the name '{}' is taken by {} {}{}", name, line > 0 ? "the" : "another", use->second.kind,
                               line > 0 ? fmt::format(" at line {}", line) : ""),
                   "a name of its own");
}

}  // namespace linkwork
