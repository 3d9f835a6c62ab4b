#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/dynamics/joint_reactions.h"
#include "linkwork/dynamics/names.h"

namespace linkwork {

/// The equations of motion of a model in tree coordinates, ready for any state.
class Evaluator {
 public:
  /// projects: its equations can move states onto the constraints (EquationsOfMotion::project).
  explicit Evaluator(std::shared_ptr<const Model> model, bool projects = false);

  const Model& model() const { return *model_; }
  const ModelNames& names() const { return names_; }
  const SystemKinematics& kinematics() const { return kinematics_; }
  EquationsOfMotion& equations() { return *equations_; }
  System& system() { return equations_->system(); }
  const System& system() const { return equations_->system(); }
  const Solution& solution() const { return equations_->solution(); }
  const State& state() const { return state_; }

  /// What is in force from here on; null: as the model starts.
  void set_modes(const Modes* modes);
  /// Throws SimulationError if there is no answer.
  void evaluate(const State& state, const std::map<std::string, double>& inputs);
  /// With values of all inputs that can be set, in their order.
  void evaluate(const State& state, const VecX<double>& inputs);
  /// With inputs as they were set in the system.
  void evaluate(const State& state) { solve(state); }
  const Derivative& rates() const { return rates_; }
  /// Positions in Model::inputs of those that can be set.
  const std::vector<int>& settable() const { return settable_; }
  /// Everything as evaluate() left it, for what needs to write into the same places.
  void refresh();
  const JointReactions& reactions();

 private:
  void solve(const State& state);

  std::shared_ptr<const Model> model_;
  std::vector<int> settable_;
  ModelNames names_;
  std::unique_ptr<EquationsOfMotion> equations_;
  SystemKinematics kinematics_;
  JointReactions reactions_;
  bool reactions_known_ = false, own_modes_ = false;
  State state_;
  Derivative rates_;
};

/// Evaluators of a model that are not in use.
class EvaluatorPool : public std::enable_shared_from_this<EvaluatorPool> {
 public:
  explicit EvaluatorPool(std::shared_ptr<const Model> model) : model_(std::move(model)) {}

  std::unique_ptr<Evaluator> take();
  void give_back(std::unique_ptr<Evaluator> evaluator);

 private:
  std::shared_ptr<const Model> model_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Evaluator>> free_;
};

}  // namespace linkwork
