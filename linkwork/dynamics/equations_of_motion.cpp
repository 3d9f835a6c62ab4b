#include "linkwork/dynamics/equations_of_motion.h"

#include "linkwork/tree/kinematics.h"

namespace linkwork {

EquationsOfMotion::EquationsOfMotion(const Model& model, std::unique_ptr<Formulation> formulation,
                                     std::unique_ptr<Stabilization> stabilization, Equations gives)
    : system_(model),
      formulation_(std::move(formulation)),
      stabilization_(std::move(stabilization)),
      gives_(gives),
      solution_(model) {
  if (gives_ != Equations::kAcceleration) residual_ = std::make_unique<MotionResidual>(model);
}

void EquationsOfMotion::residual(const State& state, const VecX<double>& vdot, const VecX<double>& lambda, VecX<double>& r) {
  ++evaluations_;
  residual_->evaluate(system_, state, vdot, lambda, r);
  stabilization_->adjust(system_.terms());
}

void EquationsOfMotion::linearize(const State& state, const VecX<double>& vdot, const VecX<double>& lambda, Linearization& at) {
  evaluations_ += residual_->linearize(system_, state, vdot, lambda, at);
}

Status EquationsOfMotion::evaluate(State& state, Derivative& rates) {
  ++evaluations_;
  if (Status status = formulation_->prepare(system_, state); !status.ok()) return status;
  system_.update_forces();
  stabilization_->adjust(system_.terms());
  Status status = formulation_->solve(system_, solution_);
  if (!status.ok()) return status;
  stabilization_->correct(system_, solution_);
  if (!solution_.vdot.allFinite()) return {"the accelerations are not finite"};
  rates.qdot.resize(state.q.size());
  position_rates(system_.tree(), state.q.data(), state.v.data(), rates.qdot.data());
  rates.vdot = solution_.vdot;
  rates.zdot = solution_.zdot;
  if (!system_.terms().u.isZero(0.0)) formulation_->complete(system_, solution_);
  rates.power = system_.applied_power() + solution_.lambda.dot(system_.terms().u) + solution_.virtual_power;
  return {};
}

}  // namespace linkwork
