#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkwork/simulation/kinematics.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
using testing::Not;

/// The parallelogram with two couplers, driven through its folds at multiples of pi.
Summary driven(const std::string& drives, double end) {
  const auto file = test::source_dir() / "models" / "five_bar_redundant.toml";
  Spec spec = read_model_text(read_text_file(file) + drives, file.string());
  spec.settings.end = end;
  spec.settings.output_every = 0.01;
  Simulation motion = kinematic_motion(build_model(spec));
  return motion.run();
}

std::string mirrored_drive(const std::string& name, const std::string& joint) {
  return "\n[[closure]]\nname = \"" + name + "\"\ntype = \"drive\"\njoint = \"" + joint + "\"\nvalue = \"-pi/6 - 1.37*t\"\n";
}

TEST(KinematicSingularities, OneDriveDoesNotTellHowTheLinkageLeavesItsFold) {
  const Summary summary = driven(mirrored_drive("first", "theta2"), 3.0);
  EXPECT_TRUE(summary.completed) << summary.status;
  EXPECT_THAT(summary.warnings, Contains(HasSubstr("a singular position was passed")));
}

/// Rows of the pins vanish at the fold, and those that are independent change there; rank never does.
TEST(KinematicSingularities, AreNotSeenWhereRedundantRowsTakeTurns) {
  const Summary summary = driven(mirrored_drive("first", "theta2") + mirrored_drive("second", "theta4"), 10.0);
  EXPECT_TRUE(summary.completed) << summary.status;
  EXPECT_EQ(summary.rank, 4);
  EXPECT_THAT(summary.warnings, Each(Not(HasSubstr("singular"))));
}

}  // namespace
}  // namespace linkwork
