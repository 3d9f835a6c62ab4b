#include "linkwork/dynamics/manifold_projection.h"

#include <cmath>

#include "linkwork/tree/kinematics.h"

namespace linkwork {

ManifoldProjection::ManifoldProjection(const Model& model, Metric metric)
    : metric_(metric),
      position_rows_(model),
      loops_(model.tree, ConstraintTerms(model).groups),
      lambda_(VecX<double>::Zero(model.row_count())),
      change_(VecX<double>::Zero(model.tree.nv)) {}

void ManifoldProjection::respond(System& system, const VecX<double>& error, bool positions) {
  if (metric_ == Metric::kIdentity) {
    rows_ = system.jacobian();
    if (positions)
      for (int row : position_rows_.velocity_rows()) rows_.row(row).setZero();
    squared_lengths(system.jacobian_bounds(), scale_);
    basis_.factor(rows_, scale_);
    basis_.shortest_solution(error, change_);
    return;
  }
  const ConstraintTerms& terms = system.terms();
  loops_.inward_unforced(system.tree(), system.work(), positions ? position_rows_.groups(terms) : terms.groups, error);
  loops_.outward(system.tree(), system.work(), change_, lambda_);
}

double ManifoldProjection::correct_position(System& system, State& state, double fraction) {
  respond(system, system.terms().phi, true);
  change_ *= -fraction;
  displace(system.tree(), state.q.data(), change_.data());
  return change_.cwiseAbs().maxCoeff();
}

void ManifoldProjection::correct_velocity(System& system, State& state) {
  respond(system, system.terms().rate);
  state.v -= change_;
}

std::pair<double, int> ManifoldProjection::apply_impulse(System& system, State& state, const VecX<double>& change,
                                                         VecX<double>& impulse) {
  respond(system, change);
  state.v += change_;
  impulse = lambda_;
  std::pair<double, int> unmet{0.0, -1};
  for (std::size_t row = 0; row < loops_.inconsistency().size(); ++row) {
    const double vain = loops_.dependent()[row] != 0 ? std::abs(loops_.inconsistency()[row]) : 0.0;
    if (vain > unmet.first) unmet = {vain, static_cast<int>(row)};
  }
  return unmet;
}

void ManifoldProjection::respond_to_forces(System& system, VecX<double>& change, VecX<double>& impulse) {
  TreeWork<double>& work = system.work();
  for (std::size_t i = 0; i < work.nodes.size(); ++i) work.nodes[i].n = -work.applied[i].n, work.nodes[i].f = -work.applied[i].f;
  error_ = VecX<double>::Zero(lambda_.size());
  loops_.inward(system.tree(), work, system.terms().groups, error_);
  loops_.outward(system.tree(), work, change_, lambda_);
  change = change_;
  impulse = lambda_;
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
