#include "linkwork/simulation/design_fit.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "linkwork/io/model_file.h"
#include "linkwork/simulation/check.h"
#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;
using testing::ElementsAre;
using testing::HasSubstr;
using V3 = Eigen::Vector3d;

/// Adds to the frames of all joints and closures what rounding would.
void round_off(Spec& spec, double shift, double turn, unsigned seed) {
  std::mt19937 random(seed);
  const auto uniform = [&] { return 2.0 * static_cast<double>(random()) / static_cast<double>(std::mt19937::max()) - 1.0; };
  const auto disturb = [&](FrameSpec& frame) {
    frame.at += shift * V3(uniform(), uniform(), uniform());
    const V3 w = turn * V3(uniform(), uniform(), uniform());
    if (w.norm() > 0.0) frame.rotation = frame.rotation * Eigen::Quaterniond(Eigen::AngleAxisd(w.norm(), w.normalized()));
  };
  for (JointSpec& joint : spec.joints) disturb(joint.parent), disturb(joint.child);
  for (ClosureSpec& closure : spec.closures) disturb(closure.a), disturb(closure.b);
}

/// Four revolute joints with parallel axes: 5 rows, 2 of which count.
Spec four_bar() {
  return read_model_text(R"(linkwork = 1
[settings]
design_tolerance = 1e-4
end = 2
[[body]]
name = "crank"
solid = { shape = "rod", to = [0.3, 0, 0], mass = 1 }
[[body]]
name = "coupler"
solid = { shape = "rod", to = [0.8, 0, 0], mass = 2 }
[[body]]
name = "rocker"
solid = { shape = "rod", to = [0.5, 0, 0], mass = 1.5 }
[[joint]]
name = "A"
type = "revolute"
parent = { body = "ground" }
child = { body = "crank" }
position = 1
[[joint]]
name = "B"
type = "revolute"
parent = { body = "crank", at = [0.3, 0, 0] }
child = { body = "coupler" }
[[joint]]
name = "D"
type = "revolute"
parent = { body = "ground", at = [0.7, 0, 0] }
child = { body = "rocker" }
position = 1.5
[[closure]]
name = "C"
type = "revolute"
a = { body = "coupler", at = [0.8, 0, 0] }
b = { body = "rocker", at = [0.5, 0, 0] }
)",
                         "four_bar.toml");
}

/// Axes that meet in the origin.
Spec spherical_four_bar() {
  Spec spec = four_bar();
  const auto axis = [](double angle) { return V3(std::sin(angle), 0.0, std::cos(angle)); };
  // Every link carries its second axis at an angle from its first; the first is z.
  const std::array<double, 4> arc{0.5, 1.1, 0.9, 1.0};  // crank, coupler, rocker, ground
  const auto frame = [&](FrameSpec& f, double angle) {
    f.at.setZero();
    f.rotation = Eigen::Quaterniond::FromTwoVectors(V3::UnitZ(), axis(angle));
  };
  frame(spec.joints[0].parent, 0.0), frame(spec.joints[0].child, 0.0);
  frame(spec.joints[1].parent, arc[0]), frame(spec.joints[1].child, 0.0);
  frame(spec.joints[2].parent, arc[3]), frame(spec.joints[2].child, 0.0);
  frame(spec.closures[0].a, arc[1]), frame(spec.closures[0].b, arc[2]);
  spec.joints[0].position = {1.2};
  spec.joints[2].position = {1.0};
  return spec;
}

TEST(DesignFit, LeavesExactDesignsAsTheyAreToTheLastBit) {
  for (const Spec& spec : {four_bar(), spherical_four_bar()}) {
    const Spec fitted = fitted_design(spec);
    EXPECT_TRUE(fitted.warnings.empty());
    for (std::size_t j = 0; j < spec.joints.size(); ++j) {
      EXPECT_EQ(fitted.joints[j].child.at, spec.joints[j].child.at);
      EXPECT_EQ(fitted.joints[j].child.rotation.coeffs(), spec.joints[j].child.rotation.coeffs());
    }
  }
}

TEST(DesignFit, MakesRoundedLoopsMoveWithoutContradictionAndWithoutDrift) {
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (Spec spec : {four_bar(), spherical_four_bar()}) {
      // Axes that meet in a point stay so if they are only turned.
      round_off(spec, seed % 3 == 1 && spec.joints[1].parent.at.x() != 0.0 ? 0.0 : 2e-5, seed % 3 == 2 ? 0.0 : 2e-5, seed);
      const Spec fitted = fitted_design(spec);
      ASSERT_EQ(fitted.warnings.size(), 1U) << seed;
      EXPECT_THAT(fitted.warnings[0], HasSubstr("'C'"));
      for (std::size_t j = 0; j < spec.joints.size(); ++j)
        EXPECT_LT((fitted.joints[j].child.at - spec.joints[j].child.at).norm(), 1e-4);
      const CheckReport report = check(build_model(fitted));
      EXPECT_EQ(report.dof, 1) << seed;
      EXPECT_EQ(report.rank, 2) << seed;
      EXPECT_EQ(report.warnings, fitted.warnings);
      const RecordedRun run(fitted);
      EXPECT_TRUE(run.summary.completed);
      EXPECT_LT(run.summary.position_error_max, 1e-10) << seed;
      EXPECT_LT(run.summary.energy_drift, 1e-6) << seed;
      EXPECT_THAT(run.summary.warnings, testing::Contains(HasSubstr("rounded")));
    }
}

/// Bricard's cube moves by second-order accidents of its design; of the double parallelogram a whole coupler is redundant.
TEST(DesignFit, FindsOverconstrainedDesignsWhoseDataWereRounded) {
  for (const char* const name : {"bricard", "five_bar_redundant"})
    for (unsigned seed = 1; seed <= 3; ++seed) {
      Spec spec = test::library_spec(name);
      spec.settings.design_tolerance = 1e-4;
      spec.settings.end = 3.0;
      round_off(spec, 1e-5, seed == 2 ? 0.0 : 1e-5, seed);
      const Spec fitted = fitted_design(spec);
      ASSERT_EQ(fitted.warnings.size(), 1U) << name << " " << seed;
      EXPECT_THAT(fitted.warnings[0], HasSubstr("contradict each other"));
      for (std::size_t j = 0; j < spec.joints.size(); ++j)
        EXPECT_LT((fitted.joints[j].child.at - spec.joints[j].child.at).norm(), 1e-4);
      EXPECT_EQ(check(build_model(fitted)).dof, 1) << name << " " << seed;
      const RecordedRun run(fitted), exact(test::library_spec(name));
      EXPECT_TRUE(run.summary.completed) << run.summary.status;
      EXPECT_LT(run.summary.position_error_max, 1e-10) << name << " " << seed;
      EXPECT_LT(run.summary.energy_drift, 1e-6) << name << " " << seed;
      // It moves as the exact design does, but for what its data differ by.
      const std::string column = std::string(name) == "bricard" ? "q.j1" : "q.theta2";
      EXPECT_NEAR(run.at(1.0, column), exact.at(1.0, column), 1e-3) << name << " " << seed;
    }
}

/// Digits as a CAD system writes them.
TEST(DesignFit, FindsDesignsWrittenToFiveDecimals) {
  const auto rounded = [](double x) { return std::round(x * 1e5) * 1e-5; };
  for (const char* const name : {"bricard", "five_bar_redundant"}) {
    Spec spec = test::library_spec(name);
    spec.settings.design_tolerance = 1e-4;
    spec.settings.end = 2.0;
    // In axes of the world that are turned, so that there is something to round.
    const Eigen::Quaterniond turned(Eigen::AngleAxisd(0.7, V3(1, 2, 3).normalized()));
    const auto write = [&](FrameSpec& frame) {
      frame.at = turned * frame.at;
      for (double& x : frame.at) x = rounded(x);
      frame.rotation = turned * frame.rotation;
      for (double& x : frame.rotation.coeffs()) x = rounded(x);
      frame.rotation.normalize();
    };
    for (JointSpec& joint : spec.joints) write(joint.parent), write(joint.child);
    for (ClosureSpec& closure : spec.closures) write(closure.a), write(closure.b);
    const Spec fitted = fitted_design(spec);
    ASSERT_EQ(fitted.warnings.size(), 1U) << name;
    EXPECT_EQ(check(build_model(fitted)).dof, 1) << name;
    const RecordedRun run(fitted);
    EXPECT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_LT(run.summary.position_error_max, 1e-10) << name;
  }
}

TEST(DesignFit, SpreadsTheGapOverTheWholeLoop) {
  Spec spec = four_bar();
  spec.closures[0].b.at.z() += 4e-5;  // out of the plane
  const Spec fitted = fitted_design(spec);
  ASSERT_EQ(fitted.warnings.size(), 1U);
  const auto moved = [](const FrameSpec& now, const FrameSpec& before) { return std::abs(now.at.z() - before.at.z()); };
  for (std::size_t j = 0; j < 3; ++j) {
    EXPECT_NEAR(moved(fitted.joints[j].parent, spec.joints[j].parent), 4.5e-6, 1e-6)
        << "eight frames share it; axes tilt a little, too";
    EXPECT_NEAR(moved(fitted.joints[j].child, spec.joints[j].child), 4.5e-6, 1e-6);
  }
  EXPECT_NEAR(moved(fitted.closures[0].a, spec.closures[0].a), 4.5e-6, 1e-6);
  EXPECT_NEAR(moved(fitted.closures[0].b, spec.closures[0].b), 4.5e-6, 1e-6);
}

TEST(DesignFit, DoesNotBendWhatContradictsItselfByMore) {
  Spec spec = four_bar();
  spec.closures[0].b.at.z() += 5e-3;
  EXPECT_TRUE(fitted_design(spec).warnings.empty());
  EXPECT_THROW(check(fitted_model(spec)), InputError) << "refused as ever";
}

TEST(DesignFit, IsNotMadeUnlessTheModelAllowsIt) {
  Spec spec = four_bar();
  spec.settings.design_tolerance = 0.0;
  round_off(spec, 2e-5, 2e-5, 1);
  EXPECT_TRUE(fitted_design(spec).warnings.empty());
}

TEST(DesignFit, GivesTheSameBitsEveryTime) {
  Spec spec = four_bar();
  round_off(spec, 2e-5, 2e-5, 5);
  const Spec one = fitted_design(spec), other = fitted_design(spec);
  for (std::size_t j = 0; j < spec.joints.size(); ++j) EXPECT_EQ(one.joints[j].child.at, other.joints[j].child.at);
}

TEST(DesignFit, LeavesMechanismsNearASingularPositionAlone) {
  Spec spec = four_bar();  // crank and coupler almost in one line
  spec.joints[0].position = {0.60};
  spec.joints[2].position.clear();
  const Spec fitted = fitted_design(spec);
  EXPECT_TRUE(fitted.warnings.empty());
}

}  // namespace
}  // namespace linkwork
