#include "linkwork/simulation/loop_closing.h"

#include <algorithm>
#include <cmath>

#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

/// Entries of the Jacobian beyond which weights, which need it dense, are not worth their time.
constexpr double kLargestDense = 4e6;

}  // namespace

bool Willingness::is_uniform() const {
  double some = 0.0;
  for (const double node : nodes) {
    if (node == 0.0) continue;
    if (some != 0.0 && node != some) return false;
    some = node;
  }
  return true;
}

LoopClosing::LoopClosing(const Model& model) : model_(model), system_(model), projection_(model), position_rows_(model) {}

std::vector<char> LoopClosing::in_loops() const {
  std::vector<char> moves(static_cast<std::size_t>(model_.tree.nv), 0), in_loop(model_.tree.nodes.size(), 0);
  const ConstraintTerms& terms = system_.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g) {
    bool in_force = false;
    for (int c = 0; c < terms.groups[g].columns(); ++c) in_force = in_force || system_.is_active(terms.first_rows[g] + c);
    if (!in_force) continue;
    for (const int dof : terms.groups[g].support()) moves[static_cast<std::size_t>(dof)] = 1;
  }
  for (std::size_t i = 1; i < in_loop.size(); ++i) {
    const Node& node = model_.tree.nodes[i];
    for (int k = 0; k < velocity_count(node.kind); ++k) in_loop[i] |= moves[static_cast<std::size_t>(node.v + k)];
  }
  return in_loop;
}

void LoopClosing::allow(const Willingness& willingness) {
  std::vector<char>& locked = system_.work().locked;
  locked.assign(model_.tree.nodes.size(), 0);
  for (std::size_t i = 1; i < locked.size(); ++i) locked[i] = willingness.nodes[i] == 0.0;
  weighted_ = !willingness.is_uniform() && static_cast<double>(model_.row_count()) * model_.tree.nv <= kLargestDense;
  if (!weighted_) return;
  column_scale_.setZero(model_.tree.nv);
  for (std::size_t i = 1; i < locked.size(); ++i) {
    const Node& node = model_.tree.nodes[i];
    for (int k = node.v; k < node.v + velocity_count(node.kind); ++k)
      column_scale_[k] = willingness.nodes[i] * model_.units.velocity[k];
  }
}

/// With W the weights and B = A W^(-1/2): the shortest y with B y = error gives the change W^(-1/2) y.
const VecX<double>& LoopClosing::weighted_change(const VecX<double>& error, bool positions) {
  rows_ = system_.jacobian() * column_scale_.asDiagonal();
  if (positions)
    for (const int row : position_rows_.velocity_rows()) rows_.row(row).setZero();
  bounds_ = system_.jacobian_bounds() * column_scale_.asDiagonal();
  squared_lengths(bounds_, row_scale_);
  basis_.factor(rows_, row_scale_);
  change_.setZero(model_.tree.nv);
  basis_.shortest_solution(error, change_);
  change_ = change_.cwiseProduct(column_scale_).eval();
  return change_;
}

double LoopClosing::correct_position(State& state, double fraction) {
  if (!weighted_) return projection_.correct_position(system_, state, fraction);
  change_ = -fraction * weighted_change(system_.terms().phi, true).eval();
  displace(model_.tree, state.q.data(), change_.data());
  return change_.cwiseAbs().cwiseQuotient(model_.units.velocity).maxCoeff();
}

bool LoopClosing::close_positions(const State& given, const Willingness& willingness, const Starts& starts, State& state) {
  system_.update(given);
  allow(willingness);
  std::mt19937 random(12345);
  State best = given;
  double best_error = position_error();
  for (int start = 0; start < starts.count && best_error > tolerance(); ++start) {
    State trial = given;
    if (start > 0) disturb(trial, starts.disturbance * start, random);
    descend(trial);
    if (position_error() < best_error) best = trial, best_error = position_error();
  }
  state = best;
  system_.update(state);
  // Near a singular position Newton's method converges slowly: the user's own tolerance is what must be met.
  return best_error <= model_.settings.constraint_tolerance;
}

void LoopClosing::descend(State& state) {
  constexpr int kMostIterations = 200;
  system_.update(state);
  const auto size = [&] { return system_.terms().phi.cwiseQuotient(model_.units.row).norm(); };
  double error = size();
  for (int i = 0; i < kMostIterations && position_error() > 1e-3 * tolerance(); ++i) {
    bool better = false;
    for (double fraction = 1.0; fraction > 1e-4; fraction *= 0.5) {
      State trial = state;
      system_.update(trial);
      const double change = correct_position(trial, fraction);
      constexpr double most = 0.5;  // of the coordinates' units
      if (change > most) {
        trial = state;
        system_.update(trial);
        correct_position(trial, fraction * most / change);
      }
      system_.update(trial);
      const double trial_error = size();
      if (!(trial_error < error)) continue;
      state = trial;
      better = trial_error < 0.999 * error;
      error = trial_error;
      break;
    }
    if (!better) break;
  }
  system_.update(state);
}

void LoopClosing::disturb(State& state, double amplitude, std::mt19937& random) const {
  VecX<double> change = VecX<double>::Zero(model_.tree.nv);
  for (std::size_t i = 1; i < model_.tree.nodes.size(); ++i) {
    const Node& node = model_.tree.nodes[i];
    for (int k = 0; k < velocity_count(node.kind); ++k) {
      const double uniform = 2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0;
      if (!system_.work().locked[i]) change[node.v + k] = amplitude * uniform * model_.units.velocity[node.v + k];
    }
  }
  displace(model_.tree, state.q.data(), change.data());
}

bool LoopClosing::close_velocities(const Willingness& willingness, State& state) {
  system_.update(state);
  allow(willingness);
  for (int i = 0; i < 3 && velocity_error() > tolerance() * model_.speed(state.v); ++i) {
    if (weighted_)
      state.v -= weighted_change(system_.terms().rate, false);
    else
      projection_.correct_velocity(system_, state);
    system_.update(state);
  }
  return velocity_error() <= model_.settings.constraint_tolerance * model_.speed(state.v);
}

}  // namespace linkwork
