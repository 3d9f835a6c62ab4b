#include "linkwork/simulation/recorder.h"

#include <array>

#include "linkwork/model/signal_block.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

constexpr std::array kAxes{"x", "y", "z"};

}  // namespace

Recorder::Recorder(const Model& model, bool forces, std::vector<CarriedClosure> carried)
    : model_(&model), carried_(std::move(carried)) {
  const ColumnChoice choice(model.settings);
  multipliers_ = forces && choice.may_have(ColumnGroup::kMultipliers);
  inputs_ = choice.may_have(ColumnGroup::kInputs);
  states_ = !model.states.empty();  // chosen or not: modules are compared with the whole at their state
  sensors_ = choice.may_have(ColumnGroup::kSensors);
  add("t", "s");
  add_joint_columns();
  shows_reactions_ = forces && choice.may_have(ColumnGroup::kReactions);
  if (shows_reactions_ || (multipliers_ && !carried_.empty())) reactions_.emplace(model);
  if (multipliers_) add_multiplier_columns();
  if (shows_reactions_) add_reaction_columns();
  if (forces && choice.may_have(ColumnGroup::kEfforts)) {
    efforts_.emplace(model);
    for (const Column& column : efforts_->columns()) add(column.name, column.unit);
  }
  for (const Input& input : model.inputs)
    if (inputs_ && !input.is_copy) add("u." + input.name, "");
  for (const UserState& state : model.states)
    if (states_ && !state.is_copy) add("z." + state.name, "");
  for (const char* const energy : {"kinetic", "potential", "total"}) add(std::string("energy.") + energy, "J");
  for (const char* const error : {"position", "velocity"}) add(std::string("error.") + error, "");
  for (const Sensor& sensor : model.sensors)
    for (std::size_t k = 0; sensors_ && k < sensor.kind->components.size(); ++k) {
      const std::string& component = sensor.kind->components[k];
      add(std::string(sensor.kind->prefix) + "." + sensor.name + (component.empty() ? "" : "." + component),
          sensor.kind->units.empty() ? "" : sensor.kind->units[k]);
    }
  for (const Block& block : model.blocks)
    for (std::size_t k = 0; sensors_ && k < block.block->outputs.size(); ++k)
      add("y." + block.name + "." + block.block->outputs[k].name, "");
}

void Recorder::add(std::string name, std::string unit) {
  columns_.push_back(std::move(name));
  units_.push_back(std::move(unit));
}

void Recorder::add_joint_columns() {
  for (const Joint& joint : joints())
    for (std::size_t k = 0; k < joint.kind->positions.size(); ++k) {
      add("q." + coordinate_name(joint, joint.kind->positions[k]), position_unit(joint, k));
      q_.push_back(joint.start[k]);
    }
  for (const bool rates : {true, false})
    for (const Joint& joint : joints())
      for (std::size_t k = 0; k < joint.kind->velocities.size(); ++k)
        add((rates ? "v." : "a.") + coordinate_name(joint, joint.kind->velocities[k]),
            velocity_unit(joint, k) + (rates ? "" : "^2"));
  for (const Joint& joint : joints()) v_.resize(v_.size() + joint.kind->velocities.size());
  a_.resize(v_.size());
}

/// Rows of closures that are carried stand where they would without that.
void Recorder::add_multiplier_columns() {
  const auto unit_of = [](bool is_length) { return is_length ? "N" : "N m"; };
  std::vector<std::string> units(model_->rows.size());  // of relations of coordinates they are not known
  for (const FrameClosure& closure : model_->frame_closures) {
    const std::array<bool, kMaxRows> lengths = rows_that_are_lengths(closure, model_->units.length);
    for (std::size_t r = 0; r < static_cast<std::size_t>(closure.row_count); ++r)
      units[static_cast<std::size_t>(closure.first_row) + r] = unit_of(lengths[r]);
  }
  auto carried = carried_.begin();
  for (std::size_t r = 0; r <= units.size(); ++r) {
    for (; carried != carried_.end() && carried->before_row == static_cast<int>(r); ++carried) {
      const Joint& joint = model_->joints[carried->joint];
      FrameClosure closure;
      closure.a = joint.parent, closure.b = joint.child;
      closure.joint_kind = joint.kind, closure.geometry.pitch = joint.pitch;
      closure.row_count = static_cast<int>(joint.kind->rows.size());
      const std::array<bool, kMaxRows> lengths = rows_that_are_lengths(closure, model_->units.length);
      for (std::size_t k = 0; k < joint.kind->rows.size(); ++k)
        add("lambda." + carried->name + "." + joint.kind->rows[k], unit_of(lengths[k]));
    }
    if (r < units.size() && !model_->rows[r].internal) add("lambda." + model_->rows[r].name, units[r]);
  }
}

void Recorder::add_reaction_columns() {
  for (const bool torque : {false, true}) {
    const auto add_axes = [&](const std::string& name) {
      for (const char* const axis : kAxes) add((torque ? "torque." : "force.") + name + "." + axis, torque ? "N m" : "N");
    };
    for (const Joint& joint : joints()) add_axes(joint.name);
    auto carried = carried_.begin();
    const std::vector<std::size_t>& others = reactions_->other_closures();
    for (std::size_t c = 0; c <= others.size(); ++c) {
      for (; carried != carried_.end() && carried->before_closure == static_cast<int>(c); ++carried) add_axes(carried->name);
      if (c < others.size()) add_axes(model_->frame_closures[others[c]].name);
    }
  }
}

void Recorder::record(EquationsOfMotion& equations, double t, std::vector<double>& out, std::span<const OutsideWrench> outside) {
  System& system = equations.system();
  if (multipliers_ || reactions_ || efforts_) equations.complete();
  out.clear();
  out.reserve(columns_.size());
  out.push_back(t);
  append_joints(equations, out);
  if (reactions_) reactions_->update(system, equations.solution().lambda, outside);
  if (multipliers_) append_multipliers(equations, out);
  if (shows_reactions_) append_reactions(out);
  if (efforts_) efforts_->append(equations, out);
  for (std::size_t k = 0; inputs_ && k < model_->inputs.size(); ++k)
    if (!model_->inputs[k].is_copy) out.push_back(system.input(static_cast<int>(k)).value);
  for (std::size_t k = 0; states_ && k < model_->states.size(); ++k)
    if (!model_->states[k].is_copy) out.push_back(system.user_state(static_cast<int>(k)));
  const double kinetic = system.kinetic_energy(), potential = system.potential_energy();
  out.insert(out.end(), {kinetic, potential, kinetic + potential});
  const ConstraintTerms& terms = system.terms();
  out.push_back(terms.rows() > 0 ? terms.phi.cwiseAbs().maxCoeff() : 0.0);
  out.push_back(terms.rows() > 0 ? terms.rate.cwiseAbs().maxCoeff() : 0.0);
  if (sensors_) append_sensors(system, out);
}

void Recorder::append_joints(EquationsOfMotion& equations, std::vector<double>& out) {
  const VecX<double>& vdot = equations.solution().vdot;
  const std::span<const double> accelerations(vdot.data(), static_cast<std::size_t>(vdot.size()));
  update_accelerations(equations.system().tree(), vdot.data(), equations.system().work());
  std::size_t iq = 0, iv = 0;
  for (const Joint& joint : joints()) {
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

void Recorder::append_multipliers(EquationsOfMotion& equations, std::vector<double>& out) const {
  auto carried = carried_.begin();
  for (int row = 0; row <= model_->row_count(); ++row) {
    for (; carried != carried_.end() && carried->before_row == row; ++carried) {
      std::array<double, kMaxRows> lambda{};
      reactions_->multipliers(equations.system(), carried->joint, lambda);
      out.insert(out.end(), lambda.begin(), lambda.begin() + std::ssize(model_->joints[carried->joint].kind->rows));
    }
    if (row < model_->row_count() && !model_->rows[static_cast<std::size_t>(row)].internal)
      out.push_back(equations.solution().lambda[row]);
  }
}

/// Of joints, then of closures that are none.
void Recorder::append_reactions(std::vector<double>& out) const {
  for (const bool torque : {false, true}) {
    const auto append = [&](const JointReactions::Reaction& reaction) {
      const Vec3<double>& x = torque ? reaction.torque : reaction.force;
      for (int k = 0; k < 3; ++k) out.push_back(x[k]);
    };
    for (std::size_t j = 0; j < joints().size(); ++j) append(reactions_->joints()[j]);
    auto carried = carried_.begin();
    const std::vector<std::size_t>& others = reactions_->other_closures();
    for (std::size_t c = 0; c <= others.size(); ++c) {
      for (; carried != carried_.end() && carried->before_closure == static_cast<int>(c); ++carried)
        append(reactions_->joints()[carried->joint]);
      if (c < others.size()) append(reactions_->closures()[others[c]]);
    }
  }
}

void Recorder::append_sensors(const System& system, std::vector<double>& out) const {
  for (const Sensor& sensor : model_->sensors) {
    const std::size_t count = sensor.kind->components.size();
    out.resize(out.size() + count);
    sensor.kind->read(sensor, system, std::span(out).last(count));
  }
  for (std::size_t b = 0; b < model_->blocks.size(); ++b)
    for (std::size_t k = 0; k < model_->blocks[b].block->outputs.size(); ++k)
      out.push_back(system.value({Variable::Kind::kBlockOutput, {}, static_cast<int>(b), static_cast<int>(k)}));
}

}  // namespace linkwork
