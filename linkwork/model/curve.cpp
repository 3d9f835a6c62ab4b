#include "linkwork/model/curve.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace linkwork {

Curve::Curve(std::string name, std::vector<double> x, std::vector<double> y, Interpolation interpolation, Beyond beyond)
    : name_(std::move(name)), x_(std::move(x)), y_(std::move(y)), interpolation_(interpolation), beyond_(beyond) {
  if (x_.empty() || x_.size() != y_.size()) throw std::logic_error("a curve needs points");
  if (interpolation_ == Interpolation::kCubic) find_slopes();
}

/// With h_i = x_(i+1) - x_i and d_i = (y_(i+1) - y_i) / h_i, the second derivative is continuous at point i if the slopes s
/// satisfy
///   h_i s_(i-1) + 2 (h_(i-1) + h_i) s_i + h_(i-1) s_(i+1) = 3 (h_i d_(i-1) + h_(i-1) d_i),                                  (1)
/// and the third is so at the second point and the last but one if
///   h_1 s_0 + (h_0 + h_1) s_1 = ((3 h_0 + 2 h_1) h_1 d_0 + h_0^2 d_1) / (h_0 + h_1)                                          (2)
/// and its mirror image. The system is tridiagonal.
void Curve::find_slopes() {
  const std::size_t n = x_.size();
  const auto h = [&](std::size_t i) { return x_[i + 1] - x_[i]; };
  const auto d = [&](std::size_t i) { return (y_[i + 1] - y_[i]) / h(i); };
  slope_.assign(n, 0.0);
  if (n < 2) return;
  if (n == 2) {
    slope_[0] = slope_[1] = d(0);
    return;
  }
  if (n == 3) {  // one parabola
    const double bend = (d(1) - d(0)) / (x_[2] - x_[0]);
    for (std::size_t i = 0; i < 3; ++i) slope_[i] = d(0) + bend * (2.0 * x_[i] - x_[0] - x_[1]);
    return;
  }
  std::vector<double> above(n);  // of the eliminated system: s_i + above_i s_(i+1) = slope_i
  {
    const double a = h(0), b = h(1);
    above[0] = (a + b) / b;
    slope_[0] = ((3.0 * a + 2.0 * b) * b * d(0) + a * a * d(1)) / (a + b) / b;
  }
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double a = h(i - 1), b = h(i), pivot = 2.0 * (a + b) - b * above[i - 1];
    above[i] = a / pivot;
    slope_[i] = (3.0 * (b * d(i - 1) + a * d(i)) - b * slope_[i - 1]) / pivot;
  }
  {
    const double a = h(n - 3), b = h(n - 2), right = ((3.0 * b + 2.0 * a) * a * d(n - 2) + b * b * d(n - 3)) / (a + b);
    slope_[n - 1] = (right - (a + b) * slope_[n - 2]) / (a - (a + b) * above[n - 2]);
  }
  for (std::size_t i = n - 1; i-- > 0;) slope_[i] -= above[i] * slope_[i + 1];
}

/// Equally spaced points are found at once.
std::size_t Curve::piece(double x) const {
  const std::size_t pieces = x_.size() - 1;
  const double guess = (x - x_.front()) / (x_.back() - x_.front()) * static_cast<double>(pieces);
  if (guess < static_cast<double>(pieces)) {  // not where both differences overflow
    const auto i = static_cast<std::size_t>(guess);
    if (x_[i] <= x && x < x_[i + 1]) return i;
  }
  const auto after = std::upper_bound(x_.begin(), x_.end(), x) - x_.begin();
  return std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(after, 1) - 1), pieces - 1);
}

Curve::Value Curve::at(double x) const {
  if (!(x >= x_.front() && x < x_.back()) || x_.size() == 1) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    if (std::isnan(x) || (beyond_ == Beyond::kError && !covers(x))) return {nan, nan, nan};
    if (x != x_.back() || beyond_ == Beyond::kHold || x_.size() == 1) return {x < x_.front() ? y_.front() : y_.back(), 0.0, 0.0};
  }
  const std::size_t i = piece(x);
  if (interpolation_ == Interpolation::kHold) return {x == x_.back() ? y_.back() : y_[i], 0.0, 0.0};
  const double h = x_[i + 1] - x_[i], u = x - x_[i], secant = (y_[i + 1] - y_[i]) / h;
  if (interpolation_ == Interpolation::kLinear) return {y_[i] + secant * u, secant, 0.0};
  const double s = slope_[i], c = (slope_[i] + slope_[i + 1] - 2.0 * secant) / (h * h),
               b = (3.0 * secant - 2.0 * slope_[i] - slope_[i + 1]) / h;
  return {y_[i] + u * (s + u * (b + u * c)), s + u * (2.0 * b + 3.0 * u * c), 2.0 * b + 6.0 * u * c};
}

/// -1 before the first point, then the pieces' numbers or 0 for all of them, then the number of pieces.
double Curve::branch(double x) const {
  const auto pieces = static_cast<double>(x_.size() - 1);
  if (x < x_.front()) return -1.0;
  if (!(x < x_.back()) && (beyond_ == Beyond::kHold || !covers(x) || pieces == 0.0)) return pieces;
  return has_branches_inside() ? static_cast<double>(piece(x)) : 0.0;
}

double Curve::held(double branch) const {
  const bool is_outside = branch < 0.0 || (branch >= static_cast<double>(x_.size() - 1) && x_.size() > 1);
  if (is_outside && beyond_ == Beyond::kError) return std::numeric_limits<double>::quiet_NaN();
  return y_[static_cast<std::size_t>(std::max(branch, 0.0))];
}

Jet Curve::inside(const Jet& x, double branch) const {
  const auto pieces = static_cast<double>(x_.size() - 1);
  if (branch < 0.0) return Jet(x_.front()) - x;
  if (branch >= pieces) return x - Jet(x_.back());
  const auto i = static_cast<std::size_t>(branch);
  const Jet after = x - Jet(x_[i]), before = Jet(has_branches_inside() ? x_[i + 1] : x_.back()) - x;
  return before.value < after.value ? before : after;
}

}  // namespace linkwork
