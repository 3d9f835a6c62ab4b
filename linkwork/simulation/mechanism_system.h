#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/limit_watch.h"
#include "linkwork/simulation/mechanism_watch.h"
#include "linkwork/simulation/method_choice.h"
#include "linkwork/simulation/moving_system.h"
#include "linkwork/simulation/one_tree.h"
#include "linkwork/simulation/recorder.h"

namespace linkwork {

/// A mechanism in one piece: methods chosen, start assembled.
class MechanismSystem : public MovingSystem {
 public:
  /// `tree`: the same mechanism in another tree, to be run in its place.
  explicit MechanismSystem(std::shared_ptr<const Model> model, const OneTree& tree = {});

  const AssemblyReport& assembly() const { return assembly_; }
  const MethodChoice& methods() const { return methods_; }
  EquationsOfMotion& motion() { return *equations_; }
  /// In the coordinates it is run in.
  const Model& model() const { return *model_; }

  const Settings& settings() const override { return model_->settings; }
  const std::vector<std::string>& columns() const override { return recorder_.columns(); }
  DifferentialEquation& equations() override { return *equations_; }
  std::unique_ptr<Integrator> make_integrator() override;
  Moment begin() const override;
  Status start(Moment& at, VecX<double>& rates, Summary& summary, Remarks& remarks) override;
  Watch* watch() override { return watch_.get(); }
  void accept_step(const Moment& at, const VecX<double>& rates, Remarks& remarks) override;
  ConstraintErrors errors() const override;
  std::optional<Energies> energies() override;
  Status record(double t, const std::string& objection, std::vector<double>& row, Remarks& remarks) override;
  Scales scales() const override;
  std::string advice_when_open() const override;
  void save(const Moment& at, SavedRun& saved) override;
  bool accepts(const SavedRun& saved) override;
  Status restore(const SavedRun& saved, Moment& at, VecX<double>& rates) override;
  void set_input(const std::string& name, std::optional<double> value) override;
  std::vector<Sampled> sampled() override;
  void finish(Summary& summary, double seconds) override;

 private:
  void make_methods();
  Status diagnose_start(const State& state, Summary& summary, Remarks& remarks);
  int usual_rank() const { return watch_ ? watch_->rank().value_or(start_rank_) : start_rank_; }
  void look(Remarks& remarks);

  AssemblyReport assembly_;
  State start_;
  std::shared_ptr<const Model> model_;  // that is run
  MethodChoice methods_;
  std::unique_ptr<EquationsOfMotion> equations_;
  std::unique_ptr<MechanismWatch> watch_;  // only if there is something to watch
  Recorder recorder_;
  LimitWatch limits_;
  std::vector<std::optional<double>> inputs_;  // that were set
  int start_rank_ = 0;
  int carried_rows_;  // of closures that the tree runs through
};

}  // namespace linkwork
