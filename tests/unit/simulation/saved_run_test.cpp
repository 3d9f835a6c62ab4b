#include "linkwork/simulation/saved_run.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace linkwork {
namespace {

/// The definition, one after another.
TEST(FirstMultipleAfter, IsWhatCountingFinds) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> exponent(-3.0, 1.0), part(0.0, 300.0);
  for (int i = 0; i < 2000; ++i) {
    const double interval = std::pow(10.0, exponent(random));
    const double t = i % 2 == 0 ? part(random) * interval : std::floor(part(random)) * interval;
    long n = 0;
    while (static_cast<double>(n) * interval <= t) ++n;
    EXPECT_EQ(first_multiple_after(interval, t), n) << interval << " " << t;
  }
}

TEST(FirstMultipleAfter, EndsForIntervalsThatNobodyCouldCount) {
  for (const double interval : {1e-12, 1e-300, 5e-324}) {
    const long n = first_multiple_after(interval, 10.0);
    EXPECT_GT(n, 0);
    EXPECT_LE(n, 1L << 52);
  }
}

}  // namespace
}  // namespace linkwork
