#include "linkwork/simulation/kinematics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numbers>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A model of models/ with more written to its end.
Spec extended(const std::string& name, const std::string& more,
              const std::vector<std::pair<std::string, std::string>>& set = {}) {
  const auto file = test::source_dir() / "models" / (name + ".toml");
  ReadOptions options;
  options.set = set;
  return read_model_text(read_text_file(file) + more, file.string(), options);
}

std::string drive(const std::string& joint, const std::string& value, const std::string& name = "motor") {
  return "\n[[closure]]\nname = \"" + name + "\"\ntype = \"drive\"\njoint = \"" + joint + "\"\nvalue = \"" + value + "\"\n";
}

struct Motion {
  Summary summary;
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;

  explicit Motion(const Spec& spec) {
    const Model model = build_model(spec);
    Simulation motion = kinematic_motion(model);
    columns = motion.columns();
    summary = motion.run({.row = [this](std::span<const double> row) { rows.emplace_back(row.begin(), row.end()); }});
  }
  double at(std::size_t row, const std::string& name) const {
    const auto column = std::ranges::find(columns, name);
    EXPECT_NE(column, columns.end()) << name;
    return rows[row][static_cast<std::size_t>(column - columns.begin())];
  }
};

std::string refusal(const Spec& spec) {
  try {
    const Model model = build_model(spec);
    const Simulation motion = kinematic_motion(model);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Kinematics, GivesTheFourBarOfTheOracleOnBothBranchesAndWithLengthsExchanged) {
  std::ifstream file(test::source_dir() / "tests/oracles/fourbar_kinematics.json");
  const nlohmann::json oracle = nlohmann::json::parse(file);
  const auto number = [](const nlohmann::json& value) { return std::stod(value.get<std::string>()); };
  for (const bool swapped : {false, true})
    for (const bool open : {true, false}) {
      const std::string name = std::string(swapped ? "swapped r1=6 r4=9 " : "") + (open ? "open" : "crossed");
      const nlohmann::json& expected = oracle["values"][name];
      Spec spec = test::library_spec("four_bar_driven",
                                     {{"r1", swapped ? "6" : "9"}, {"r4", swapped ? "9" : "6"}, {"branch", open ? "1" : "-1"}});
      spec.settings.end = 0.01;
      const Motion motion(spec);
      ASSERT_TRUE(motion.summary.completed) << motion.summary.status;
      const double turn = 2.0 * std::numbers::pi;
      EXPECT_NEAR(std::remainder(motion.at(0, "q.theta2") + motion.at(0, "q.beta") - number(expected["theta3"]), turn), 0.0,
                  1e-12)
          << name;
      EXPECT_NEAR(std::remainder(motion.at(0, "q.theta4") - number(expected["theta4"]), turn), 0.0, 1e-12) << name;
      EXPECT_NEAR(motion.at(0, "v.theta2") + motion.at(0, "v.beta"), number(expected["theta3_dot"]), 1e-11) << name;
      EXPECT_NEAR(motion.at(0, "v.theta4"), number(expected["theta4_dot"]), 1e-11) << name;
      EXPECT_NEAR(motion.at(0, "a.theta2") + motion.at(0, "a.beta"), number(expected["theta3_ddot"]), 1e-10) << name;
      EXPECT_NEAR(motion.at(0, "a.theta4"), number(expected["theta4_ddot"]), 1e-10) << name;
    }
}

/// Rates against differences of the level above, of fourth order.
void expect_rates_to_be_derivatives(const Motion& motion, double tolerance, const std::string& what) {
  ASSERT_TRUE(motion.summary.completed) << what << ": " << motion.summary.status;
  const double h = motion.rows[1][0] - motion.rows[0][0];
  int compared = 0;
  for (std::size_t c = 1; c < motion.columns.size(); ++c) {
    const std::string& name = motion.columns[c];
    const bool is_velocity = name.starts_with("v."), is_acceleration = name.starts_with("a.");
    if (!is_velocity && !is_acceleration) continue;
    const auto above = std::ranges::find(motion.columns, (is_velocity ? "q." : "v.") + name.substr(2));
    if (above == motion.columns.end()) continue;  // quaternions
    const auto k = static_cast<std::size_t>(above - motion.columns.begin());
    for (std::size_t i = 2; i + 2 < motion.rows.size(); ++i) {
      const auto x = [&](std::size_t row) { return motion.rows[row][k]; };
      const double slope = (8.0 * (x(i + 1) - x(i - 1)) - (x(i + 2) - x(i - 2))) / (12.0 * h);
      ASSERT_NEAR(motion.rows[i][c], slope, tolerance * std::max(1.0, std::abs(slope)))
          << what << ": " << name << " at row " << i;
      ++compared;
    }
  }
  EXPECT_GT(compared, 0) << what;
}

TEST(Kinematics, RatesAreTheDerivativesOfPositionsInThePlaneAndInSpace) {
  const std::vector<std::tuple<const char*, const char*, const char*>> driven{
      {"slider_crank", "theta", "pi/3 + 7*t"},
      {"quick_return", "crank", "pi/2 + 3*t + 0.2*sin(5*t)"},
      {"spatial_slider_crank", "theta", "6*t"},
      {"spatial_four_bar", "wheel", "4*t"},
      {"five_bar_redundant", "theta2", "-pi/2 + sin(t)"},
      {"four_bar", "theta", "1.5708 + 2*t*t"}};
  for (const auto& [model, joint, value] : driven) {
    Spec spec = extended(model, drive(joint, value));
    spec.settings.end = 1.5;
    spec.settings.output_every = 0.001;
    const Motion motion(spec);
    expect_rates_to_be_derivatives(motion, 2e-6, model);
    EXPECT_LE(motion.summary.position_error_max, spec.settings.constraint_tolerance) << model;
    EXPECT_EQ(motion.summary.dof, 0);
  }
}

TEST(Kinematics, IsTheMotionOfADrivenSimulation) {
  Spec spec = test::library_spec("four_bar_driven");
  const Motion motion(spec);
  spec.settings.integrator = {"dopri45", {}, {}};
  spec.settings.rtol = 1e-11;
  spec.settings.atol = 1e-12;
  const Model model = build_model(spec);
  Simulation simulation(model);
  std::size_t row = 0;
  const auto theta4 =
      static_cast<std::size_t>(std::ranges::find(simulation.columns(), "q.theta4") - simulation.columns().begin());
  const auto a_theta4 =
      static_cast<std::size_t>(std::ranges::find(simulation.columns(), "a.theta4") - simulation.columns().begin());
  simulation.run({.row = [&](std::span<const double> values) {
    ASSERT_NEAR(motion.at(row, "t"), values[0], 1e-12);
    EXPECT_NEAR(motion.at(row, "q.theta4"), values[theta4], 1e-8);
    EXPECT_NEAR(motion.at(row, "a.theta4"), values[a_theta4], 1e-5);
    ++row;
  }});
  EXPECT_EQ(row, motion.rows.size());
}

TEST(Kinematics, IgnoresMasses) {
  Spec spec = test::library_spec("four_bar_driven");
  const Motion usual(spec);
  for (BodySpec& body : spec.bodies) {
    body.mass = 0.0;
    body.inertia.setZero();
  }
  const Motion massless(spec);
  ASSERT_EQ(usual.rows.size(), massless.rows.size());
  for (std::size_t i = 0; i < usual.rows.size(); ++i) EXPECT_EQ(usual.at(i, "a.theta4"), massless.at(i, "a.theta4"));
}

TEST(Kinematics, AllowsRedundantConstraintsAndNamesThem) {
  Spec spec = extended("five_bar_redundant", drive("theta2", "-pi/6 - t") + drive("theta4", "-pi/6 - t", "second"));
  spec.settings.end = 1.0;
  const Motion motion(spec);
  ASSERT_TRUE(motion.summary.completed) << motion.summary.status;
  EXPECT_EQ(motion.summary.rank, 4);
  EXPECT_EQ(motion.summary.redundant.size(), 2u);
  for (std::size_t i = 0; i < motion.rows.size(); ++i) {
    EXPECT_NEAR(motion.at(i, "q.theta4"), motion.at(i, "q.theta2"), 1e-12);
    EXPECT_NEAR(motion.at(i, "v.theta4"), -1.0, 1e-12);
  }
}

TEST(Kinematics, NamesClosuresThatContradictOneAnother) {
  // The same at t = 0, not later.
  Spec diverging = extended("five_bar_redundant", drive("theta2", "-pi/6 - t*t") + drive("theta4", "-pi/6 - 1.5*t*t", "second"));
  const Motion stopped(diverging);
  EXPECT_FALSE(stopped.summary.completed);
  EXPECT_THAT(stopped.summary.status, AllOf(HasSubstr("contradict one another"), HasSubstr("'motor'"), HasSubstr("'second'")));
  // Speeds that contradict already at the start.
  Spec speeds = extended("five_bar_redundant", drive("theta2", "-pi/6 - t") + drive("theta4", "-pi/6 - 2*t", "second"));
  const Motion at_once(speeds);
  EXPECT_TRUE(at_once.rows.empty());
  EXPECT_THAT(at_once.summary.status, AllOf(HasSubstr("velocities"), HasSubstr("'motor'"), HasSubstr("'second'")));
  // Positions that contradict at the start: refused.
  const std::string message =
      refusal(extended("five_bar_redundant", drive("theta2", "-pi/6") + drive("theta4", "-pi/5", "second")));
  EXPECT_THAT(message, AllOf(HasSubstr("cannot be closed at t = 0"), HasSubstr("contradict"), HasSubstr("'second'")));
}

TEST(Kinematics, RefusesMotionsThatNoDriveDetermines) {
  const std::string one = refusal(test::library_spec("four_bar"));
  EXPECT_THAT(one, AllOf(HasSubstr("leave a motion free"), HasSubstr("'theta'"), HasSubstr("'alpha'"), HasSubstr("'phi'"),
                         HasSubstr("drive")));
  const std::string two = refusal(test::library_spec("double_pendulum"));
  EXPECT_THAT(two, HasSubstr("2 motions free"));
  // What is driven is not called free.
  EXPECT_THAT(refusal(extended("double_pendulum", drive("upper", "t"))),
              AllOf(HasSubstr("a motion free"), Not(HasSubstr("'upper'"))));
}

TEST(Kinematics, StopsAtTheEndOfReachWithTheClosuresNamed) {
  // The crank is too long to turn round.
  Spec spec = test::library_spec("four_bar_driven", {{"r2", "5"}});
  const Motion motion(spec);
  EXPECT_FALSE(motion.summary.completed);
  EXPECT_THAT(motion.summary.status, AllOf(HasSubstr("no position satisfies"), HasSubstr("'cut'"), HasSubstr("reach")));
  EXPECT_GT(motion.rows.size(), 10u);
  // B and D are r3 + r4 apart at the limit.
  const double limit = std::acos((9.0 * 9.0 + 5.0 * 5.0 - 13.0 * 13.0) / (2.0 * 9.0 * 5.0));
  EXPECT_NEAR(motion.summary.simulated_seconds, (limit - std::numbers::pi / 6.0) / 10.0, 2e-3);
}

Spec parallelogram(const std::string& every) {
  Spec spec = test::library_spec("four_bar_driven",
                                 {{"r1", "4"}, {"r2", "2"}, {"r3", "4"}, {"r4", "2"}, {"speed", "pi"}, {"theta0", "pi/4"}});
  spec.settings.end = 4.0;
  spec.settings.output_every = std::stod(every);
  return spec;
}

TEST(Kinematics, CrossesSingularPositionsOnTheBranchItCameOnAndReportsThem) {
  // The parallelogram lies flat at t = 0.75, 1.75, ...: passed by the first, met exactly by the second.
  for (const char* every : {"0.007", "0.01"}) {
    const Motion motion(parallelogram(every));
    ASSERT_TRUE(motion.summary.completed) << motion.summary.status;
    ASSERT_FALSE(motion.summary.warnings.empty()) << every;
    EXPECT_THAT(motion.summary.warnings.front(), HasSubstr("singular position"));
    for (std::size_t i = 0; i < motion.rows.size(); ++i)
      ASSERT_NEAR(std::remainder(motion.at(i, "q.theta4") - motion.at(i, "q.theta2"), 2.0 * std::numbers::pi), 0.0, 1e-6)
          << "at " << motion.rows[i][0] << " every " << every;
  }
}

TEST(Kinematics, LeavesOutColumnsOfForcesAndNoOthers) {
  const Spec spec = test::library_spec("four_bar_driven");
  const Model model = build_model(spec);
  std::vector<std::string> expected;
  const Simulation simulation(model);
  const auto is_of_forces = [](const std::string& name) {
    return std::ranges::any_of(std::array{"lambda.", "force.", "torque.", "effort.", "load.", "power."},
                               [&](const char* prefix) { return name.starts_with(prefix); });
  };
  for (const std::string& name : simulation.columns())
    if (!is_of_forces(name)) expected.push_back(name);
  EXPECT_EQ(kinematic_motion(model).columns(), expected);
}

}  // namespace
}  // namespace linkwork
