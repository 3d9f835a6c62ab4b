#include "linkwork/dynamics/manifold_projection.h"

#include <cmath>

#include "linkwork/coordinates/dependent_rows.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

ManifoldProjection::ManifoldProjection(const Model& model, Metric metric)
    : metric_(metric),
      position_rows_(model),
      loops_(cut_loops(model)),
      lambda_(VecX<double>::Zero(model.row_count())),
      change_(VecX<double>::Zero(model.tree.nv)) {}

void ManifoldProjection::respond(System& system, const VecX<double>& error, bool positions) {
  moved_ = kFar;
  if (metric_ == Metric::kIdentity) return respond_by_geometry(system, error, positions);
  const std::vector<ForceColumns>& groups = positions ? position_rows_.groups(system.terms()) : system.terms().groups;
  loops_.inward_unforced(system.tree(), system.work(), groups, error);
  loops_.outward(system.tree(), system.work(), change_, lambda_);
  if (!is_met(system, groups, error) && error.size() <= kMostRowsToRank) respond_by_geometry(system, error, positions);
}

/// Where masses differ by many decades the mass metric loses rows, and what they ask for.
bool ManifoldProjection::is_met(System& system, std::span<const ForceColumns> groups, const VecX<double>& error) {
  constexpr double kWeak = 1e-7, kMet = 0.1, kRounding = 1e-4;
  if (loops_.rank().weakest > kWeak && !has_dependent_rows(loops_, system.active_rows())) return true;
  const Model& model = system.model();
  const double enough = std::max(kMet * model.largest_error(error), kRounding * model.settings.constraint_tolerance);
  missed_ = error;
  loops_.subtract_rates(system.work(), groups, change_, missed_);
  return !(model.largest_error(missed_) > enough);
}

/// The units of the metric are those of the whole mechanism; those that decide rank are not (rank_units).
void ManifoldProjection::respond_by_geometry(System& system, const VecX<double>& error, bool positions) {
  const VecX<double>& unit = system.model().units.velocity;
  rows_ = system.jacobian();
  const std::vector<char>& locked = system.work().locked;
  for (std::size_t i = 1; i < locked.size(); ++i)
    if (const Node& node = system.tree().nodes[i]; locked[i] != 0) rows_.middleCols(node.v, velocity_count(node.kind)).setZero();
  if (positions)
    for (int row : position_rows_.velocity_rows()) rows_.row(row).setZero();
  dependent_.resize(static_cast<std::size_t>(rows_.rows()));
  rank_.decide(system, rows_, dependent_);
  rows_ *= unit.asDiagonal();
  basis_.factor(rows_, dependent_);
  basis_.shortest_solution(error, change_);
  change_.array() *= unit.array();
}

double ManifoldProjection::correct_position(System& system, State& state, double fraction) {
  respond(system, system.terms().phi, true);
  change_ *= -fraction;
  displace(system.tree(), state.q.data(), change_.data());
  return change_.cwiseAbs().cwiseQuotient(system.model().units.velocity).maxCoeff();
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
  moved_ = kFar;
  if (lambda_.size() == 0) return;
  constexpr int kMostIterations = 10;
  const bool in_parts = system.is_made_of_parts();
  const auto update = [&] { in_parts ? system.update_positions(state) : system.update(state); };
  update();
  double error = system.model().largest_error(system.terms().phi);
  for (int i = 0; i < kMostIterations && error > good_enough; ++i) {
    const double before = error;
    const double moved = correct_position(system, state);
    moved_ = answers_to_rates(system) ? moved : kFar;
    update();
    error = system.model().largest_error(system.terms().phi);
    if (error > 0.5 * before) break;  // rounding, or rows that cannot be met
  }
  if (in_parts) system.update_motion(state);
}

/// With factors of nearby, a part of the change is wrong that is about as small as they are near: so much less than rounding
/// that bits hardly ever differ.
void ManifoldProjection::project_velocity(System& system, State& state, double good_enough) {
  if (lambda_.size() == 0) return;
  constexpr double kNothing = 1e-20;
  const Model& model = system.model();
  const VecX<double>& rate = system.terms().rate;
  const double error = model.largest_error(rate), speed = model.speed(state.v);
  if (!(error > good_enough * speed)) return;
  if (!(moved_ * error <= kNothing * speed)) return correct_velocity(system, state);
  loops_.respond_again(system.tree(), system.work(), rate, change_, lambda_);
  state.v -= change_;
}

/// Whether loops_, factored for positions, is what rates need, and has no row that is weak or depends on others.
bool ManifoldProjection::answers_to_rates(const System& system) const {
  constexpr double kWeak = 1e-3;
  return metric_ == Metric::kMass && position_rows_.velocity_rows().empty() && loops_.rank().weakest > kWeak &&
         !has_dependent_rows(loops_, system.active_rows());
}

}  // namespace linkwork
