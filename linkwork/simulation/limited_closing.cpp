#include "linkwork/simulation/limited_closing.h"

#include <Eigen/SVD>
#include <algorithm>
#include <array>
#include <cmath>

#include "linkwork/tree/kinematics.h"

namespace linkwork {

namespace {

double uniform(std::mt19937& random) { return static_cast<double>(random()) / static_cast<double>(std::mt19937::max()); }

}  // namespace

bool LimitedClosing::can_take(const Model& model) { return model.tree.nv <= 400 && model.row_count() <= 400; }

LimitedClosing::LimitedClosing(const Model& model, const std::vector<char>& movable) : model_(model), system_(model) {
  std::vector<int> dof_of(static_cast<std::size_t>(model.tree.nv), -1);
  for (std::size_t i = 1; i < model.tree.nodes.size(); ++i) {
    const Node& node = model.tree.nodes[i];
    for (int k = 0; movable[i] != 0 && k < velocity_count(node.kind); ++k) {
      dof_of[static_cast<std::size_t>(node.v + k)] = static_cast<int>(dofs_.size());
      dofs_.push_back({node.v + k});
    }
  }
  for (const Joint& joint : model.joints) {
    if (!joint.limits || joint.q.size() != joint.v.size()) continue;
    for (std::size_t k = 0; k < joint.v.size(); ++k) {
      const int d = dof_of[static_cast<std::size_t>(joint.v[k])];
      if (d < 0) continue;
      dofs_[static_cast<std::size_t>(d)].q = joint.q[k];
      dofs_[static_cast<std::size_t>(d)].low = (*joint.limits)[0];
      dofs_[static_cast<std::size_t>(d)].high = (*joint.limits)[1];
    }
  }
  for (const FrameClosure& closure : model.frame_closures) rows_.push_back(closure.first_row + closure.row_count);
  for (const CoordinateClosure& closure : model.coordinate_closures) rows_.push_back(closure.row + 1);
  std::ranges::sort(rows_);
}

bool LimitedClosing::keeps_limits(const State& state) {
  constexpr double kRounding = 1e-9;
  system_.update(state);
  for (const Joint& joint : model_.joints) {
    if (!joint.limits) continue;
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system_.joint_motion(joint, {}, q, v, a);
    for (std::size_t k = 0; k < joint.kind->positions.size(); ++k)
      if (q[k] < (*joint.limits)[0] - kRounding || q[k] > (*joint.limits)[1] + kRounding) return false;
  }
  return true;
}

/// Errors of the first rows, in their units; the others count for nothing yet.
void LimitedClosing::look_at(const State& state, int rows) {
  system_.update(state);
  phi_ = system_.terms().phi.head(rows).cwiseQuotient(model_.units.row.head(rows));
}

VecX<double> LimitedClosing::step(const State& state) {
  const Eigen::Index rows = phi_.size();
  const MatX<double>& A = system_.jacobian();
  // What is at a limit and would leave it is left out, then those that leave after all.
  std::vector<char> held(dofs_.size(), 0);
  VecX<double> change = VecX<double>::Zero(model_.tree.nv);
  for (int again = 0; again < 4; ++again) {
    J_.setZero(rows, std::ssize(dofs_));
    for (std::size_t d = 0; d < dofs_.size(); ++d)
      if (held[d] == 0)
        J_.col(static_cast<Eigen::Index>(d)) =
            A.col(dofs_[d].v).head(rows).cwiseQuotient(model_.units.row.head(rows)) * model_.units.velocity[dofs_[d].v];
    Eigen::BDCSVD<MatX<double>> svd(J_, Eigen::ComputeThinU | Eigen::ComputeThinV);
    svd.setThreshold(1e-6);
    const VecX<double> solution = -svd.solve(phi_);
    bool is_new = false;
    change.setZero();
    for (std::size_t d = 0; d < dofs_.size(); ++d) {
      const Dof& dof = dofs_[d];
      const double by = solution[static_cast<Eigen::Index>(d)] * model_.units.velocity[dof.v];
      change[dof.v] = held[d] != 0 ? 0.0 : by;
      if (dof.q < 0 || held[d] != 0) continue;
      const double q = state.q[dof.q];
      if ((q <= dof.low && by < 0.0) || (q >= dof.high && by > 0.0)) held[d] = 1, is_new = true;
    }
    if (!is_new) break;
  }
  return change;
}

void LimitedClosing::into_limits(State& state) const {
  for (const Dof& dof : dofs_)
    if (dof.q >= 0) state.q[dof.q] = std::clamp(state.q[dof.q], dof.low, dof.high);
}

bool LimitedClosing::descend(State& state, int rows) {
  constexpr int kMostIterations = 80;
  const double closed = 1e-2 * model_.settings.constraint_tolerance;
  look_at(state, rows);
  for (int i = 0; i < kMostIterations; ++i) {
    if (phi_.size() == 0 || largest_error() <= closed) return true;
    const double before = size();
    VecX<double> change = step(state);
    constexpr double kMost = 0.5;
    if (const double largest = change.cwiseQuotient(model_.units.velocity).cwiseAbs().maxCoeff(); largest > kMost)
      change *= kMost / largest;
    bool better = false;
    for (int halved = 0; halved < 12 && !better; ++halved, change *= 0.5) {
      State trial = state;
      displace(model_.tree, trial.q.data(), change.data());
      into_limits(trial);
      look_at(trial, rows);
      better = size() < (halved < 2 ? 0.9999 : 0.99) * before;
      if (better) state = trial;
    }
    if (!better) break;
  }
  look_at(state, rows);
  return largest_error() <= model_.settings.constraint_tolerance;
}

/// The given one first; then further and further from it, within the limits.
State LimitedClosing::start(const State& given, int attempt, std::mt19937& random) const {
  State state = given;
  if (attempt > 0) {
    const double share = std::min(1.0, 0.08 * attempt);
    VecX<double> change = VecX<double>::Zero(model_.tree.nv);
    for (const Dof& dof : dofs_) {
      const double x = uniform(random);
      const bool is_bounded = dof.q >= 0 && dof.high - dof.low < 7.0 * model_.units.velocity[dof.v];
      change[dof.v] = is_bounded ? share * (dof.low + x * (dof.high - dof.low) - state.q[dof.q])
                                 : share * (2.0 * x - 1.0) * 2.0 * model_.units.velocity[dof.v];
    }
    displace(model_.tree, state.q.data(), change.data());
  }
  into_limits(state);
  return state;
}

bool LimitedClosing::close(const State& given, State& state) {
  constexpr int kStarts = 40;
  std::mt19937 random(2024);
  for (int attempt = 0; attempt < kStarts; ++attempt) {
    State trial = start(given, attempt, random);
    bool closed = attempt % 2 == 0 && descend(trial, model_.row_count());  // all loops at once, or one after another
    if (!closed) {
      trial = start(given, attempt, random);
      for (const int rows : rows_) closed = descend(trial, rows);
    }
    if (!closed || !keeps_limits(trial)) continue;
    state = trial;
    return true;
  }
  return false;
}

}  // namespace linkwork
