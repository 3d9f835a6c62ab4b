#include <gtest/gtest.h>

#include "studies/catalog.h"
#include "tests/support/mechanisms.h"

namespace linkwork::studies {
namespace {

StudyResult gluing() {
  StudyContext context;
  context.quick = true;
  context.models = test::source_dir() / "models";
  return gluing_study().run(context);
}

/// Links that move freely in the plane, glued with long steps, pass flat positions, near which accelerations off the constraints
/// are of any size. The first version of the algorithm diverges in time steps that the new one takes.
TEST(GluingStudy, HasItsClaimsAboutTimeStepping) {
  const StudyResult result = gluing();
  for (const char* const id : {"cartesian", "identity-in-time", "gauss-in-time"}) {
    const Claim* found = nullptr;
    for (const Part& part : result.parts)
      for (const Claim& claim : part.claims)
        if (claim.id == id) found = &claim;
    ASSERT_NE(found, nullptr) << id;
    EXPECT_EQ(found->holds, Holds::kYes) << id << ": " << found->measured;
  }
}

}  // namespace
}  // namespace linkwork::studies
