#include "linkwork/simulation/pacing.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <thread>

namespace linkwork {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

long steps_in(const RealTimeSummary& summary) {
  return std::accumulate(summary.jitter.begin(), summary.jitter.end(), 0L,
                         [](long sum, const RealTimeSummary::Bin& bin) { return sum + bin.steps; });
}

TEST(Pacing, IsNeverEarly) {
  const auto start = std::chrono::steady_clock::now();
  Pacing pacing(2.0);
  pacing.start(5.0);
  for (int i = 1; i <= 20; ++i) pacing.wait(5.0 + 0.01 * i);
  EXPECT_GE(seconds_since(start), 0.1);
  const RealTimeSummary summary = pacing.summary();
  EXPECT_EQ(summary.steps, 20);
  EXPECT_EQ(steps_in(summary), 20);
  EXPECT_LT(summary.busy, 1.0);
  EXPECT_GE(summary.lateness_max, summary.lateness_mean);
}

TEST(Pacing, CountsStepsThatAreNotReadyInTime) {
  Pacing pacing(1.0);
  pacing.start(0.0);
  for (int i = 1; i <= 10; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pacing.wait(1e-3 * i);
  }
  const RealTimeSummary summary = pacing.summary();
  EXPECT_EQ(summary.overruns, 10);
  EXPECT_GE(summary.lateness_max, 0.009);  // each step adds a millisecond at least
  EXPECT_EQ(steps_in(summary), 10);
  EXPECT_GT(summary.busy, 0.9);
}

}  // namespace
}  // namespace linkwork
