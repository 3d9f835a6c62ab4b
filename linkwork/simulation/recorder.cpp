#include "linkwork/simulation/recorder.h"

#include <array>

#include "linkwork/tree/kinematics.h"

namespace linkwork {

Recorder::Recorder(const Model& model) : model_(&model) {
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
  for (const char* const what : {"force.", "torque."})
    for (const FrameClosure& closure : model.frame_closures)
      if (!closure.internal) add(what + closure.name, {"x", "y", "z"});
  for (const Input& input : model.inputs)
    if (!input.is_copy) columns_.push_back("u." + input.name);
  for (const UserState& state : model.states) columns_.push_back("z." + state.name);
  add("energy", {"kinetic", "potential", "total"});
  add("error", {"position", "velocity"});
  for (const Sensor& sensor : model.sensors)
    for (const std::string& component : sensor.kind->components)
      columns_.push_back(std::string(sensor.kind->prefix) + "." + sensor.name + (component.empty() ? "" : "." + component));
  row_.reserve(columns_.size());
}

std::span<const double> Recorder::record(EquationsOfMotion& equations, double t) {
  System& system = equations.system();
  equations.complete();
  update_accelerations(system.tree(), equations.solution().vdot.data(), system.work());
  row_.clear();
  row_.push_back(t);
  add_joints(equations);
  for (int row = 0; row < model_->row_count(); ++row)
    if (!model_->rows[static_cast<std::size_t>(row)].internal) row_.push_back(equations.solution().lambda[row]);
  add_reactions(equations);
  for (std::size_t k = 0; k < model_->inputs.size(); ++k)
    if (!model_->inputs[k].is_copy) row_.push_back(system.input(static_cast<int>(k)).value);
  for (std::size_t k = 0; k < model_->states.size(); ++k) row_.push_back(system.user_state(static_cast<int>(k)));
  const double kinetic = system.kinetic_energy(), potential = system.potential_energy();
  row_.insert(row_.end(), {kinetic, potential, kinetic + potential});
  const ConstraintTerms& terms = system.terms();
  row_.push_back(terms.rows() > 0 ? terms.phi.cwiseAbs().maxCoeff() : 0.0);
  row_.push_back(terms.rows() > 0 ? terms.rate.cwiseAbs().maxCoeff() : 0.0);
  add_sensors(system);
  return row_;
}

void Recorder::add_joints(EquationsOfMotion& equations) {
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
  row_.insert(row_.end(), q_.begin(), q_.end());
  row_.insert(row_.end(), v_.begin(), v_.end());
  row_.insert(row_.end(), a_.begin(), a_.end());
}

/// The resultant of each closure's rows on body b, at b's point, in world axes.
void Recorder::add_reactions(EquationsOfMotion& equations) {
  const System& system = equations.system();
  const VecX<double>& lambda = equations.solution().lambda;
  for (const bool torque : {false, true})
    for (const FrameClosure& closure : model_->frame_closures) {
      if (closure.internal) continue;
      std::array<Row, kMaxRows> rows;
      closure.evaluate(system.relative_motion(closure.a, closure.b), rows);
      Vec3<double> sum = Vec3<double>::Zero();
      for (int r = 0; r < closure.row_count; ++r) {
        const Row& row = rows[static_cast<std::size_t>(r)];
        sum += lambda[closure.first_row + r] * (torque ? row.on_w : row.on_p);
      }
      const Vec3<double> world = system.pose(closure.a).R * sum;
      row_.insert(row_.end(), {world.x(), world.y(), world.z()});
    }
}

void Recorder::add_sensors(const System& system) {
  for (const Sensor& sensor : model_->sensors) {
    const std::size_t count = sensor.kind->components.size();
    row_.resize(row_.size() + count);
    sensor.kind->read(sensor, system, std::span(row_).last(count));
  }
}

}  // namespace linkwork
