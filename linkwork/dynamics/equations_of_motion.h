#pragma once

#include <algorithm>
#include <memory>

#include "linkwork/dynamics/differential_equation.h"
#include "linkwork/dynamics/formulation.h"
#include "linkwork/dynamics/load_sharing.h"
#include "linkwork/dynamics/stabilization.h"

namespace linkwork {

class MotionResidual;
struct Linearization;

/// Model + formulation + stabilization: all an integrator sees. Accelerations are always to be had; the residual if the
/// formulation gives a differential-algebraic equation.
class EquationsOfMotion : public DifferentialEquation {
 public:
  EquationsOfMotion(const Model& model, std::unique_ptr<Formulation> formulation, std::unique_ptr<Stabilization> stabilization,
                    Equations gives = Equations::kAcceleration);
  EquationsOfMotion(EquationsOfMotion&&) noexcept;
  ~EquationsOfMotion() override;

  /// Gives a start what is integrated beside the motion: the user's states, then those of the formulation.
  void start(State& state);
  /// What is in force from here on.
  void set_modes(const Modes& modes) {
    system_.set_modes(modes);
    formulation_->forget();
    most_rank_ = 0;
    strongest_ = 0.0;
  }
  /// Evaluates everything at a state; system() and solution() then hold the details. The state must outlive their use. Parts of
  /// it that the formulation takes for functions of the others are made so (Formulation::prepare).
  Status evaluate(State& state, Derivative& rates);
  /// The same at a state inside a step. Near a singular position small constraint errors make large accelerations: there the
  /// state is first moved back onto the constraints, if the stabilization does that.
  Status evaluate_stage(State& state, Derivative& rates);
  bool is_nearly_singular() const override {
    return solution_.rank.weakest < std::max(kVeryWeak, kWeaker * strongest_) || solution_.rank.rank < most_rank_;
  }
  Equations gives() const { return gives_; }
  /// r = M vdot + c - tau - A' lambda; system() then holds phi, A v - u and b at the state.
  void residual(const State& state, const VecX<double>& vdot, const VecX<double>& lambda, VecX<double>& r);
  void linearize(const State& state, const VecX<double>& vdot, const VecX<double>& lambda, Linearization& at);
  /// Moves a state back onto the constraints, if the stabilization does that.
  Status project(State& state) {
    return formulation_->holds_constraints() ? Status{} : stabilization_->project(system_, state, is_nearly_singular());
  }
  /// The last evaluated state is the start of a new step.
  void accept_step() {
    system_.accept_turns();
    formulation_->accept_step(system_);
  }
  /// Has the solution hold all multipliers: evaluate() computes only what the motion needs.
  void complete();

  // As an integrator sees it, see pack().
  Status evaluate(Moment& at, VecX<double>& rates) override;
  Status evaluate_stage(Moment& at, VecX<double>& rates) override;
  Status project(Moment& at) override;
  void normalize(VecX<double>& y) const override;
  double error_norm(const VecX<double>& from, const VecX<double>& to, const VecX<double>& error) override;
  EquationsOfMotion* equations_of_motion() override { return this; }

  System& system() { return system_; }
  const Solution& solution() const { return solution_; }
  const Model& model() const { return system_.model(); }
  long evaluations() const override { return evaluations_; }

 private:
  void unpack_into(const Moment& at, State& state) const { unpack(at, model().tree.nq, model().tree.nv, state); }

  static constexpr double kWeaker = 1e-3, kVeryWeak = 1e-7;  // what is left of a row, squared: see rank.h

  Status solve();
  Status find_loads();
  Status solve_with_loads(const VecX<double>& loads, VecX<double>& found);
  void finish_inactive_rows();

  System system_;
  State at_, moved_state_;  // of what an integrator last evaluated and projected
  Derivative rates_;
  std::unique_ptr<Formulation> formulation_;
  std::unique_ptr<Stabilization> stabilization_;
  Equations gives_;
  std::unique_ptr<MotionResidual> residual_;  // only if it is given
  Solution solution_;
  long evaluations_ = 0;
  int most_rank_ = 0;       // since other rows came into force,
  double strongest_ = 0.0;  // and the least that was left of a row where it was most
  LoadSharing sharing_;
  std::vector<std::size_t> loaded_;  // frictions that slide under a normal force that is yet to be found
  VecX<double> loads_, found_, probe_, moved_;
  MatX<double> response_;
};

}  // namespace linkwork
