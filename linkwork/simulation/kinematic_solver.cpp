#include "linkwork/simulation/kinematic_solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/redundancy.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// "'a', 'b' and 'c'": the closures of some rows, each once.
std::string closures_of(const Model& model, const std::vector<int>& rows) {
  std::vector<std::string> names;
  for (int row : rows) {
    std::string name = "'" + model.rows[static_cast<std::size_t>(row)].closure + "'";
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  if (names.size() < 2) return names.empty() ? "" : names.front();
  const std::string last = names.back();
  names.pop_back();
  return fmt::format("{} and {}", fmt::join(names, ", "), last);
}

double largest_of(const VecX<double>& x) { return x.size() > 0 ? x.cwiseAbs().maxCoeff() : 0.0; }

}  // namespace

KinematicSolver::KinematicSolver(const Model& model)
    : model_(model),
      tolerance_(model.settings.constraint_tolerance),
      scale_(model.units.velocity),
      change_(VecX<double>::Zero(model.tree.nv)) {}

void KinematicSolver::factor(System& system, const State& state) {
  system.update(state);
  rows_.factor(system.jacobian(), system.jacobian_bounds(), scale_);
}

Status KinematicSolver::prepare(System& system, State& state) {
  state.v.setZero();
  factor(system, state);
  rows_.solve(system.terms().u, state.v);
  system.update(state);
  return contradiction(system.terms().rate, tolerance_ * model_.speed(state.v), "velocities");
}

Status KinematicSolver::solve(System& system, Solution& solution) {
  const VecX<double>& b = system.terms().b;
  rows_.solve(b, solution.vdot);
  solution.lambda.setZero();
  solution.rank = rows_.rank();
  std::ranges::copy(rows_.dependent(), solution.dependent.begin());
  residual_.noalias() = system.jacobian() * solution.vdot - b;
  // Redundant rows lose digits where their velocities are fast.
  const double speed = model_.speed(system.state().v);
  return contradiction(residual_, 1e-6 * std::max(speed * speed, model_.largest_error(b)), "accelerations");
}

KinematicSolver::Found KinematicSolver::close(System& system, State& state) {
  constexpr int kMostIterations = 30;
  const State guess = state;
  factor(system, state);
  double error = model_.largest_error(system.terms().phi);
  for (int i = 0; i < kMostIterations && error > 0.01 * tolerance_; ++i) {
    const State before = state;
    step(system, state, 1.0);
    factor(system, state);
    const double next = model_.largest_error(system.terms().phi);
    if (!(next < error)) {
      state = before;
      factor(system, state);
      break;
    }
    error = next;
  }
  return {error <= tolerance_, moved(guess, state)};
}

bool KinematicSolver::search(System& system, State& state) {
  constexpr int kStarts = 24;
  std::mt19937 random(12345);
  const State given = state;
  State best = state;
  factor(system, state);
  double best_error = model_.largest_error(system.terms().phi);
  for (int start = 0; start < kStarts && best_error > tolerance_; ++start) {
    state = given;
    if (start > 0) disturb(state, 0.05 * start, random);
    descend(system, state);
    close(system, state);
    if (const double error = model_.largest_error(system.terms().phi); error < best_error) best = state, best_error = error;
  }
  state = best;
  factor(system, state);
  return best_error <= tolerance_;
}

std::string KinematicSolver::why_open(const System& system) const {
  const VecX<double>& phi = system.terms().phi;
  if (const Status status = contradiction(phi, tolerance_, "positions"); !status.ok()) return status.trouble;
  std::vector<int> open;
  for (int i = 0; i < model_.row_count(); ++i)
    if (std::abs(phi[i]) > tolerance_ * model_.units.tolerance[i]) open.push_back(i);
  // At the end of reach rows become dependent: those that do are as much to blame as those that happen to stay open.
  const std::vector<int> together = rows_.weakest_combination();
  if (std::ranges::any_of(open, [&](int row) { return std::ranges::find(together, row) != together.end(); }))
    open.insert(open.begin(), together.begin(), together.end());
  return fmt::format("no position satisfies {} (off by {:.3g}): lengths or drives ask for more than the mechanism's reach",
                     closures_of(model_, open), largest_of(phi));
}

bool KinematicSolver::can_move(System& system, const State& at, const VecX<double>& direction) {
  constexpr double kDistance = 1e-3;
  State state = at;
  change_ = direction * (kDistance / (direction.cwiseQuotient(scale_)).cwiseAbs().maxCoeff());
  displace(model_.tree, state.q.data(), change_.data());
  return close(system, state).closed && moved(at, state) > 0.1 * kDistance;
}

/// Positions along -A^+ phi; returns the largest change in units of scale.
double KinematicSolver::step(System& system, State& state, double fraction) {
  rows_.solve(system.terms().phi, change_);
  change_ *= -fraction;
  displace(model_.tree, state.q.data(), change_.data());
  return change_.cwiseQuotient(scale_).cwiseAbs().maxCoeff();
}

void KinematicSolver::descend(System& system, State& state) {
  constexpr int kMostIterations = 200;
  constexpr double kMostChange = 0.5;
  factor(system, state);
  const auto size = [&] { return system.terms().phi.cwiseQuotient(model_.units.row).norm(); };
  double error = size();
  for (int i = 0; i < kMostIterations && model_.largest_error(system.terms().phi) > tolerance_; ++i) {
    bool better = false;
    for (double fraction = 1.0; fraction > 1e-4 && !better; fraction *= 0.5) {
      State trial = state;
      rows_.solve(system.terms().phi, change_);
      const double change = change_.cwiseQuotient(scale_).cwiseAbs().maxCoeff();
      change_ *= -fraction * std::min(1.0, kMostChange / std::max(change, 1e-300));
      displace(model_.tree, trial.q.data(), change_.data());
      system.update(trial);
      better = size() < (1.0 - 1e-4 * fraction) * error;
      if (better) state = trial;
      factor(system, state);
    }
    if (!better) return;
    error = size();
  }
}

void KinematicSolver::disturb(State& state, double amplitude, std::mt19937& random) {
  for (Eigen::Index i = 0; i < change_.size(); ++i)
    change_[i] = amplitude * scale_[i] * (2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0);
  displace(model_.tree, state.q.data(), change_.data());
}

double KinematicSolver::moved(const State& from, const State& to) const {
  double most = 0.0;
  for (const Node& node : model_.tree.nodes)
    for (int k = 0; k < position_count(node.kind); ++k) {
      const bool is_length = node.kind == NodeKind::kPrismatic || (node.kind == NodeKind::kFree && k < 3);
      most = std::max(most, std::abs(to.q[node.q + k] - from.q[node.q + k]) / (is_length ? model_.units.length : 1.0));
    }
  return most;
}

/// Rows that are combinations of others and ask for something else. At a singular position that says nothing: rows which are
/// independent elsewhere come together there.
Status KinematicSolver::contradiction(const VecX<double>& residual, double tolerance, const char* level) const {
  if (rows_.rank().rank < model_.tree.nv) return {};
  for (int i = 0; i < model_.row_count(); ++i) {
    if (!rows_.dependent()[static_cast<std::size_t>(i)] || std::abs(residual[i]) <= tolerance * model_.units.tolerance[i])
      continue;
    const std::vector<int> set = rows_.combination(i);
    return {fmt::format("closures {} contradict one another: their {} cannot all be met (off by {:.3g})",
                        closures_of(model_, set), level, std::abs(residual[i]))};
  }
  return {};
}

}  // namespace linkwork
