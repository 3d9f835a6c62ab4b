#include "studies/free_cores.h"

#include <gtest/gtest.h>

#include <thread>

namespace linkwork::studies {
namespace {

TEST(FreeCores, LeavesATimeUnjudgedThatNeedsMoreProcessorsThanThereAre) {
  FreeCores cores(4 * static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
  cores.look();
  EXPECT_FALSE(cores.free());
  const Claim claim = cores.judged({"id", "quick", "1 s", "2 s", Holds::kYes});
  EXPECT_EQ(claim.holds, Holds::kNotMeasured);
  EXPECT_EQ(claim.measured, "not measured: " + cores.in_words());
  EXPECT_NE(claim.why, "");
}

}  // namespace
}  // namespace linkwork::studies
