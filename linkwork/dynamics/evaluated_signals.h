#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "linkwork/dynamics/evaluated_motion.h"
#include "linkwork/dynamics/modes.h"
#include "linkwork/model/jet.h"

namespace linkwork {

class RunningBlocks;

/// What is in force at a state, and the values of expressions there, with all that they use: coordinates, inputs, states of the
/// user's own, sensors, errors of rows. The second layer of System.
class EvaluatedSignals : public EvaluatedMotion {
 public:
  ~EvaluatedSignals() override;
  EvaluatedSignals(EvaluatedSignals&&) noexcept;

  /// What is in force. Rows that are not have zeros throughout: no phi, rate or b, and no force.
  const Modes& modes() const { return modes_; }
  void set_modes(const Modes& modes);
  bool is_active(int row) const { return modes_.rows[static_cast<std::size_t>(row)] != 0; }
  int active_rows() const { return model_->row_count() - static_cast<int>(inactive_.size()); }
  std::span<const int> inactive_rows() const { return inactive_; }
  /// phi and A v - u of all rows, of those that are not in force too.
  double error(int row) const { return error_[row]; }
  double error_rate(int row) const { return error_rate_[row]; }

  /// An input keeps the value that it is set to until it is set again or released. Those with recorded data cannot be set.
  void set_input(int input, double value) {
    kept_ = Kept::kNothing;
    inputs_[static_cast<std::size_t>(input)] = value;
  }
  void release_input(int input) {
    kept_ = Kept::kNothing;
    inputs_[static_cast<std::size_t>(input)].reset();
  }
  /// With its first derivatives in time: of an input that was set they are zero.
  Jet input(int input) const;
  double user_state(int state) const {
    return state < state_->z.size() ? state_->z[state] : model_->states[static_cast<std::size_t>(state)].start;
  }
  /// Rates of the user's states, Model::states, at the state last evaluated; as many numbers as there are.
  void state_rates(std::span<double> rates) const;

  /// FMUs at work; null if the model has none.
  RunningBlocks* blocks() const { return blocks_.get(); }

  double value(const Variable& variable) const { return slot_value(variable, nullptr); }
  double value(const BoundExpression& expression) const override { return evaluate(expression); }
  /// lambda: for expressions that use multipliers.
  double evaluate(const BoundExpression& expression, const VecX<double>* lambda = nullptr) const;
  /// Its value and first derivative in time along the motion with accelerations vdot. The derivative is NaN where the expression
  /// asks for more: multipliers, rates of rows, accelerations of points or of cut joints.
  Jet evaluate_along(const BoundExpression& expression, const VecX<double>& vdot, const VecX<double>* lambda) const;

  /// Functions in expressions that jump (Model::switch_count, Expression::evaluate) stay on these branches while they are held.
  std::vector<double>& branches() {
    kept_ = Kept::kNothing;
    return branches_;
  }
  void hold_branches(bool hold) {
    kept_ = Kept::kNothing;
    held_ = hold ? branches_.data() : nullptr;
  }
  bool holds_branches() const { return held_ != nullptr; }
  /// Where the functions of an expression stand that switch. Derivatives as with evaluate_along().
  void read_switches(const BoundExpression& expression, const VecX<double>& vdot, std::span<SwitchReading> at) const;

 protected:
  explicit EvaluatedSignals(const Model& model);

  const double* held_by(const BoundExpression& law) const {
    return held_ != nullptr && law.first_switch >= 0 ? held_ + law.first_switch : nullptr;
  }
  bool is_in_force(int force) const { return modes_.forces[static_cast<std::size_t>(force)] != 0; }

  Modes modes_;
  std::vector<int> inactive_;                  // rows
  VecX<double> error_, error_rate_;            // of all rows
  std::vector<std::optional<double>> inputs_;  // those that were set
  std::vector<double> branches_;
  std::vector<std::pair<double, double>> spans_;  // by spring with a law: distance of its ends, and its rate
  /// Values of the expressions being evaluated: a sensor's within that of an expression which uses it.
  mutable std::vector<double> slots_;
  mutable std::vector<Jet> jets_;

 private:
  std::span<const Jet> slots_along(const BoundExpression& expression, const VecX<double>& vdot, const VecX<double>* lambda) const;
  double slot_value(const Variable& slot, const VecX<double>* lambda) const;
  double sensor_value(const Variable& slot, bool rate) const;

  std::unique_ptr<RunningBlocks> blocks_;
  const double* held_ = nullptr;  // branches_, or none
  mutable std::size_t slots_used_ = 0;
  mutable std::vector<Jet> input_jets_;
};

}  // namespace linkwork
