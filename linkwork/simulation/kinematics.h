#pragma once

#include <memory>

#include "linkwork/simulation/kinematic_solver.h"
#include "linkwork/simulation/limit_watch.h"
#include "linkwork/simulation/moving_system.h"
#include "linkwork/simulation/recorder.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork {

/// The motion that drives impose on a mechanism, whatever its masses and forces. At every output time positions are found by
/// Newton's method from a prediction, then A v = u and A vdot = b are solved with rank decisions: redundant constraints are
/// allowed ([Wu1997] eq. 4.8). The columns are those of a run without lambda, force and torque: nothing is known of forces.
class KinematicSystem : public MovingSystem {
 public:
  /// Throws InputError, with names, if the mechanism cannot be closed at the start, or if its drives leave a motion free.
  explicit KinematicSystem(std::shared_ptr<const Model> model);

  const Settings& settings() const override { return model_->settings; }
  const std::vector<std::string>& columns() const override { return recorder_.columns(); }
  DifferentialEquation& equations() override { return *equations_; }
  std::unique_ptr<Integrator> make_integrator() override;
  Moment begin() const override;
  Status start(Moment& at, VecX<double>& rates, Summary& summary, Remarks& remarks) override;
  void accept_step(const Moment& at, const VecX<double>& rates, Remarks& remarks) override;
  ConstraintErrors errors() const override;
  std::optional<Energies> energies() override { return {}; }
  Status record(double t, const std::string& objection, std::vector<double>& row, Remarks& remarks) override;
  Scales scales() const override { return {model_->units.length, 0.0}; }
  void save(const Moment& at, SavedRun& saved) override;
  bool accepts(const SavedRun& saved) override;
  Status restore(const SavedRun& saved, Moment& at, VecX<double>& rates) override;

 private:
  class Stepping;

  void check_rows() const;
  void close_start();
  void check_freedom();
  bool is_singular() const { return equations_->solution().rank.rank < model_->tree.nv; }
  void keep_rows();
  bool changes_side();
  void watch_singularities(const Moment& at, const VecX<double>& rates, Remarks& remarks);
  void warn_of_singularity(double t, std::string text, Remarks& remarks);

  std::shared_ptr<const Model> model_;
  KinematicSolver* solver_;  // owned by the equations, as their formulation
  std::unique_ptr<EquationsOfMotion> equations_;
  Recorder recorder_;
  LimitWatch limits_;
  State start_;
  Moment regular_;  // the last one at which the rates are determined, from which positions are predicted
  VecX<double> regular_rates_;
  MatX<double> rows_there_;  // the Jacobian at regular_, rows in their units
  int singularities_ = 0;
};

/// A run of it.
inline Simulation kinematic_motion(Model model) {
  return Simulation(std::make_unique<KinematicSystem>(std::make_shared<const Model>(std::move(model))));
}

}  // namespace linkwork
