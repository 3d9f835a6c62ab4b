#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "linkwork/dynamics/running_blocks.h"
#include "linkwork/simulation/moving_system.h"
#include "linkwork/switching/switch_points.h"
#include "linkwork/switching/switching.h"

namespace linkwork {

/// Whether an expression uses time, parameters, inputs and coordinates of the tree only: it needs no poses.
bool is_of_state(const Model& model, const BoundExpression& expression);

/// What is watched in a mechanism in one piece: events, contacts and friction (Switching), and functions in expressions that
/// switch (SwitchPoints), and FMUs (RunningBlocks).
class MechanismWatch : public Watch {
 public:
  /// exact: the formulation's multipliers are those of the constraints, not of springs in their place.
  MechanismWatch(const Model& model, EquationsOfMotion& equations, bool exact);
  static bool is_needed(const Model& model) { return model.has_events() || has_switches(model) || !model.blocks.empty(); }

  /// Decides what is in force at a start that was evaluated; it is then evaluated so.
  Status start(State& state, Derivative& rates);
  void restore(const SavedSwitching& saved, double t);
  /// Null if the model has nothing of the kind.
  const Switching* switching() const { return switching_.get(); }
  std::vector<std::string> warnings() const;
  /// Independent rows since something last happened; nothing before.
  std::optional<int> rank() const { return rank_; }

  void begin_step(const VecX<double>& rates) override;
  double margin(const VecX<double>& rates) override;
  const std::vector<Jet>& values(const VecX<double>& rates) override;
  void mark_due() override;
  Status happen(Moment& at, VecX<double>& rates, const std::function<void(bool after)>& tell) override;
  double next_time(double t, double until) override;
  bool holds() const override { return equations_.system().holds_branches(); }
  void hold(bool on) override { equations_.system().hold_branches(on); }
  const std::string& stopped_by() const override;
  bool wants_event() const override { return blocks_ != nullptr && blocks_->wants_event(); }
  /// A step has ended at the state last evaluated.
  void accept_step();
  std::string busiest(double since) const override { return switching_ ? switching_->busiest(since) : ""; }
  bool stand_at(const Moment& at) override;

 private:
  static bool has_switches(const Model& model) { return model.switch_count > 0 || !model.events.empty(); }
  const Derivative& unpacked(const VecX<double>& rates);
  Status switch_over(State& state, Derivative& rates, bool& switched);
  Status let_blocks_happen(bool& switched);
  void append_blocks();

  EquationsOfMotion& equations_;
  std::unique_ptr<Switching> switching_;
  std::unique_ptr<SwitchPoints> switches_;
  RunningBlocks* blocks_ = nullptr;  // of the equations
  bool is_of_state_;                 // all that is watched
  State state_;
  Derivative rates_;
  std::vector<Jet> values_;
  std::vector<double> scale_;  // by function of switches_: its largest value in the step
  double switching_margin_ = 1.0;
  std::optional<int> rank_;
  std::string nothing_;
};

}  // namespace linkwork
