#include "studies/module_run.h"

#include <gtest/gtest.h>

#include "tests/support/mechanisms.h"

namespace linkwork::studies {
namespace {

TEST(ProjectionGlue, GivesTheSameBitsWhetherAMasterSolvesTheReducedEquationsOrEveryRank) {
  const auto rows = [](const char* glue, int threads) {
    Spec spec = test::library_spec("four_bar_modules");
    spec.settings.end = 0.2;
    spec.settings.glue = parse_choice(glue, {});
    return run_modules(spec, threads).rows;
  };
  const auto alone = rows("projection:sigma=30", 1);
  EXPECT_EQ(rows("projection:sigma=30", 2), alone);
  EXPECT_EQ(rows("projection:sigma=30,master=1", 2), alone);
}

}  // namespace
}  // namespace linkwork::studies
