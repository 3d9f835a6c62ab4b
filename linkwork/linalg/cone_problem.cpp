#include "linkwork/linalg/cone_problem.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <Eigen/QR>
#include <algorithm>
#include <cmath>
#include <limits>

namespace linkwork {

namespace {

/// The point of a cone nearest to f.
void project(const Cone& cone, VecX<double>& f) {
  const int n = cone.first;
  if (cone.kind == Cone::Kind::kHalfLine) {
    f[n] = std::max(0.0, f[n]);
  } else if (cone.kind == Cone::Kind::kBall) {
    auto all = f.segment(n, cone.size);
    if (const double length = all.norm(); length > cone.limit) all *= cone.limit / length;
  } else if (cone.kind == Cone::Kind::kFriction) {
    auto across = f.segment(n + 1, cone.size - 1);
    const double length = across.norm();
    if (length <= cone.limit * f[n]) return;
    if (cone.limit * length <= -f[n]) {
      f.segment(n, cone.size).setZero();
      return;
    }
    const double normal = (f[n] + cone.limit * length) / (1.0 + cone.limit * cone.limit);
    f[n] = normal;
    across *= cone.limit * normal / length;
  }
}

constexpr double kRounding = 1e-9;

bool presses(const Cone& cone) { return cone.kind == Cone::Kind::kHalfLine || cone.kind == Cone::Kind::kFriction; }

/// Where the forces that friction bounds begin, and how many they are.
int first_across(const Cone& cone) { return cone.kind == Cone::Kind::kFriction ? cone.first + 1 : cone.first; }
int count_across(const Cone& cone) {
  return cone.kind == Cone::Kind::kFriction ? cone.size - 1 : cone.kind == Cone::Kind::kBall ? cone.size : 0;
}

}  // namespace

bool ConeProblem::solve(const MatX<double>& W, const VecX<double>& c, std::span<const Cone> cones, double size) {
  scale(W, c, cones, size);
  states_.assign(cones.size(), State::kHolds);
  bool solved = false;
  // The quick way may run in circles, or stop short where masses differ much.
  struct Attempt {
    int most, renewal;
    double penalty;
  };
  for (const auto& [most, renewal, penalty] : {Attempt{1500, 1, 0.3}, {1500, 1, 0.02}, {10'000, 50, 0.3}, {40'000, 500, 0.02}}) {
    iterate(most, renewal, penalty);
    solved = read_set() || repair_set() || take_iterate();
    if (solved) break;
  }
  force_ = z_.cwiseProduct(scale_) * unit_;
  motion_ = (W_ * z_ + c_).cwiseQuotient(scale_) * unit_;
  return solved;
}

/// Motions smaller than a tolerance count as none; the set tells whether that was right.
bool ConeProblem::read_set() {
  for (const double tolerance : {1e-9, 1e-7, 1e-5, 1e-3}) {
    if (!read_states(tolerance) || !solve_set() || !fits(kRounding)) continue;
    z_ = force_;
    return true;
  }
  return false;
}

/// An iteration that is not at its end may have a few states wrong: what breaks the conditions of its state takes another, all of
/// them at once, or one by one where a set comes again.
bool ConeProblem::repair_set() {
  constexpr int kMost = 40;
  constexpr double kStill = 1e-6;
  if (!read_states(kStill)) return false;
  std::vector<std::vector<State>> seen;
  for (int round = 0; round < kMost; ++round) {
    if (!solve_set()) return false;
    if (fits(kRounding)) {
      z_ = force_;
      return true;
    }
    const bool again = std::ranges::find(seen, states_) != seen.end();
    seen.push_back(states_);
    const double size = force_size();
    double worst = 0.0;
    std::size_t which = cones_.size();
    State change = State::kHolds;
    for (std::size_t k = 0; k < cones_.size(); ++k) {
      const auto [broken, next] = violation(k);
      if (!(broken > kRounding * size)) continue;
      if (!again) states_[k] = next;
      // The worst one, or by turns the last one: the same choice for ever would lead round in a circle.
      if (broken > worst || round % 2 == 0) worst = broken, which = k, change = next;
    }
    if (which == cones_.size()) return false;
    if (again) states_[which] = change;
  }
  return false;
}

/// By how much a cone breaks the conditions of its state, and which state would mend it.
std::pair<double, ConeProblem::State> ConeProblem::violation(std::size_t k) const {
  const Cone& cone = cones_[k];
  if (states_[k] == State::kOpen) return {-motion_[cone.first], State::kHolds};
  if (presses(cone) && force_[cone.first] < -kRounding * force_size()) return {-force_[cone.first], State::kOpen};
  if (states_[k] == State::kHolds) return {count_across(cone) > 0 ? -depth(cone, force_) : 0.0, State::kSlides};
  return {misalignment(cone), State::kHolds};
}

/// Where a state is at its very limit the equations of a set may have no accurate solution. The iteration's own forces lie in the
/// cones, and are as good as what is left of f - P(f - m - s), P the nearest point of the cones.
bool ConeProblem::take_iterate() {
  constexpr double kEnough = 1e-10;
  if (!z_.allFinite()) return false;
  motion_ = W_ * z_ + c_;
  VecX<double> nearest = z_ - motion_;
  for (const Cone& cone : cones_) {
    if (cone.kind == Cone::Kind::kFriction)
      nearest[cone.first] -= cone.limit * motion_.segment(cone.first + 1, cone.size - 1).norm();
    project(cone, nearest);
  }
  const double size = std::max(1.0, z_.cwiseAbs().maxCoeff());
  return (z_ - nearest).cwiseAbs().maxCoeff() <= kEnough * size && read_states(kRounding);
}

/// Forces f = unit scale z, so that W has a diagonal of at most 1 and c is about 1. One scale per cone.
void ConeProblem::scale(const MatX<double>& W, const VecX<double>& c, std::span<const Cone> cones, double size) {
  const double largest = W.size() > 0 ? W.diagonal().cwiseAbs().maxCoeff() : 0.0;
  scale_.resize(c.size());
  for (const Cone& cone : cones) {
    const double own = W.diagonal().segment(cone.first, cone.size).cwiseAbs().maxCoeff();
    const double used = own > 1e-10 * largest ? own : largest;
    scale_.segment(cone.first, cone.size).setConstant(used > 0.0 ? 1.0 / std::sqrt(used) : 1.0);
  }
  W_ = scale_.asDiagonal() * W * scale_.asDiagonal();
  c_ = c.cwiseProduct(scale_);
  unit_ = c.size() > 0 ? std::max(c_.cwiseAbs().maxCoeff(), 1e-3 * size * scale_.maxCoeff()) : 1.0;
  if (!(unit_ > 0.0)) unit_ = 1.0;
  c_ /= unit_;
  cones_.assign(cones.begin(), cones.end());
  for (Cone& cone : cones_)
    if (cone.kind == Cone::Kind::kBall) cone.limit /= unit_ * scale_[cone.first];
}

/// (W + rho) x = rho (z - y) - c - s,  z = the point of the cones nearest to x + y,  y += x - z.  At the end x = z, and -rho y
/// are the motions, corrected by s. It follows the motions at every `renewal`.
void ConeProblem::iterate(int most, int renewal, double penalty) {
  constexpr int kReview = 50;
  constexpr double kEnough = 1e-12, kRelaxation = 1.6;
  const auto n = c_.size();
  double rho = penalty;
  x_ = z_ = y_ = s_ = VecX<double>::Zero(n);
  left_ = 0.0;
  if (n == 0) return;
  Eigen::PartialPivLU<MatX<double>> factors;
  const auto factor = [&] { factors.compute(W_ + rho * MatX<double>::Identity(n, n)); };
  factor();
  const auto renew = [&] {
    double change = 0.0;
    for (const Cone& cone : cones_) {
      if (cone.kind != Cone::Kind::kFriction) continue;
      const double now = cone.limit * rho * y_.segment(cone.first + 1, cone.size - 1).norm();
      change = std::max(change, std::abs(now - s_[cone.first]));
      s_[cone.first] = now;
    }
    return change;
  };
  VecX<double> before, relaxed;
  for (int i = 1; i <= most; ++i) {
    x_ = factors.solve(rho * (z_ - y_) - c_ - s_);
    before = z_;
    relaxed = kRelaxation * x_ + (1.0 - kRelaxation) * z_;
    z_ = relaxed + y_;
    for (const Cone& cone : cones_) project(cone, z_);
    y_ += relaxed - z_;
    if (i % renewal == 0) renew();
    if (i % 10 != 0) continue;
    const double size = std::max(1.0, z_.cwiseAbs().maxCoeff());
    const double primal = (x_ - z_).cwiseAbs().maxCoeff() / size, dual = rho * (z_ - before).cwiseAbs().maxCoeff();
    left_ = std::max(primal, dual);
    if (!std::isfinite(left_)) return;
    if (left_ < kEnough && renew() < kEnough) return;
    if (i % kReview != 0 || i > most / 2) continue;
    const double ratio = std::sqrt(std::max(primal, 1e-16) / std::max(dual, 1e-16));
    if (ratio < 3.0 && ratio > 1.0 / 3.0) continue;
    const double next = std::clamp(rho * std::clamp(ratio, 0.2, 5.0), 1e-4, 1e2);
    y_ *= rho / next;
    rho = next;
    factor();
  }
}

bool ConeProblem::read_states(double tolerance) {
  if (!z_.allFinite()) return false;
  motion_ = W_ * z_ + c_;
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    const Cone& cone = cones_[k];
    states_[k] = State::kHolds;
    if (presses(cone) && motion_[cone.first] > tolerance && z_[cone.first] <= std::max(tolerance, 10.0 * left_)) {
      states_[k] = State::kOpen;
    } else if (const int count = count_across(cone); count > 0) {
      if (motion_.segment(first_across(cone), count).norm() > tolerance) states_[k] = State::kSlides;
    }
  }
  return true;
}

/// The equations of the set: no motion where it holds; of what slides no motion along its normal, and
///   f_t + limit f_n m_t/|m_t| = 0                                                                          (1)
/// (of a ball without f_n). By Newton's method, which is exact in the first step where nothing slides in two directions.
bool ConeProblem::solve_set() {
  constexpr int kMost = 20;
  std::vector<int> unknown;
  force_ = VecX<double>::Zero(c_.size());
  for (std::size_t k = 0; k < cones_.size(); ++k)
    for (int i = 0; i < cones_[k].size; ++i)
      if (states_[k] != State::kOpen) unknown.push_back(cones_[k].first + i);
  for (int i : unknown) force_[i] = z_[i];
  const auto count = static_cast<Eigen::Index>(unknown.size());
  motion_ = W_ * force_ + c_;
  if (count == 0) return true;
  const MatX<double> moved = W_(Eigen::all, unknown);
  MatX<double> J(count, count);
  VecX<double> error(count), step;
  for (int round = 0; round < kMost; ++round) {
    Eigen::Index row = 0;
    for (std::size_t k = 0; k < cones_.size(); ++k) {
      if (states_[k] == State::kOpen) continue;
      const Cone& cone = cones_[k];
      const bool slides = states_[k] == State::kSlides;
      const int across = slides ? count_across(cone) : 0, first = first_across(cone), still = cone.size - across;
      J.middleRows(row, still) = moved.middleRows(cone.first, still);
      error.segment(row, still) = motion_.segment(cone.first, still);
      if (across == 0) {
        row += still;
        continue;
      }
      const double speed = motion_.segment(first, across).norm();
      if (!(speed > 0.0)) return false;
      const VecX<double> along = motion_.segment(first, across) / speed;
      const bool has_normal = cone.kind == Cone::Kind::kFriction;
      const double bound = has_normal ? cone.limit * force_[cone.first] : cone.limit;
      const MatX<double> turning = bound / speed * (MatX<double>::Identity(across, across) - along * along.transpose());
      auto own = J.middleRows(row + still, across);
      own = turning * moved.middleRows(first, across);  // of (1)
      own.middleCols(row + still, across).diagonal().array() += 1.0;
      if (has_normal) own.col(row) += cone.limit * along;
      error.segment(row + still, across) = force_.segment(first, across) + bound * along;
      row += cone.size;
    }
    for (Eigen::Index i = 0; i < count; ++i)
      if (const double size = J.row(i).cwiseAbs().maxCoeff(); size > 1.0) J.row(i) /= size, error[i] /= size;
    Eigen::CompleteOrthogonalDecomposition<MatX<double>> factors;
    factors.setThreshold(1e-10);
    factors.compute(J);
    step = factors.solve(error);
    for (Eigen::Index i = 0; i < count; ++i) force_[unknown[static_cast<std::size_t>(i)]] -= step[i];
    motion_ = W_ * force_ + c_;
    if (!force_.allFinite()) return false;
    if (step.cwiseAbs().maxCoeff() < 1e-14 * std::max(1.0, force_.cwiseAbs().maxCoeff())) break;
  }
  return true;
}

double ConeProblem::force_size() const { return std::max(1.0, force_.size() > 0 ? force_.cwiseAbs().maxCoeff() : 0.0); }

/// How far friction that slides is from its limit against the motion, (1).
double ConeProblem::misalignment(const Cone& cone) const {
  const int first = first_across(cone), count = count_across(cone);
  const double bound = cone.kind == Cone::Kind::kFriction ? cone.limit * force_[cone.first] : cone.limit;
  const double speed = motion_.segment(first, count).norm();
  if (!(speed > 0.0)) return 0.0;
  return (force_.segment(first, count) + bound / speed * motion_.segment(first, count)).norm();
}

bool ConeProblem::fits(double tolerance) const {
  const double size = force_size();
  for (std::size_t k = 0; k < cones_.size(); ++k) {
    const Cone& cone = cones_[k];
    switch (states_[k]) {
      case State::kOpen:
        if (motion_[cone.first] < -tolerance) return false;
        break;
      case State::kHolds:
        if (motion_.segment(cone.first, cone.size).cwiseAbs().maxCoeff() > tolerance) return false;
        if (depth(cone, force_) < -tolerance * size) return false;
        break;
      case State::kSlides:
        if (presses(cone) && (force_[cone.first] < -tolerance * size || std::abs(motion_[cone.first]) > tolerance)) return false;
        if (misalignment(cone) > tolerance * size) return false;
        break;
    }
  }
  return true;
}

double depth(const Cone& cone, const VecX<double>& f) {
  switch (cone.kind) {
    case Cone::Kind::kHalfLine:
      return f[cone.first];
    case Cone::Kind::kFriction:
      return cone.limit * f[cone.first] - f.segment(cone.first + 1, cone.size - 1).norm();
    case Cone::Kind::kBall:
      return cone.limit - f.segment(cone.first, cone.size).norm();
    case Cone::Kind::kFree:
      break;
  }
  return std::numeric_limits<double>::infinity();
}

/// Greatest d with depth(cone) >= d for all, d <= largest: by Newton's method on -t d + |y|^2/2 - sum of logarithms of what is
/// left, t growing.
double deepest_distribution(const MatX<double>& N, std::span<const Cone> cones, VecX<double>& f) {
  constexpr double kFirst = 1.0, kLast = 1e13, kGrowth = 20.0;
  const double largest = f.size() > 0 ? f.cwiseAbs().maxCoeff() : 0.0;
  const auto least_depth = [&](const VecX<double>& at) {
    double least = largest;
    for (const Cone& cone : cones) least = std::min(least, depth(cone, at));
    return least;
  };
  const auto d = N.cols();
  if (d == 0 || !(largest > 0.0)) return least_depth(f);
  const VecX<double> start = f / largest;
  VecX<double> x = VecX<double>::Zero(d + 1);  // y, and the depth
  x[d] = std::min(0.0, least_depth(f) / largest) - 1.0;
  std::vector<Cone> scaled(cones.begin(), cones.end());
  for (Cone& cone : scaled)
    if (cone.kind == Cone::Kind::kBall) cone.limit /= largest;
  VecX<double> at, gradient(d + 1), step;
  MatX<double> hessian(d + 1, d + 1);
  // The barrier, and where wanted its derivatives. Infinite outside.
  const auto barrier = [&](const VecX<double>& p, double t, bool derivatives) {
    at = start + N * p.head(d);
    double value = -t * p[d] + 0.5 * p.head(d).squaredNorm() - std::log(1.0 - p[d]);
    if (!(p[d] < 1.0)) return std::numeric_limits<double>::infinity();
    if (derivatives) {
      gradient.setZero();
      hessian.setZero();
      gradient.head(d) = p.head(d);
      hessian.diagonal().head(d).setOnes();
      gradient[d] = -t + 1.0 / (1.0 - p[d]);
      hessian(d, d) = 1.0 / ((1.0 - p[d]) * (1.0 - p[d]));
    }
    for (const Cone& cone : scaled) {
      if (cone.kind == Cone::Kind::kFree) continue;
      const int first = first_across(cone), count = count_across(cone);
      // u = limit f_n - depth, q = u^2 - |f_t|^2
      const double bound = cone.kind == Cone::Kind::kBall ? cone.limit
                           : count == 0                   ? at[cone.first]
                                                          : cone.limit * at[cone.first];
      const double u = bound - p[d];
      if (!(u > 0.0)) return std::numeric_limits<double>::infinity();
      VecX<double> du = VecX<double>::Zero(d + 1);
      du[d] = -1.0;
      if (cone.kind == Cone::Kind::kHalfLine) du.head(d) = N.row(cone.first).transpose();
      if (cone.kind == Cone::Kind::kFriction) du.head(d) = cone.limit * N.row(cone.first).transpose();
      if (count == 0) {
        value -= std::log(u);
        if (!derivatives) continue;
        gradient -= du / u;
        hessian += du * du.transpose() / (u * u);
        continue;
      }
      const double length = at.segment(first, count).norm();
      const double q = (u - length) * (u + length);
      if (!(u > length)) return std::numeric_limits<double>::infinity();
      value -= std::log(q);
      if (!derivatives) continue;
      VecX<double> dq = 2.0 * u * du;
      dq.head(d) -= 2.0 * N.middleRows(first, count).transpose() * at.segment(first, count);
      gradient -= dq / q;
      hessian += dq * dq.transpose() / (q * q) - 2.0 * du * du.transpose() / q;
      hessian.topLeftCorner(d, d) += 2.0 * N.middleRows(first, count).transpose() * N.middleRows(first, count) / q;
    }
    return value;
  };
  for (double t = kFirst; t < kLast; t *= kGrowth) {
    for (int i = 0; i < 50; ++i) {
      const double value = barrier(x, t, true);
      step = -hessian.ldlt().solve(gradient);
      const double gain = -gradient.dot(step);
      if (!(gain > 1e-9) || !step.allFinite()) break;
      double length = 1.0;
      while (length > 1e-12 && !(barrier(x + length * step, t, false) <= value - 0.1 * length * gain)) length *= 0.5;
      if (length <= 1e-12) break;
      x += length * step;
    }
  }
  f = largest * (start + N * x.head(d));
  return least_depth(f);
}

}  // namespace linkwork
