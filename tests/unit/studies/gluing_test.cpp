#include <gtest/gtest.h>

#include <algorithm>

#include "studies/catalog.h"
#include "tests/support/mechanisms.h"

namespace linkwork::studies {
namespace {

/// Links that move freely in the plane, glued with long steps, pass flat positions, near which accelerations off the constraints
/// are of any size.
TEST(GluingStudy, KeepsTheSpeedOfFreelyMovingLinksThroughFlatPositions) {
  StudyContext context;
  context.quick = true;
  context.models = test::source_dir() / "models";
  const StudyResult result = gluing_study().run(context);
  for (const Part& part : result.parts) {
    const auto claim = std::ranges::find(part.claims, "cartesian", &Claim::id);
    if (claim == part.claims.end()) continue;
    EXPECT_EQ(claim->holds, Holds::kYes) << claim->measured;
    return;
  }
  FAIL() << "no such claim";
}

}  // namespace
}  // namespace linkwork::studies
