#include "linkwork/simulation/assembly.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

}  // namespace
}  // namespace linkwork
