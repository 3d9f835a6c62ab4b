#include "linkwork/simulation/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>

#include "linkwork/integrators/catalog.h"
#include "linkwork/io/comparison_file.h"
#include "linkwork/simulation/configuration_distance.h"
#include "linkwork/simulation/simulation.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;
using Outcome = ComparisonRow::Outcome;

Problem problem(const std::string& model, double end) {
  Problem made{"", test::library_spec(model)};
  made.spec.settings.end = end;
  return made;
}

ComparisonPlan plan(std::vector<std::string> formulations, std::vector<std::string> integrators, std::vector<double> steps) {
  ComparisonPlan made;
  for (const std::string& name : formulations) made.formulations.push_back(parse_choice(name, {}));
  for (const std::string& name : integrators) made.integrators.push_back(parse_choice(name, {}));
  made.steps = std::move(steps);
  made.timing_seconds = 0.0;
  return made;
}

Comparison compare_one(const Problem& one, const ComparisonPlan& by) { return compare({&one, 1}, by); }

constexpr const char* kJoints = R"toml(
[[body]]
name = "a"
mass = 1
[[body]]
name = "b"
mass = 1
[[body]]
name = "c"
mass = 1
[[joint]]
name = "turn"
type = "revolute"
parent = { body = "ground" }
child = { body = "a" }
[[joint]]
name = "bolt"
type = "screw"
pitch = 0.1
parent = { body = "a" }
child = { body = "b" }
[[joint]]
name = "ball"
type = "spherical"
parent = { body = "b" }
child = { body = "c" }
)toml";

TEST(ConfigurationDistance, TakesAnglesRoundOrientationsEitherSignAndScrewsAsTheyAre) {
  const Model model = test::model_of(kJoints);
  const ConfigurationDistance distance(model);
  ASSERT_EQ(distance.columns(), (std::vector<std::string>{"q.turn", "q.bolt", "q.ball.w", "q.ball.x", "q.ball.y", "q.ball.z"}));
  const double turn = 2.0 * std::numbers::pi;
  const std::vector<double> a{0.1, 0.0, 1.0, 0.0, 0.0, 0.0};
  const auto largest = [&](std::vector<double> b) { return distance.between(a, b); };
  EXPECT_NEAR(largest({0.1 + 3.0 * turn, 0.0, -1.0, 0.0, 0.0, 0.0}).value, 0.0, 1e-14);
  EXPECT_NEAR(largest({-0.2 + turn, 0.0, 1.0, 0.0, 0.0, 0.0}).value, 0.3, 1e-14);
  EXPECT_NEAR(largest({0.1, turn, 1.0, 0.0, 0.0, 0.0}).value, turn, 1e-14);
  const double half = 0.5 * 0.7;
  const auto turned = largest({0.1, 0.5, -std::cos(half), 0.0, -std::sin(half), 0.0});
  EXPECT_NEAR(turned.value, 0.7, 1e-14);
  EXPECT_EQ(turned.coordinate, "q.ball");
  EXPECT_TRUE(std::isnan(largest({0.1, std::nan(""), 1.0, 0.0, 0.0, 0.0}).value));
}

TEST(Comparison, MeasuresErrorsThatFallWithTheOrderOfTheMethod) {
  const Comparison comparison = compare_one(problem("four_bar", 1.0), plan({"schur"}, {"euler", "rk2", "rk4"}, {0.01, 0.005}));
  ASSERT_EQ(comparison.rows.size(), 6u);
  const std::array<double, 3> orders{1.0, 2.0, 4.0};
  for (std::size_t i = 0; i < 3; ++i) {
    const ComparisonRow &coarse = comparison.rows[2 * i], &fine = comparison.rows[2 * i + 1];
    ASSERT_TRUE(coarse.ran() && fine.ran());
    EXPECT_NEAR(std::log2(coarse.error / fine.error), orders[i], 0.3) << coarse.integrator;
    EXPECT_EQ(coarse.steps, 100);
    EXPECT_EQ(fine.steps, 200);
    EXPECT_GT(fine.wall_seconds, 0.0);
    EXPECT_GT(fine.evaluations, coarse.evaluations);
    EXPECT_NEAR(fine.microseconds_per_evaluation(), 1e6 * fine.wall_seconds / static_cast<double>(fine.evaluations), 1e-9);
  }
  ASSERT_TRUE(comparison.has_references());
  EXPECT_LT(comparison.references.front().estimated_error, 1e-9);
  EXPECT_GT(comparison.references.front().estimated_error, 0.0);
}

TEST(Comparison, ReferenceAgreesWithAnIndependentSolution) {
  // models/four_bar.toml tells the position at 1 s; an exact method's error there is therefore known.
  Problem one = problem("four_bar", 1.0);
  const Comparison comparison = compare_one(one, plan({"schur"}, {"rk2"}, {0.002}));
  one.spec.settings.integrator = {"rk2", {}, {}};
  one.spec.settings.step = 0.002;
  const Model model = build_model(one.spec);
  Simulation simulation(model);
  const Summary summary = simulation.run();
  double at_end = 0.0;
  for (const auto& [name, value] : summary.final_state)
    if (name == "q.theta") at_end = std::abs(value - 2.8281720120366263);
  // The largest error is that at the end or greater.
  EXPECT_GE(comparison.rows.front().error, 0.999 * at_end);
  EXPECT_LE(comparison.rows.front().error, 10.0 * at_end);
}

TEST(Comparison, RunsAllCombinationsInOrder) {
  ComparisonPlan by = plan({"schur", "lagrange"}, {"rk4", "dopri45"}, {0.004, 0.002, 0.001});
  by.stabilizations = {parse_choice("none", {}), parse_choice("baumgarte:alpha=5,beta=7", {})};
  by.tolerances = {{1e-5, 1e-8}, {1e-7, 1e-10}};
  const Comparison comparison = compare_one(problem("four_bar", 0.2), by);
  ASSERT_EQ(comparison.rows.size(), 2u * 2u * (3u + 2u));
  EXPECT_EQ(comparison.rows[0].method(), "TA, schur, none, rk4");
  EXPECT_EQ(comparison.rows[0].pace(), "step 0.004");
  EXPECT_EQ(comparison.rows[4].method(), "TA, schur, none, dopri45");
  EXPECT_EQ(comparison.rows[4].pace(), "rtol 1e-07");
  EXPECT_EQ(comparison.rows[5].stabilization, "baumgarte:alpha=5,beta=7");
  EXPECT_EQ(comparison.rows[19].method(), "TA, lagrange, baumgarte:alpha=5,beta=7, dopri45");
  // Equal equations, equal errors.
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_TRUE(comparison.rows[i].ran());
    EXPECT_NEAR(comparison.rows[i].error, comparison.rows[i + 10].error, 1e-3 * comparison.rows[i].error + 1e-12);
  }
}

TEST(Comparison, PacesEveryIntegratorByWhatItGoesBy) {
  ComparisonPlan by = plan({}, {}, {0.004, 0.001});
  for (const auto& entry : integrators()) by.integrators.push_back({entry.info.name, {}, {}});
  by.tolerances = {{1e-3, 1e-5}, {1e-8, 1e-10}};
  const Comparison comparison = compare_one(problem("four_bar", 0.5), by);
  ASSERT_EQ(comparison.rows.size(), 2 * by.integrators.size());
  for (std::size_t i = 0; i < comparison.rows.size(); i += 2) {
    const ComparisonRow &loose = comparison.rows[i], &tight = comparison.rows[i + 1];
    EXPECT_TRUE(loose.ran() && tight.ran()) << loose.integrator << ": " << loose.reason << tight.reason;
    EXPECT_GT(tight.steps, loose.steps) << loose.integrator << " by " << loose.pace();
    constexpr double kRounding = 1e-11;  // from there on an error need not fall
    EXPECT_LT(tight.error, std::max(loose.error, kRounding)) << loose.integrator;
  }
}

TEST(Comparison, ComparesAtTheEndsOfAllSteps) {
  ComparisonPlan by = plan({"schur"}, {"rk4"}, {0.004, 0.0025, 0.001});
  const Comparison comparison = compare_one(problem("four_bar", 1.0), by);
  EXPECT_NEAR(comparison.every, 0.02, 1e-12);  // the least multiple of 0.004 and 0.0025 beyond a hundredth
}

TEST(Comparison, KeepsCombinationsThatCannotRunAsRowsWithTheirReasons) {
  const Comparison comparison =
      compare_one(problem("five_bar_redundant", 0.1), plan({"schur", "lagrange", "no-such"}, {"rk4"}, {0.002}));
  ASSERT_EQ(comparison.rows.size(), 3u);
  EXPECT_EQ(comparison.rows[0].outcome, Outcome::kRan);
  EXPECT_EQ(comparison.rows[1].outcome, Outcome::kStopped);
  EXPECT_THAT(comparison.rows[1].reason, HasSubstr("independent constraint rows"));
  EXPECT_EQ(comparison.rows[2].outcome, Outcome::kRefused);
  EXPECT_THAT(comparison.rows[2].reason, HasSubstr("no-such"));
  EXPECT_TRUE(std::isnan(comparison.rows[1].error) && std::isnan(comparison.rows[2].error));
  EXPECT_TRUE(comparison.any_ran());
}

TEST(Comparison, CallsARunThatGoesAstrayDiverged) {
  Spec spec = test::spec_of(R"toml(
[settings]
end = 5
step = 0.001
[[body]]
name = "mass"
solid = { shape = "point", at = [0, 0, 0], mass = 1 }
[[joint]]
name = "x"
type = "prismatic"
axis = [1, 0, 0]
parent = { body = "ground" }
child = { body = "mass" }
position = 1
stiffness = 100
)toml");
  const Comparison comparison = compare_one({"", spec}, plan({}, {"euler", "rk4"}, {0.1}));
  ASSERT_EQ(comparison.rows.size(), 2u);
  EXPECT_EQ(comparison.rows[0].outcome, Outcome::kDiverged);
  EXPECT_THAT(comparison.rows[0].reason, HasSubstr("q.x is off by"));
  EXPECT_EQ(comparison.rows[1].outcome, Outcome::kRan);
}

TEST(Comparison, StopsRunsThatTakeTooLongAndTriesNoSmallerStep) {
  ComparisonPlan by = plan({"schur"}, {"rk4"}, {1e-4, 1e-3, 1e-5});
  by.most_seconds = 1e-9;
  const Comparison comparison = compare_one(problem("four_bar", 1.0), by);
  EXPECT_FALSE(comparison.any_ran());
  EXPECT_FALSE(comparison.has_references());
  for (const ComparisonRow& row : comparison.rows) EXPECT_EQ(row.outcome, Outcome::kTooLong);
  EXPECT_THAT(comparison.rows[0].reason, HasSubstr("took longer"));
  EXPECT_THAT(comparison.rows[1].reason, HasSubstr("took longer"));
  EXPECT_THAT(comparison.rows[2].reason, HasSubstr("not tried"));
}

TEST(Comparison, GivesEveryProblemItsOwnReference) {
  std::vector<Problem> problems;
  for (const char* torque : {"0", "6"}) {
    problems.push_back({std::string("torque=") + torque, test::library_spec("four_bar", {{"torque", torque}})});
    problems.back().spec.settings.end = 0.5;
  }
  const Comparison comparison = compare(problems, plan({"schur"}, {"rk4"}, {0.005}));
  ASSERT_EQ(comparison.references.size(), 2u);
  ASSERT_EQ(comparison.rows.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(comparison.rows[i].problem, problems[i].label);
    EXPECT_LT(comparison.rows[i].error, 1e-6);  // against the other's reference it would be far off
  }
}

TEST(ComparisonFile, LeavesUnknownNumbersEmptyAndQuotesReasons) {
  Comparison comparison;
  comparison.model = "m";
  comparison.rows.resize(2);
  comparison.rows[0].formulation = "schur";
  comparison.rows[0].error = 0.25;
  comparison.rows[1].outcome = Outcome::kRefused;
  comparison.rows[1].reason = "no \"x\", or y";
  const std::string csv = comparison_csv(comparison);
  EXPECT_THAT(csv, HasSubstr("problem,coordinates,formulation,stabilization,integrator,step,rtol,atol,status,reason,error,"));
  EXPECT_THAT(csv, HasSubstr("\n,,schur,,,,,,ran,,0.25,"));
  EXPECT_THAT(csv, HasSubstr("refused,\"no \"\"x\"\", or y\",,"));
  const nlohmann::json json = nlohmann::json::parse(comparison_json(comparison));
  EXPECT_EQ(json["rows"][0]["error"], 0.25);
  EXPECT_TRUE(json["rows"][1]["error"].is_null());
  EXPECT_EQ(json["rows"][1]["status"], "refused");
}

}  // namespace
}  // namespace linkwork
