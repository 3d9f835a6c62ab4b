#include "linkwork/ensemble/statistics.h"

#include <cmath>

namespace linkwork {
namespace {

/// The regularized incomplete beta function I_x(a, b), by its continued fraction [Press2007, 6.4.5], after Lentz.
double incomplete_beta(double a, double b, double x) {
  if (x <= 0.0) return 0.0;
  if (x >= 1.0) return 1.0;
  if (x > (a + 1.0) / (a + b + 2.0)) return 1.0 - incomplete_beta(b, a, 1.0 - x);
  constexpr double kTiny = 1e-300;
  const auto away_from_zero = [](double value) { return std::abs(value) < kTiny ? kTiny : value; };
  double c = 1.0, d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)), fraction = d;
  for (int m = 1; m < 10'000; ++m) {
    const double even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
    d = 1.0 / away_from_zero(1.0 + even * d), c = away_from_zero(1.0 + even / c);
    fraction *= d * c;
    const double odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
    d = 1.0 / away_from_zero(1.0 + odd * d), c = away_from_zero(1.0 + odd / c);
    const double change = d * c;
    fraction *= change;
    if (std::abs(change - 1.0) < 1e-15) break;
  }
  const double front = std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) + a * std::log(x) + b * std::log1p(-x);
  return std::exp(front) * fraction / a;
}

/// That |t| is larger.
double two_sided(double t, double n) { return incomplete_beta(0.5 * n, 0.5, n / (n + t * t)); }

}  // namespace

double student_quantile(double p, double degrees_of_freedom) {
  const double beyond = 2.0 * (1.0 - p);
  double low = 0.0, high = 1.0;
  while (two_sided(high, degrees_of_freedom) > beyond && high < 1e12) high *= 2.0;
  for (int i = 0; i < 200 && high - low > 1e-14 * high; ++i) {
    const double middle = 0.5 * (low + high);
    (two_sided(middle, degrees_of_freedom) > beyond ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace linkwork
