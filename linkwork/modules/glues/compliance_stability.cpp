#include "linkwork/modules/glues/compliance_stability.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <complex>

namespace linkwork {

namespace {

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
  constexpr double kLeast = 1e-9, kClose = 1.02;
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

double VirtualSprings::strength() const {
  if (W.rows() == 0) return 0.0;
  const auto norm = [](const MatX<double>& matrix) { return matrix.cwiseAbs().rowwise().sum().maxCoeff(); };
  return std::max(norm(W * damping.asDiagonal()), std::sqrt(norm(W * stiffness.asDiagonal())));
}

bool VirtualSprings::is_stable(const Tableau& method, double step, double scale) const {
  constexpr double kRounding = 1e-6;
  const Eigen::Index n = W.rows();
  if (n == 0) return true;
  MatX<double> A = MatX<double>::Zero(2 * n, 2 * n);
  A.topRightCorner(n, n).setIdentity();
  A.bottomLeftCorner(n, n) = -scale * W * stiffness.asDiagonal();
  A.bottomRightCorner(n, n) = -std::sqrt(scale) * W * damping.asDiagonal();
  const Eigen::VectorXcd mu = Eigen::EigenSolver<MatX<double>>(A, false).eigenvalues();
  for (const std::complex<double>& its : mu)
    if (!(growth(method, step * its) <= 1.0 + kRounding)) return false;
  return true;
}

double VirtualSprings::longest_step(const Tableau& method, double step) const {
  return step * largest_factor([&](double factor) { return is_stable(method, factor * step); });
}

double VirtualSprings::largest_scale(const Tableau& method, double step) const {
  return largest_factor([&](double factor) { return is_stable(method, step, factor); });
}

}  // namespace linkwork
