#include "linkwork/simulation/effort_recorder.h"

#include <algorithm>
#include <array>
#include <set>

namespace linkwork {

namespace {

bool is_length(const Joint& joint, std::size_t component) { return joint.kind->is_length(static_cast<int>(component)); }

/// Whether a relation of coordinates may move by itself.
bool is_driven(const CoordinateClosure& closure) {
  return std::ranges::any_of(
             closure.phi.slots,
             [](const Variable& slot) { return !slot.is_coordinate() && slot.kind != Variable::Kind::kParameter; }) ||
         !closure.holonomic;
}

}  // namespace

std::string position_unit(const Joint& joint, std::size_t component) {
  const bool in_quaternion = joint.kind->has_quaternion() && component + 4 >= joint.kind->positions.size();
  return in_quaternion ? "1" : is_length(joint, component) ? "m" : "rad";
}
std::string velocity_unit(const Joint& joint, std::size_t component) { return is_length(joint, component) ? "m/s" : "rad/s"; }
std::string effort_unit(const Joint& joint, std::size_t component) { return is_length(joint, component) ? "N" : "N m"; }

EffortRecorder::EffortRecorder(const Model& model) : model_(model) {
  for (const Force& force : model.forces)
    for (const auto& [component, unit] : force.kind->components)
      columns_.push_back(
          {std::string(force.kind->prefix) + "." + force.label + (component.empty() ? "" : "." + component), unit});
  for (const CustomForce& force : model.custom_forces)
    for (const std::string& on : force.columns) add_custom_columns(force, on);
  add_joints();
  add_workers();
}

void EffortRecorder::add_custom_columns(const CustomForce& force, const std::string& on) {
  const std::string name = "." + force.name + "." + on;
  if (std::ranges::find(model_.bodies, on, &Body::name) != model_.bodies.end()) {
    for (const char* const component : {"fx", "fy", "fz"}) columns_.push_back({"load" + name + "." + component, "N"});
    for (const char* const component : {"tx", "ty", "tz"}) columns_.push_back({"load" + name + "." + component, "N m"});
    return;
  }
  for (const Joint& joint : model_.joints)
    for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k)
      if (coordinate_name(joint, joint.kind->velocities[k]) == on) columns_.push_back({"effort" + name, effort_unit(joint, k)});
}

/// A force may have the name of a joint: that of the joint is then told apart by a word.
void EffortRecorder::add_joints() {
  std::set<std::string> forces;
  for (const Force& force : model_.forces) forces.insert(force.label);
  std::vector<Column> powers;
  for (const Force& force : model_.forces) powers.push_back({"power." + force.label, "W"});
  for (const CustomForce& force : model_.custom_forces) {
    forces.insert(force.name);
    powers.push_back({"power." + force.name, "W"});
  }
  for (std::size_t j = 0; j < model_.joints.size(); ++j) {
    const Joint& joint = model_.joints[j];
    if (joint.stiffness == 0.0 && joint.damping == 0.0 && joint.friction == 0.0) continue;
    joints_.push_back(j);
    Joint named;
    named.name = joint.name + (forces.contains(joint.name) ? ".joint" : "");
    for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k)
      columns_.push_back({"effort." + coordinate_name(named, joint.kind->velocities[k]), effort_unit(joint, k)});
    powers.push_back({"power." + named.name, "W"});
  }
  columns_.insert(columns_.end(), powers.begin(), powers.end());
}

/// Joints and closures share no names, but dry friction may be a joint's or a closure's.
void EffortRecorder::add_workers() {
  const auto worker = [&](const std::string& name) -> Worker& {
    const auto known = std::ranges::find(workers_, name, &Worker::name);
    return known != workers_.end() ? *known : workers_.emplace_back(Worker{name, {}, {}});
  };
  for (const CoordinateClosure& closure : model_.coordinate_closures)
    if (is_driven(closure)) worker(closure.name).rows.push_back(closure.row);
  for (std::size_t k = 0; k < model_.frictions.size(); ++k) worker(model_.frictions[k].name).frictions.push_back(k);
  std::set<std::string> taken;
  for (const Column& column : columns_) taken.insert(column.name);
  for (const Worker& known : workers_) {
    std::string name = "power." + known.name;
    if (taken.contains(name)) name += known.rows.empty() ? ".friction" : ".drive";
    columns_.push_back({name, "W"});
  }
}

void EffortRecorder::append(EquationsOfMotion& equations, std::vector<double>& row) {
  const System& system = equations.system();
  const std::size_t first = row.size();
  row.resize(first + columns_.size());
  auto to = row.begin() + static_cast<std::ptrdiff_t>(first);
  for (const Force& force : model_.forces) {
    const std::size_t count = force.kind->components.size();
    if (count > 0) force.kind->read(force, system, {to, count});
    to += static_cast<std::ptrdiff_t>(count);
  }
  to = std::ranges::copy(system.custom_loads(), to).out;
  powers_.clear();
  for (std::size_t k = 0; k < model_.forces.size(); ++k) powers_.push_back(system.power_of(k));
  powers_.insert(powers_.end(), system.custom_powers().begin(), system.custom_powers().end());
  for (const std::size_t j : joints_) {
    const Joint& joint = model_.joints[j];
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system.joint_motion(joint, {}, q, v, a);
    double power = 0.0;
    for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k) {
      const JointLaw law = System::joint_law(joint, q[k], v[k]);
      *to++ = law.elastic + law.lossy;
      power += (law.elastic + law.lossy) * v[k];
    }
    powers_.push_back(power);
  }
  to = std::ranges::copy(powers_, to).out;
  for (const Worker& worker : workers_) {
    double power = 0.0;
    for (const int r : worker.rows) power += equations.solution().lambda[r] * system.terms().u[r];
    for (const std::size_t k : worker.frictions) power += system.friction_force(k).dot(system.slip(k));
    *to++ = power;
  }
}

}  // namespace linkwork
