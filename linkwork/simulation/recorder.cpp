#include "linkwork/simulation/recorder.h"

#include <array>

#include "linkwork/tree/kinematics.h"

namespace linkwork {

Recorder::Recorder(const Model& model) : model_(&model), reactions_(model) {
  columns_.push_back("t");
  const auto add = [&](const std::string& name, std::initializer_list<const char*> parts) {
    for (const char* part : parts) columns_.push_back(name + "." + part);
  };
  for (const Joint& joint : model.joints)
    for (std::size_t k = 0; k < joint.kind->positions.size(); ++k) {
      columns_.push_back("q." + coordinate_name(joint, joint.kind->positions[k]));
      q_.push_back(joint.start[k]);
    }
  for (const char* prefix : {"v.", "a."})
    for (const Joint& joint : model.joints)
      for (const std::string& component : joint.kind->velocities) columns_.push_back(prefix + coordinate_name(joint, component));
  for (const Joint& joint : model.joints) v_.resize(v_.size() + joint.kind->velocities.size());
  a_.resize(v_.size());
  for (const ConstraintRow& row : model.rows)
    if (!row.internal) columns_.push_back("lambda." + row.name);
  for (const char* const what : {"force.", "torque."}) {
    for (std::size_t j : reactions_.known_joints()) add(what + model.joints[j].name, {"x", "y", "z"});
    for (std::size_t c : reactions_.other_closures()) add(what + model.frame_closures[c].name, {"x", "y", "z"});
  }
  for (const Input& input : model.inputs)
    if (!input.is_copy) columns_.push_back("u." + input.name);
  for (const UserState& state : model.states) columns_.push_back("z." + state.name);
  add("energy", {"kinetic", "potential", "total"});
  add("error", {"position", "velocity"});
  for (const Sensor& sensor : model.sensors)
    for (const std::string& component : sensor.kind->components)
      columns_.push_back(std::string(sensor.kind->prefix) + "." + sensor.name + (component.empty() ? "" : "." + component));
}

void Recorder::record(EquationsOfMotion& equations, double t, std::vector<double>& out, std::span<const OutsideWrench> outside) {
  System& system = equations.system();
  equations.complete();
  update_accelerations(system.tree(), equations.solution().vdot.data(), system.work());
  out.clear();
  out.reserve(columns_.size());
  out.push_back(t);
  add_joints(equations, out);
  for (int row = 0; row < model_->row_count(); ++row)
    if (!model_->rows[static_cast<std::size_t>(row)].internal) out.push_back(equations.solution().lambda[row]);
  add_reactions(equations, outside, out);
  for (std::size_t k = 0; k < model_->inputs.size(); ++k)
    if (!model_->inputs[k].is_copy) out.push_back(system.input(static_cast<int>(k)).value);
  for (std::size_t k = 0; k < model_->states.size(); ++k) out.push_back(system.user_state(static_cast<int>(k)));
  const double kinetic = system.kinetic_energy(), potential = system.potential_energy();
  out.insert(out.end(), {kinetic, potential, kinetic + potential});
  const ConstraintTerms& terms = system.terms();
  out.push_back(terms.rows() > 0 ? terms.phi.cwiseAbs().maxCoeff() : 0.0);
  out.push_back(terms.rows() > 0 ? terms.rate.cwiseAbs().maxCoeff() : 0.0);
  add_sensors(system, out);
}

void Recorder::add_joints(EquationsOfMotion& equations, std::vector<double>& out) {
  const VecX<double>& vdot = equations.solution().vdot;
  const std::span<const double> accelerations(vdot.data(), static_cast<std::size_t>(vdot.size()));
  std::size_t iq = 0, iv = 0;
  for (const Joint& joint : model_->joints) {
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    equations.system().joint_motion(joint, accelerations, q, v, a);
    for (std::size_t k = 0; k < joint.kind->positions.size(); ++k, ++iq) q_[iq] = q[k];
    for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k, ++iv) v_[iv] = v[k], a_[iv] = a[k];
  }
  out.insert(out.end(), q_.begin(), q_.end());
  out.insert(out.end(), v_.begin(), v_.end());
  out.insert(out.end(), a_.begin(), a_.end());
}

/// Of joints, then of closures that are none.
void Recorder::add_reactions(EquationsOfMotion& equations, std::span<const OutsideWrench> outside, std::vector<double>& out) {
  reactions_.update(equations.system(), equations.solution().lambda, outside);
  const auto add = [&](const Vec3<double>& x) { out.insert(out.end(), {x.x(), x.y(), x.z()}); };
  for (const bool torque : {false, true}) {
    for (std::size_t j : reactions_.known_joints()) add(torque ? reactions_.joints()[j].torque : reactions_.joints()[j].force);
    for (std::size_t c : reactions_.other_closures())
      add(torque ? reactions_.closures()[c].torque : reactions_.closures()[c].force);
  }
}

void Recorder::add_sensors(const System& system, std::vector<double>& out) const {
  for (const Sensor& sensor : model_->sensors) {
    const std::size_t count = sensor.kind->components.size();
    out.resize(out.size() + count);
    sensor.kind->read(sensor, system, std::span(out).last(count));
  }
}

}  // namespace linkwork
