#include "linkwork/dynamics/manifold_projection.h"

#include "linkwork/tree/kinematics.h"

namespace linkwork {

ManifoldProjection::ManifoldProjection(const Model& model, Metric metric)
    : metric_(metric),
      loops_(model.tree, ConstraintTerms(model).groups),
      lambda_(VecX<double>::Zero(model.row_count())),
      change_(VecX<double>::Zero(model.tree.nv)) {}

void ManifoldProjection::respond(System& system, const VecX<double>& error) {
  if (metric_ == Metric::kIdentity) {
    squared_lengths(system.jacobian_bounds(), scale_);
    basis_.factor(system.jacobian(), scale_);
    basis_.shortest_solution(error, change_);
    return;
  }
  loops_.inward_unforced(system.tree(), system.work(), system.terms().groups, error);
  loops_.outward(system.tree(), system.work(), change_, lambda_);
}

double ManifoldProjection::correct_position(System& system, State& state, double fraction) {
  respond(system, system.terms().phi);
  change_ *= -fraction;
  displace(system.tree(), state.q.data(), change_.data());
  return change_.cwiseAbs().maxCoeff();
}

void ManifoldProjection::correct_velocity(System& system, State& state) {
  respond(system, system.terms().rate);
  state.v -= change_;
}

void ManifoldProjection::correct_acceleration(System& system, VecX<double>& vdot, VecX<double>& lambda) {
  error_ = -system.terms().b;
  error_.noalias() += system.jacobian() * vdot;
  respond(system, error_);
  vdot -= change_;
  lambda -= lambda_;
}

void ManifoldProjection::project(System& system, State& state, double good_enough) {
  project_position(system, state, good_enough);
  project_velocity(system, state, good_enough);
}

void ManifoldProjection::project_position(System& system, State& state, double good_enough) {
  if (lambda_.size() == 0) return;
  constexpr int kMostIterations = 10;
  system.update(state);
  double error = system.terms().phi.cwiseAbs().maxCoeff();
  for (int i = 0; i < kMostIterations && error > good_enough; ++i) {
    const double before = error;
    correct_position(system, state);
    system.update(state);
    error = system.terms().phi.cwiseAbs().maxCoeff();
    if (error > 0.5 * before) break;  // rounding, or rows that cannot be met
  }
}

void ManifoldProjection::project_velocity(System& system, State& state, double good_enough) {
  if (lambda_.size() == 0) return;
  const double speed = std::max(1.0, state.v.size() > 0 ? state.v.cwiseAbs().maxCoeff() : 0.0);
  if (system.terms().rate.cwiseAbs().maxCoeff() > good_enough * speed) correct_velocity(system, state);
}

}  // namespace linkwork
