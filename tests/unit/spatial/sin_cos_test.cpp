#include "linkwork/spatial/sin_cos.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>
#include <random>

namespace linkwork {
namespace {

/// The larger of the two errors.
double error_at(double x) {
  double s, c;
  sin_cos(x, s, c);
  const long double fine = x;
  return static_cast<double>(std::max(std::abs(s - std::sin(fine)), std::abs(c - std::cos(fine))));
}

TEST(SinCos, IsAccurateToTheLastPlace) {
  std::mt19937 random(1);
  double worst = 0.0;
  for (const double range : {1.0, 10.0, 1e3, 1e6}) {
    std::uniform_real_distribution<double> uniform(-range, range);
    for (int i = 0; i < 200000; ++i) worst = std::max(worst, error_at(uniform(random)));
  }
  EXPECT_LT(worst, 1.1e-16);
}

/// Near its zeros too, relative to the small value.
TEST(SinCos, IsAccurateNearMultiplesOfAQuarterTurn) {
  for (int k = -4000; k <= 4000; ++k)
    for (const double offset : {0.0, 1e-12, -1e-7, 1e-3}) {
      const double x = k * (0.5 * std::numbers::pi) + offset;
      double s, c;
      sin_cos(x, s, c);
      const long double fine = x, sine = std::sin(fine), cosine = std::cos(fine);
      EXPECT_LE(std::abs(s - sine), 2.3e-16L * std::abs(sine)) << x;
      EXPECT_LE(std::abs(c - cosine), 2.3e-16L * std::abs(cosine)) << x;
    }
}

TEST(SinCos, TakesAnyArgument) {
  for (const double x : {0.0, -0.0, 1e-320, 999999.9, 1e6, 1e6 + 0.1, -1e15, 1e300}) EXPECT_LT(error_at(x), 1.2e-16) << x;
  for (const double x : {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    double s, c;
    sin_cos(x, s, c);
    EXPECT_TRUE(std::isnan(s) && std::isnan(c));
  }
}

}  // namespace
}  // namespace linkwork
