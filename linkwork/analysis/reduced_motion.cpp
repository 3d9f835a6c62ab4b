#include "linkwork/analysis/reduced_motion.h"

#include <fmt/format.h>

#include <Eigen/LU>
#include <algorithm>
#include <cmath>

#include "linkwork/analysis/joint_parts.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/linalg/coordinate_partition.h"
#include "linkwork/simulation/simulation_error.h"
#include "linkwork/spatial/so3.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// The place in q of the position whose rate is the given velocity; -1 where a joint turns in space.
int position_of(const Tree& tree, int v) {
  for (const Node& node : tree.nodes) {
    const int simple = node.kind == NodeKind::kSpherical ? 0
                       : node.kind == NodeKind::kFree    ? 3
                                                         : linkwork::velocity_count(node.kind);
    if (v >= node.v && v < node.v + simple) return node.q + v - node.v;
  }
  return -1;
}

}  // namespace

ReducedMotion::Split ReducedMotion::split(bool positions) {
  const Model& m = model();
  System& system = evaluator_.system();
  VecX<double> units;
  rank_units(system, units);
  MatX<double> A = system.jacobian(), bounds = system.jacobian_bounds();
  for (int row = 0; row < m.row_count(); ++row)
    if (const ConstraintRow& of = m.rows[static_cast<std::size_t>(row)];
        !system.is_active(row) || (positions && !of.holonomic) || (rows_ == Rows::kPermanent && of.switched)) {
      A.row(row).setZero();
      bounds.row(row).setZero();
    }
  CoordinatePartition partition(m.tree.nv, m.row_count());
  partition.update(A, bounds, units.cwiseAbs2());
  const auto& columns = partition.columns();
  const auto rank = static_cast<std::ptrdiff_t>(partition.rank().rank);
  Split split{partition.rows(), {columns.begin(), columns.begin() + rank}, {columns.begin() + rank, columns.end()}};
  std::ranges::sort(split.independent);
  return split;
}

void ReducedMotion::begin(const State& state, const Modes* modes, Rows rows) {
  rows_ = rows;
  derivatives_known_ = false;
  evaluator_.set_modes(modes);
  if (rows == Rows::kInForce)
    evaluator_.evaluate(state, std::map<std::string, double>());
  else
    evaluator_.evaluate(state);
  base_ = guess_ = evaluator_.state();
  inputs_.resize(input_count());
  for (int k = 0; k < input_count(); ++k)
    inputs_[k] = evaluator_.system().input(evaluator_.settable()[static_cast<std::size_t>(k)]).value;
  positions_ = split(true);
  velocities_ = split(false);
  origin_ = VecX<double>::Zero(size());
  for (int k = 0; k < velocity_count(); ++k)
    origin_[position_count() + k] = base_.v[velocities_.independent[static_cast<std::size_t>(k)]];
  for (int k = 0; k < state_count(); ++k) origin_[position_count() + velocity_count() + k] = evaluator_.system().user_state(k);
  base_ = guess_ = state_at(origin_);
  rows_ == Rows::kInForce ? rates(origin_) : rates_as_set(origin_);
}

ReducedMotion::Saved ReducedMotion::save() const { return {base_, guess_, positions_, velocities_, origin_, inputs_}; }

void ReducedMotion::restore(const Saved& saved, const Modes* modes) {
  rows_ = Rows::kPermanent;
  evaluator_.set_modes(modes);
  base_ = saved.base, guess_ = saved.guess, positions_ = saved.positions, velocities_ = saved.velocities;
  origin_ = saved.origin, inputs_ = saved.inputs;
  derivatives_known_ = false;
}

void ReducedMotion::move_origin(const VecX<double>& x) {
  derivatives_known_ = false;
  base_ = guess_ = State(state_at(x));
  origin_ = x;
  origin_.head(position_count()).setZero();
  for (int k = 0; k < input_count(); ++k)
    inputs_[k] = evaluator_.system().input(evaluator_.settable()[static_cast<std::size_t>(k)]).value;
}

bool ReducedMotion::is_turn(int position) const {
  return position_of(model().tree, positions_.independent[static_cast<std::size_t>(position)]) < 0;
}

VecX<double> ReducedMotion::reference() const {
  VecX<double> reference = VecX<double>::Zero(size());
  for (int k = 0; k < position_count(); ++k)
    if (!is_turn(k)) reference[k] = base_.q[position_of(model().tree, positions_.independent[static_cast<std::size_t>(k)])];
  return reference;
}

double ReducedMotion::dependence() {
  const VecX<double>& unit = model().units.velocity;
  const MatX<double> N = free_directions();
  double most = 0.0;
  for (const int row : velocities_.dependent)
    for (Eigen::Index k = 0; k < N.cols(); ++k)
      most = std::max(most, std::abs(N(row, k)) * unit[velocities_.independent[static_cast<std::size_t>(k)]] / unit[row]);
  return most;
}

std::vector<std::string> ReducedMotion::names() const {
  std::vector<std::string> names;
  for (const int c : positions_.independent) names.push_back("q." + model().velocity_name(c));
  for (const int c : velocities_.independent) names.push_back("v." + model().velocity_name(c));
  for (const UserState& state : model().states) names.push_back("z." + state.name);
  return names;
}

VecX<double> ReducedMotion::steps() const {
  const VecX<double>& unit = model().units.velocity;
  const double rate = std::max(1.0, model().speed(base_.v));
  VecX<double> steps(size());
  for (int k = 0; k < position_count(); ++k) steps[k] = 2e-4 * unit[positions_.independent[static_cast<std::size_t>(k)]];
  for (int k = 0; k < velocity_count(); ++k)
    steps[position_count() + k] = 2e-5 * rate * unit[velocities_.independent[static_cast<std::size_t>(k)]];
  for (int k = position_count() + velocity_count(); k < size(); ++k) steps[k] = 1e-4 * std::max(1.0, std::abs(origin_[k]));
  return steps;
}

VecX<double> ReducedMotion::displacement(const State& state) const {
  return linkwork::displacement(model().tree, base_.q, state.q);
}

const State& ReducedMotion::state_at(const VecX<double>& x) {
  constexpr int kMost = 40;
  constexpr double kRounding = 1e-14;
  System& system = evaluator_.system();
  const VecX<double>& unit = model().units.velocity;
  state_ = guess_;
  VecX<double> change(model().tree.nv);
  double moved = 1.0, before = INFINITY;
  for (int iteration = 0; iteration < kMost && (moved > kRounding || iteration < 2); ++iteration) {
    system.update_positions(state_);
    const VecX<double> now = displacement(state_);
    change.setZero();
    for (int k = 0; k < position_count(); ++k) {
      const int c = positions_.independent[static_cast<std::size_t>(k)];
      change[c] = x[k] - now[c];
    }
    for_each_turn(model().tree, [&](int q, int v) {  // of whole turns far from where x is counted from
      const bool whole = std::ranges::count_if(positions_.independent, [&](int c) { return c >= v && c < v + 3; }) == 3;
      if (!whole) return;
      const Mat3<double> turned = rotation(base_.q, q).transpose() * rotation(state_.q, q);
      const Mat3<double> by_turn = so3_log_rate(so3_log(turned)) * turned;
      change.segment<3>(v) = by_turn.partialPivLu().solve(Vec3<double>(change.segment<3>(v)));
    });
    if (!positions_.rows.empty()) {
      const MatX<double>& A = system.jacobian();
      const VecX<double> right = -system.terms().phi(positions_.rows) - A(positions_.rows, Eigen::all) * change;
      const VecX<double> follow = MatX<double>(A(positions_.rows, positions_.dependent)).partialPivLu().solve(right);
      for (std::size_t k = 0; k < positions_.dependent.size(); ++k)
        change[positions_.dependent[k]] = follow[static_cast<Eigen::Index>(k)];
    }
    displace(model().tree, state_.q.data(), change.data());
    moved = change.size() > 0 ? change.cwiseQuotient(unit).cwiseAbs().maxCoeff() : 0.0;
    if (!std::isfinite(moved) || moved > 1e3 || (iteration > 3 && moved >= before && moved > 1e-9))
      throw SimulationError("the loops cannot be closed there");
    if (moved >= before && moved < 1e-10) break;  // no better in these numbers
    before = moved;
  }
  const auto np = position_count(), nv = velocity_count();
  for (int k = 0; k < nv; ++k) state_.v[velocities_.independent[static_cast<std::size_t>(k)]] = x[np + k];
  system.update(state_);
  if (!velocities_.rows.empty()) {
    const MatX<double>& A = system.jacobian();
    const VecX<double> off = system.terms().rate(velocities_.rows);
    const VecX<double> correction = MatX<double>(A(velocities_.rows, velocities_.dependent)).partialPivLu().solve(off);
    for (std::size_t k = 0; k < velocities_.dependent.size(); ++k)
      state_.v[velocities_.dependent[k]] -= correction[static_cast<Eigen::Index>(k)];
  }
  if (state_count() > 0) state_.z.head(state_count()) = x.tail(state_count());
  return state_;
}

VecX<double> ReducedMotion::rates(const VecX<double>& x, const VecX<double>& inputs) {
  evaluator_.evaluate(state_at(x), inputs);
  return rates_of(evaluator_);
}

VecX<double> ReducedMotion::rates_as_set(const VecX<double>& x) {
  evaluator_.evaluate(state_at(x));
  return rates_of(evaluator_);
}

VecX<double> ReducedMotion::coordinates_of(const State& state) const {
  VecX<double> x(size());
  x.head(position_count()) = displacement(state)(positions_.independent);
  x.segment(position_count(), velocity_count()) = state.v(velocities_.independent);
  x.tail(state_count()) = state.z.head(state_count());
  return x;
}

VecX<double> ReducedMotion::rates_of(const Evaluator& evaluator) const {
  const State& at = evaluator.state();
  VecX<double> moves = at.v;
  for_each_turn(model().tree, [&](int q, int v) {
    const Mat3<double> turned = rotation(base_.q, q).transpose() * rotation(at.q, q);
    moves.segment<3>(v) = so3_log_rate(so3_log(turned)) * (turned * at.v.segment<3>(v));
  });
  VecX<double> rates(size());
  rates.head(position_count()) = moves(positions_.independent);
  rates.segment(position_count(), velocity_count()) = evaluator.solution().vdot(velocities_.independent);
  evaluator.system().state_rates(std::span(rates.data() + position_count() + velocity_count(), model().states.size()));
  return rates;
}

MatX<double> ReducedMotion::free_directions() {
  MatX<double> N = MatX<double>::Zero(model().tree.nv, velocity_count());
  for (int k = 0; k < velocity_count(); ++k) N(velocities_.independent[static_cast<std::size_t>(k)], k) = 1.0;
  if (velocities_.rows.empty()) return N;
  const MatX<double>& A = evaluator_.system().jacobian();
  const MatX<double> dependent = A(velocities_.rows, velocities_.dependent), free = A(velocities_.rows, velocities_.independent);
  const MatX<double> follow = dependent.partialPivLu().solve(free);
  N(velocities_.dependent, Eigen::all) = -follow;
  return N;
}

VecX<double> ReducedMotion::free_forces() {
  evaluator_.refresh();
  System& system = evaluator_.system();
  return free_directions().transpose() * (system.work().tau - system.bias());
}

}  // namespace linkwork
