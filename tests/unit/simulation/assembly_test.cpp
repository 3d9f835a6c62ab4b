#include "linkwork/simulation/assembly.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <random>

#include "linkwork/dynamics/system.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

std::string four_bar(const std::string& theta, const std::string& alpha, const std::string& phi, double coupler = 4.0) {
  return R"(
[[body]]
name = "crank"
solid = { shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 1 }
[[body]]
name = "coupler"
solid = { shape = "rod", from = [0, 0, 0], to = [)" +
         std::to_string(coupler) + R"(, 0, 0], mass = 1 }
[[body]]
name = "rocker"
solid = { shape = "rod", from = [0, 0, 0], to = [2.5, 0, 0], mass = 1 }
[[joint]]
name = "theta"
type = "revolute"
parent = { body = "ground" }
child = { body = "crank" }
)" + theta +
         R"(
[[joint]]
name = "alpha"
type = "revolute"
parent = { body = "crank", at = [1, 0, 0] }
child = { body = "coupler" }
)" + alpha +
         R"(
[[joint]]
name = "phi"
type = "revolute"
parent = { body = "ground", at = [3, 0, 0] }
child = { body = "rocker" }
)" + phi +
         R"(
[[closure]]
name = "cut"
type = "pin"
a = { body = "coupler", at = [)" +
         std::to_string(coupler) + R"(, 0, 0] }
b = { body = "rocker", at = [2.5, 0, 0] }
)";
}

double position_error(const Model& model, const State& state) {
  System system(model);
  system.update(state);
  return system.terms().phi.cwiseAbs().maxCoeff();
}

TEST(Assembly, KeepsFixedJointsAndClosesTheRest) {
  const Model model =
      test::model_of(four_bar("position = 1.5708\nfixed = true\nvelocity = 2", "position = -1.2", "position = 1.3"));
  AssemblyReport report;
  const State state = assemble(model, report);
  EXPECT_EQ(state.q[0], 1.5708);
  EXPECT_EQ(state.v[0], 2.0);
  EXPECT_LT(position_error(model, state), 1e-12);
  EXPECT_NEAR(state.q[2], 1.2648595635335869607, 1e-10);
  System system(model);
  system.update(state);
  EXPECT_LT(system.terms().rate.cwiseAbs().maxCoeff(), 1e-12);
  EXPECT_FALSE(report.moved.empty());
}

TEST(Assembly, NeverMakesAGoodStartWorse) {
  const Model first = test::model_of(four_bar("position = 1.5708", "position = -1.2", "position = 1.3"));
  AssemblyReport report;
  const State state = assemble(first, report);
  Model again = first;
  again.start_q.assign(state.q.begin(), state.q.end());
  AssemblyReport nothing;
  const State same = assemble(again, nothing);
  EXPECT_EQ(same.q, state.q);
  EXPECT_TRUE(nothing.moved.empty());
}

TEST(Assembly, FindsAStartFromNothing) {
  const Model model = test::model_of(four_bar("", "", ""));
  AssemblyReport report;
  EXPECT_LT(position_error(model, assemble(model, report)), 1e-10);
}

/// Dense matrices of all rows and coordinates would take minutes, and gigabytes.
TEST(Assembly, StartsThousandsOfFloatingBodiesInLinearTime) {
  const Spec spec = test::library_spec("chain_modules", {{"n", "600"}, {"cells", "5"}});
  const Model model = build_model(spec);
  ASSERT_GT(model.bodies.size(), 9000u);
  const State start = test::start_state(model);
  System system(model);
  system.update(start);
  EXPECT_LE(model.largest_error(system.terms().phi), model.settings.constraint_tolerance);
}

TEST(Assembly, RefusesAnImpossibleLoopByName) {
  const Model model = test::model_of(four_bar("position = 1", "", "", 10.0));
  AssemblyReport report;
  try {
    assemble(model, report);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("test.toml"));
    EXPECT_THAT(error.what(), HasSubstr("'cut' (off by"));
  }
}

TEST(Assembly, RefusesWhatFixedJointsMakeImpossible) {
  const Model model = test::model_of(
      four_bar("position = 1.5708\nfixed = true", "position = -1.2\nfixed = true", "position = 1.3\nfixed = true"));
  AssemblyReport report;
  try {
    assemble(model, report);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("fixed are 'theta', 'alpha', 'phi'"));
  }
}

TEST(Assembly, RefusesVelocitiesThatContradict) {
  const Model model = test::model_of(four_bar("position = 1.5708\nfixed = true\nvelocity = 1",
                                              "position = -1.217518753906224661\nvelocity = 5\nfixed = true", "position = 1.3"));
  AssemblyReport report;
  EXPECT_THROW(assemble(model, report), InputError);
}

TEST(Assembly, AFixedJointTakesTheVelocityOfItsDrive) {
  const Model model = test::model_of(four_bar("position = 1.5708\nfixed = true", "position = -1.2", "position = 1.3") + R"(
[[closure]]
name = "motor"
type = "drive"
joint = "theta"
value = "1.5708 + 3*t"
)");
  AssemblyReport report;
  const State state = assemble(model, report);
  EXPECT_EQ(state.q[0], 1.5708);
  EXPECT_NEAR(state.v[0], 3.0, 1e-12);
}

/// A slider-crank: A turns the crank, B the rod on it, S slides; a pin closes the loop.
std::string slider_crank(const std::string& a, const std::string& b, const std::string& s, double crank, double rod) {
  return fmt::format(R"(
[[body]]
name = "crank"
solid = {{ shape = "rod", to = [{0}, 0, 0], mass = 1 }}
[[body]]
name = "rod"
solid = {{ shape = "rod", to = [{1}, 0, 0], mass = 1 }}
[[body]]
name = "piston"
solid = {{ shape = "box", size = [0.2, 0.2, 0.2], mass = 1 }}
[[joint]]
name = "A"
type = "revolute"
parent = {{ body = "ground" }}
child = {{ body = "crank" }}
{2}
[[joint]]
name = "B"
type = "revolute"
parent = {{ body = "crank", at = [{0}, 0, 0] }}
child = {{ body = "rod" }}
{3}
[[joint]]
name = "S"
type = "prismatic"
axis = [1, 0, 0]
parent = {{ body = "ground" }}
child = {{ body = "piston" }}
{4}
[[closure]]
name = "C"
type = "pin"
a = {{ body = "rod", at = [{1}, 0, 0] }}
b = {{ body = "piston" }}
)",
                     crank, rod, a, b, s);
}

double coordinate(const Model& model, const State& state, const std::string& joint, bool velocity = false) {
  System system(model);
  system.update(state);
  std::array<double, 7> q{};
  std::array<double, 6> v{}, a{};
  system.joint_motion(*std::ranges::find(model.joints, joint, &Joint::name), {}, q, v, a);
  return velocity ? v[0] : q[0];
}

/// Any one of the three joints may be the one whose values are given: the others follow.
TEST(Assembly, KeepsWhatWasGivenIfTheOthersCanFollow) {
  std::mt19937 random(7);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
  };
  for (int trial = 0; trial < 30; ++trial) {
    const double crank = uniform(0.5, 1.0), rod = uniform(1.5, 3.0), angle = uniform(0.3, 1.2), speed = uniform(-5.0, 5.0);
    const std::array<double, 3> given{angle, uniform(-0.9, -0.3), std::sqrt(rod * rod - crank * crank)};
    for (std::size_t which = 0; which < 3; ++which) {
      const std::string name(1, "ABS"[which]);
      std::array<std::string, 3> keys{"", "", "position = 1"};
      keys[which] = fmt::format("position = {}\nvelocity = {}", given[which], speed);
      if (which < 2) keys[2] = "";
      const Model model = test::model_of(slider_crank(keys[0], keys[1], keys[2], crank, rod));
      AssemblyReport report;
      const State state = assemble(model, report);
      EXPECT_LT(position_error(model, state), 1e-10) << trial << name;
      EXPECT_EQ(coordinate(model, state, name), given[which]) << trial << name;
      EXPECT_EQ(coordinate(model, state, name, true), speed) << trial << name;
      for (const AssemblyReport::Moved& moved : report.moved) EXPECT_FALSE(moved.given) << trial << moved.coordinate;
    }
  }
}

/// The same motion, with the joint whose values are given cut.
TEST(Assembly, UsesTheValuesOfCutJoints) {
  for (const bool rubs : {false, true})
    for (const double angle : {0.4, 1.3, -0.8, 3.5}) {
      Spec spec = test::library_spec("slider_crank");
      ClosureSpec wrist = spec.closures.at(0);
      spec.closures.clear();
      JointSpec joint;
      joint.name = "wrist";
      joint.type = "revolute";
      joint.parent = wrist.a;
      joint.child = wrist.b;
      spec.joints.push_back(joint);
      for (JointSpec& j : spec.joints) j.position.clear(), j.velocity.clear(), j.cut = false, j.fixed = false;
      JointSpec& crank = spec.joints.front();
      crank.position = {angle};
      crank.velocity = {2.0};
      crank.cut = true;
      for (JointSpec& j : spec.joints) {
        if (!rubs || j.cut) continue;
        j.limits = {-20.0, 20.0};
        j.restitution = 0.5;
        j.dry_friction = FrictionSpec{0.2, 0.1, 0.0, 0.0, {}};
      }
      const Model model = build_model(spec);
      ASSERT_TRUE(model.joints.front().cut);
      AssemblyReport report;
      const State state = assemble(model, report);
      EXPECT_LT(position_error(model, state), 1e-10);
      EXPECT_NEAR(std::remainder(coordinate(model, state, crank.name) - angle, 2.0 * std::numbers::pi), 0.0, 1e-9);
      EXPECT_NEAR(coordinate(model, state, crank.name, true), 2.0, 1e-9);
      for (const AssemblyReport::Moved& moved : report.moved) EXPECT_FALSE(moved.given) << moved.coordinate;
    }
}

TEST(Assembly, SaysWhatItMovedOfWhatWasGiven) {
  const Model model = test::model_of(slider_crank("position = 0.6\nvelocity = 3", "position = -1\nvelocity = 3", "", 1.0, 2.0));
  AssemblyReport report;
  const State state = assemble(model, report);
  EXPECT_LT(position_error(model, state), 1e-10);
  ASSERT_GE(report.moved.size(), 2U);
  EXPECT_TRUE(report.moved.front().given);
  EXPECT_THAT(describe(report), HasSubstr("(given as "));
  // What was not given moves more readily: the contradiction is shared by those that were.
  for (const AssemblyReport::Moved& moved : report.moved)
    if (moved.coordinate == "q.A" || moved.coordinate == "q.B") {
      EXPECT_LT(std::abs(moved.to - moved.from), 0.2) << moved.coordinate;
    }
}

/// A sprung pad on the piston is in no loop, and a sprung joint in a loop need not be touched if others can follow.
TEST(Assembly, LeavesSpringsUnloadedThatItNeedNotTouch) {
  const Model pad = test::model_of(slider_crank("position = 1.1", "position = -1.5", "", 1.0, 2.0) + R"(
[[body]]
name = "pad"
solid = { shape = "sphere", center = [0, 0, 0], radius = 0.1, mass = 0.5 }
[[joint]]
name = "pad"
type = "prismatic"
axis = [0.6, 0.8, 0]
parent = { body = "piston" }
child = { body = "pad" }
stiffness = 1000
)");
  AssemblyReport report;
  EXPECT_EQ(coordinate(pad, assemble(pad, report), "pad"), 0.0);
  const Model sprung = test::model_of(R"(
[[body]]
name = "block"
solid = { shape = "sphere", center = [0, 0, 0], radius = 0.1, mass = 0.5 }
[[joint]]
name = "sprung"
type = "prismatic"
axis = [1, 0, 0]
parent = { body = "ground" }
child = { body = "block" }
stiffness = 500
[[joint]]
name = "loose"
type = "prismatic"
axis = [1, 0, 0]
parent = { body = "ground", at = [0, 1, 0] }
child = { body = "other" }
[[body]]
name = "other"
solid = { shape = "sphere", center = [0, 0, 0], radius = 0.1, mass = 5 }
[[closure]]
name = "tie"
type = "gear"
joints = ["sprung", "loose"]
coefficients = [1, 1]
offset = 0.4
)");
  EXPECT_EQ(coordinate(sprung, assemble(sprung, report), "sprung"), 0.0);
  EXPECT_NEAR(coordinate(sprung, assemble(sprung, report), "loose"), 0.4, 1e-12);
}

}  // namespace
}  // namespace linkwork
