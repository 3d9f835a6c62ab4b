#include "linkwork/modules/glues/compliance_stability.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <complex>

namespace linkwork {

namespace {

constexpr double kNoGrowth = 1.0 + 1e-6;  // but for rounding

/// What one step makes of y' = mu y, y = 1: with z = step mu.
double growth(const Tableau& method, std::complex<double> z) {
  std::vector<std::complex<double>> rates;
  std::complex<double> end = 1.0;
  for (std::size_t s = 0; s < method.b.size(); ++s) {
    std::complex<double> y = 1.0;
    for (std::size_t j = 0; j < s; ++j) y += method.a[s][j] * rates[j];
    rates.push_back(z * y);
    end += method.b[s] * rates.back();
  }
  return std::abs(end);
}

/// The largest factor <= 1 for which something holds that holds for small ones.
template <class Holds>
double largest_factor(Holds holds) {
  constexpr double kLeast = 1e-30, kClose = 1.02;
  if (holds(1.0)) return 1.0;
  double low = 0.5;
  while (low > kLeast && !holds(low)) low *= 0.5;
  for (double high = 2.0 * low; high > kClose * low;) {
    const double middle = std::sqrt(low * high);
    (holds(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

double reach(const Tableau& method, double damping) {
  constexpr double kFineness = 0.02, kFarthest = 20.0;
  // y'' = -w^2 (y + 2 damping / z y'), in units of the step; w^2 / z is the rate at which the slower ones are damped, halved.
  const auto holds = [&](double w, double z) {
    const std::complex<double> half = damping * w * w / z, root = std::sqrt(half * half - w * w);
    return growth(method, -half + root) <= kNoGrowth && growth(method, -half - root) <= kNoGrowth;
  };
  double z = 0.0;
  for (double next = kFineness; next <= kFarthest; next += kFineness) {
    for (double w = kFineness; w <= next; w += kFineness)
      if (!holds(w, next)) return z;
    z = next;
  }
  return z;
}

bool follows(const Tableau& method, const MatX<double>& J, double step) {
  constexpr double kSlow = 0.5, kTolerable = 1.001;
  const Eigen::VectorXcd mu = Eigen::EigenSolver<MatX<double>>(J, false).eigenvalues();
  for (const std::complex<double>& its : mu)
    if (std::abs(step * its) > kSlow && !(growth(method, step * its) <= kTolerable * std::exp(std::max(0.0, step * its.real()))))
      return false;
  return true;
}

double VirtualSprings::strength() const {
  if (W.rows() == 0) return 0.0;
  const auto norm = [](const MatX<double>& matrix) { return matrix.cwiseAbs().rowwise().sum().maxCoeff(); };
  return std::max(norm(W * damping.asDiagonal()), std::sqrt(norm(W * stiffness.asDiagonal())));
}

/// W K phi = phidd, in numbers sqrt(K) phi that weigh alike; what no force can move stays where it is.
VecX<double> VirtualSprings::deflection(const VecX<double>& unforced) const {
  constexpr double kImmobile = 1e-10;
  if (W.rows() == 0) return unforced;
  const VecX<double> root = stiffness.cwiseSqrt();
  const Eigen::SelfAdjointEigenSolver<MatX<double>> solver(root.asDiagonal() * W * root.asDiagonal());
  VecX<double> weight = solver.eigenvalues();
  for (double& w : weight) w = w > kImmobile * solver.eigenvalues()[W.rows() - 1] ? 1.0 / w : 0.0;
  const VecX<double> y =
      solver.eigenvectors() * weight.cwiseProduct(solver.eigenvectors().transpose() * root.cwiseProduct(unforced));
  return (root.array() > 0.0).select(y.array() / root.array(), 0.0);
}

bool VirtualSprings::is_stable(const Tableau& method, double with_step, double scale) const {
  const Eigen::Index n = W.rows();
  if (n == 0) return true;
  const double factor = with_step / step;
  VecX<double> K = stiffness, C = damping;
  for (Eigen::Index r = 0; r < n; ++r) {
    const bool follows = follows_step[static_cast<std::size_t>(r)] != 0;
    K[r] *= follows ? 1.0 / (factor * factor) : scale;
    C[r] *= follows ? 1.0 / factor : std::sqrt(scale);
  }
  MatX<double> A = MatX<double>::Zero(2 * n, 2 * n);
  A.topRightCorner(n, n).setIdentity();
  A.bottomLeftCorner(n, n) = -W * K.asDiagonal();
  A.bottomRightCorner(n, n) = -W * C.asDiagonal();
  const Eigen::VectorXcd mu = Eigen::EigenSolver<MatX<double>>(A, false).eigenvalues();
  for (const std::complex<double>& its : mu)
    if (!(growth(method, with_step * its) <= kNoGrowth)) return false;
  return true;
}

double VirtualSprings::longest_step(const Tableau& method) const {
  return step * largest_factor([&](double factor) { return is_stable(method, factor * step); });
}

double VirtualSprings::largest_scale(const Tableau& method, double with_step) const {
  return largest_factor([&](double factor) { return is_stable(method, with_step, factor); });
}

}  // namespace linkwork
