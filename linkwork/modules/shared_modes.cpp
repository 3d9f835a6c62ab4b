#include "linkwork/modules/shared_modes.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/transport/text.h"

namespace linkwork {

namespace {

/// Calls visit(law, name) for every expression that acts on the motion and switches; names are those of the model file, and the
/// same in the whole and in its parts.
template <class Visit>
void for_each_switching_law(const Model& model, Visit visit) {
  const auto look = [&](const BoundExpression& law, const std::string& name) {
    if (law.first_switch >= 0) visit(law, name);
  };
  const auto label = [&](int force) { return model.forces[static_cast<std::size_t>(force)].label; };
  for (const JointForce& force : model.joint_forces) look(force.value, label(force.of));
  for (const Spring& spring : model.springs) look(spring.law, label(spring.of));
  for (const BodyWrench& wrench : model.wrenches)
    for (std::size_t k = 0; k < 3; ++k) {
      look(wrench.torque[k], fmt::format("{} torque {}", label(wrench.of), k));
      look(wrench.force[k], fmt::format("{} force {}", label(wrench.of), k));
    }
  for (const UserState& state : model.states) look(state.rate, "state " + state.name);
  for (const CoordinateClosure& closure : model.coordinate_closures) look(closure.phi, "closure " + closure.name);
  for (const DryFriction& friction : model.frictions) look(friction.load, "load " + friction.name);
}

/// Calls visit(name) for all that modes are about, in the order of the numbers. A friction has three.
template <class Visit>
void for_each_name(const Model& model, Visit visit) {
  for (const ConstraintRow& row : model.rows) visit("row " + row.name);
  for (const Force& force : model.forces) visit("force " + force.label);
  for (const Parameter& parameter : model.parameters) visit("parameter " + parameter.name);
  for (const DryFriction& friction : model.frictions)
    for (const char* const what : {"kind", "x", "y"}) visit(fmt::format("friction {} {}", friction.name, what));
  for_each_switching_law(model, [&](const BoundExpression& law, const std::string& name) {
    for (std::size_t k = 0; k < law.expression.switch_count(); ++k) visit(fmt::format("branch {} {}", name, k));
  });
}

}  // namespace

std::string SharedModes::names_in(const Model& whole) {
  std::string names;
  for_each_name(whole, [&](const std::string& name) { names += name + "\n"; });
  return names;
}

SharedModes::SharedModes(const std::string& names) {
  int place = 1;
  for (const std::string& name : lines_of(names)) place_[name] = place++;
  numbers_.assign(static_cast<std::size_t>(place), 0.0);
}

void SharedModes::write(System& whole) {
  const Modes& modes = whole.modes();
  double* to = numbers_.data();
  *to++ = whole.holds_branches() ? 1.0 : 0.0;
  to = std::ranges::copy(modes.rows, to).out;
  to = std::ranges::copy(modes.forces, to).out;
  to = std::ranges::copy(modes.parameters, to).out;
  for (const Modes::Friction& friction : modes.friction) {
    *to++ = static_cast<double>(friction.kind);
    *to++ = friction.direction.x();
    *to++ = friction.direction.y();
  }
  for_each_switching_law(whole.model(), [&](const BoundExpression& law, const std::string&) {
    const auto first = static_cast<std::size_t>(law.first_switch);
    for (std::size_t k = 0; k < law.expression.switch_count(); ++k) *to++ = whole.branches()[first + k];
  });
}

SharedModes::Places SharedModes::places_of(const Model& part) const {
  const auto place = [&](const std::string& name) {
    const auto found = place_.find(name);
    return found == place_.end() ? -1 : found->second;
  };
  Places places;
  for (const ConstraintRow& row : part.rows) places.rows.push_back(place("row " + row.name));
  for (const Force& force : part.forces) places.forces.push_back(place("force " + force.label));
  for (const Parameter& parameter : part.parameters) places.parameters.push_back(place("parameter " + parameter.name));
  for (const DryFriction& friction : part.frictions)
    places.friction.push_back(place(fmt::format("friction {} kind", friction.name)));
  places.branches.assign(static_cast<std::size_t>(part.switch_count), -1);
  for_each_switching_law(part, [&](const BoundExpression& law, const std::string& name) {
    const auto first = static_cast<std::size_t>(law.first_switch);
    for (std::size_t k = 0; k < law.expression.switch_count(); ++k)
      places.branches[first + k] = place(fmt::format("branch {} {}", name, k));
  });
  return places;
}

void SharedModes::read(const Places& places, Modes& modes, System& part) const {
  const auto each = [&](const std::vector<int>& of, auto take) {
    for (std::size_t i = 0; i < of.size(); ++i)
      if (of[i] >= 0) take(i, &numbers_[static_cast<std::size_t>(of[i])]);
  };
  each(places.rows, [&](std::size_t i, const double* from) { modes.rows[i] = *from != 0.0; });
  each(places.forces, [&](std::size_t i, const double* from) { modes.forces[i] = *from != 0.0; });
  each(places.parameters, [&](std::size_t i, const double* from) { modes.parameters[i] = *from; });
  each(places.friction, [&](std::size_t i, const double* from) {
    modes.friction[i].kind = static_cast<Modes::Friction::Kind>(static_cast<int>(from[0]));
    modes.friction[i].direction = {from[1], from[2]};
  });
  each(places.branches, [&](std::size_t i, const double* from) { part.branches()[i] = *from; });
  part.hold_branches(holds_branches());
}

}  // namespace linkwork
