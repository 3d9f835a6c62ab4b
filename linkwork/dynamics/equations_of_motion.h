#pragma once

#include <memory>

#include "linkwork/dynamics/formulation.h"
#include "linkwork/dynamics/stabilization.h"

namespace linkwork {

/// Rates of everything in a State.
struct Derivative {
  VecX<double> qdot;
  VecX<double> vdot;
  double power = 0.0;
  VecX<double> zdot;
};

/// Model + formulation + stabilization: all an integrator sees.
class EquationsOfMotion {
 public:
  EquationsOfMotion(const Model& model, std::unique_ptr<Formulation> formulation, std::unique_ptr<Stabilization> stabilization);

  /// Gives a start what the formulation integrates beside the motion.
  void start(State& state) { formulation_->start(system_, state); }
  /// Evaluates everything at a state; system() and solution() then hold the details. The state must outlive their use. Parts of
  /// it that the formulation takes for functions of the others are made so (Formulation::prepare).
  Status evaluate(State& state, Derivative& rates);
  /// Moves a state back onto the constraints, if the stabilization does that.
  Status project(State& state) { return formulation_->holds_constraints() ? Status{} : stabilization_->project(system_, state); }
  /// Tells the formulation that the last evaluated state is the start of a new step.
  void accept_step() { formulation_->accept_step(system_); }
  /// Has the solution hold all multipliers: evaluate() computes only what the motion needs.
  void complete() { formulation_->complete(system_, solution_); }

  System& system() { return system_; }
  const Solution& solution() const { return solution_; }
  const Model& model() const { return system_.model(); }
  long evaluations() const { return evaluations_; }

 private:
  System system_;
  std::unique_ptr<Formulation> formulation_;
  std::unique_ptr<Stabilization> stabilization_;
  Solution solution_;
  long evaluations_ = 0;
};

}  // namespace linkwork
