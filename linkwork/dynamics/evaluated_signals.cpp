#include "linkwork/dynamics/evaluated_signals.h"

#include <algorithm>
#include <array>
#include <limits>

#include "linkwork/dynamics/running_blocks.h"

namespace linkwork {

EvaluatedSignals::EvaluatedSignals(const Model& model)
    : EvaluatedMotion(model),
      modes_(model),
      error_(VecX<double>::Zero(model.row_count())),
      error_rate_(error_),
      inputs_(model.inputs.size()),
      branches_(static_cast<std::size_t>(model.switch_count), 0.0),
      spans_(model.springs.size()) {
  std::size_t slots = 0, within = 0;  // of sensors and rates, which may be needed while others are evaluated
  const auto fit = [&](const BoundExpression& e) { slots = std::max(slots, e.slots.size()); };
  for (const CoordinateClosure& closure : model.coordinate_closures) fit(closure.phi);
  for (const JointForce& force : model.joint_forces) fit(force.value);
  for (const Spring& spring : model.springs) fit(spring.law);
  for (const BodyWrench& wrench : model.wrenches)
    for (std::size_t k = 0; k < 3; ++k) fit(wrench.force[k]), fit(wrench.torque[k]);
  for (const DryFriction& friction : model.frictions) fit(friction.load);
  for (const Sensor& sensor : model.sensors) fit(sensor.value), within += sensor.value.slots.size();
  for (const UserState& state : model.states) fit(state.rate), within += state.rate.slots.size();
  for (const Block& block : model.blocks)
    for (const BoundExpression& input : block.inputs) fit(input), within += input.slots.size();
  if (!model.blocks.empty()) blocks_ = std::make_unique<RunningBlocks>(model);
  for (const Input& input : model.inputs) input_jets_.resize(std::max(input_jets_.size(), input.value.slots.size()));
  for (const Event& event : model.events) {
    fit(event.when);
    for (const Action& action : event.actions) fit(action.value);
  }
  slots_.resize(slots + within);
  jets_.resize(slots);
  set_modes(modes_);
}

EvaluatedSignals::~EvaluatedSignals() = default;
EvaluatedSignals::EvaluatedSignals(EvaluatedSignals&&) noexcept = default;

void EvaluatedSignals::set_modes(const Modes& modes) {
  kept_ = Kept::kNothing;
  modes_ = modes;
  inactive_.clear();
  for (int row = 0; row < model_->row_count(); ++row)
    if (!is_active(row)) inactive_.push_back(row);
}

double EvaluatedSignals::evaluate(const BoundExpression& expression, const VecX<double>* lambda) const {
  if (expression.expression.is_constant()) return expression.expression.constant_value();
  const std::size_t count = expression.slots.size(), first = slots_used_;
  slots_used_ += count;
  for (std::size_t s = 0; s < count; ++s) slots_[first + s] = slot_value(expression.slots[s], lambda);
  slots_used_ = first;
  return expression.expression.evaluate<double>(std::span<const double>(slots_.data() + first, count), held_by(expression));
}

Jet EvaluatedSignals::input(int input) const {
  const auto k = static_cast<std::size_t>(input);
  const Input& of = model_->inputs[k];
  if (inputs_[k]) return {*inputs_[k]};
  if (of.data) {
    const Curve::Value at = of.data->at(state_->t);
    return {at.f, at.df, at.ddf};
  }
  const std::span<Jet> jets(input_jets_.data(), of.value.slots.size());
  for (std::size_t s = 0; s < jets.size(); ++s) {
    const Variable& slot = of.value.slots[s];
    jets[s] = slot.kind == Variable::Kind::kTime ? Jet{state_->t, 1.0, 0.0}
                                                 : Jet(modes_.parameters[static_cast<std::size_t>(slot.index)]);
  }
  return of.value.expression.evaluate<Jet>(std::span<const Jet>(jets));
}

void EvaluatedSignals::state_rates(std::span<double> rates) const {
  for (std::size_t k = 0; k < model_->states.size(); ++k) rates[k] = evaluate(model_->states[k].rate);
}

double EvaluatedSignals::slot_value(const Variable& slot, const VecX<double>* lambda) const {
  using Kind = Variable::Kind;
  switch (slot.kind) {
    case Kind::kTime:
      return state_->t;
    case Kind::kParameter:
      return modes_.parameters[static_cast<std::size_t>(slot.index)];
    case Kind::kMultiplier:
      return lambda ? (*lambda)[slot.index] : 0.0;
    case Kind::kError:
      return error_[slot.index];
    case Kind::kErrorRate:
      return error_rate_[slot.index];
    case Kind::kSensor:
    case Kind::kSensorRate:
      return sensor_value(slot, slot.kind == Kind::kSensorRate);
    case Kind::kInput:
      return input(slot.index).value;
    case Kind::kState:
      return user_state(slot.index);
    case Kind::kBlockOutput:
      return blocks_->output(*this, slot.index, slot.component);
    case Kind::kBlockRate:
      return blocks_->rate(*this, slot.index, slot.component);
    case Kind::kSpan:
      return spans_[static_cast<std::size_t>(slot.index)].first;
    case Kind::kSpanRate:
      return spans_[static_cast<std::size_t>(slot.index)].second;
    case Kind::kPosition:
    case Kind::kVelocity:
      break;
  }
  const Joint& joint = model_->joints[slot.coordinate.joint()];
  const auto k = static_cast<std::size_t>(slot.coordinate.component);
  if (joint.in_state()) return slot.kind == Kind::kPosition ? state_->q[joint.q[k]] : state_->v[joint.v[k]];
  std::array<double, 7> q{};
  std::array<double, 6> v{}, a{};
  joint_motion(joint, {}, q, v, a);
  return slot.kind == Kind::kPosition ? q[k] : v[k];
}

/// Of a component, or of its rate: NaN where the kind does not give rates.
double EvaluatedSignals::sensor_value(const Variable& slot, bool rate) const {
  const Sensor& sensor = model_->sensors[static_cast<std::size_t>(slot.index)];
  const auto read = rate ? sensor.kind->read_rates : sensor.kind->read;
  if (read == nullptr) return std::numeric_limits<double>::quiet_NaN();
  std::array<double, SensorKind::kMostComponents> values{};
  read(sensor, *this, std::span(values.data(), sensor.kind->components.size()));
  return values[static_cast<std::size_t>(slot.component)];
}

std::span<const Jet> EvaluatedSignals::slots_along(const BoundExpression& expression, const VecX<double>& vdot,
                                                   const VecX<double>* lambda) const {
  using Kind = Variable::Kind;
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  const auto along = [&](const Variable& slot) -> double {
    switch (slot.kind) {
      case Kind::kTime:
        return 1.0;
      case Kind::kParameter:
        return 0.0;
      case Kind::kError:
        return error_rate_[slot.index];
      case Kind::kSensor:
        return sensor_value(slot, true);
      case Kind::kInput:
        return input(slot.index).d1;
      case Kind::kState:
        return evaluate(model_->states[static_cast<std::size_t>(slot.index)].rate);
      case Kind::kSpan:
        return spans_[static_cast<std::size_t>(slot.index)].second;
      case Kind::kPosition: {
        // Of quaternions the rates are no velocities.
        const auto k = static_cast<std::size_t>(slot.coordinate.component);
        const Joint& joint = model_->joints[slot.coordinate.joint()];
        if (joint.kind->positions.size() != joint.kind->velocities.size()) return unknown;
        return joint.in_state() ? state_->v[joint.v[k]] : coordinate_motion(slot.coordinate).rate;
      }
      case Kind::kVelocity: {
        const Joint& joint = model_->joints[slot.coordinate.joint()];
        return joint.in_state() ? vdot[joint.v[static_cast<std::size_t>(slot.coordinate.component)]] : unknown;
      }
      default:
        return unknown;
    }
  };
  for (std::size_t s = 0; s < expression.slots.size(); ++s)
    jets_[s] = {slot_value(expression.slots[s], lambda), along(expression.slots[s]), 0.0};
  return {jets_.data(), expression.slots.size()};
}

Jet EvaluatedSignals::evaluate_along(const BoundExpression& expression, const VecX<double>& vdot,
                                     const VecX<double>* lambda) const {
  return expression.expression.evaluate<Jet>(slots_along(expression, vdot, lambda), held_by(expression));
}

void EvaluatedSignals::read_switches(const BoundExpression& expression, const VecX<double>& vdot,
                                     std::span<SwitchReading> at) const {
  expression.expression.read_switches(slots_along(expression, vdot, nullptr), held_by(expression), at);
}

}  // namespace linkwork
