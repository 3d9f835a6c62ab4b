#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "linkwork/formulations/catalog.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/stabilizations/catalog.h"
#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;

nlohmann::json oracle(const std::string& name) {
  std::ifstream file(test::source_dir() / "tests/oracles" / (name + ".json"));
  return nlohmann::json::parse(file);
}

/// A number written as such, or as text with more digits.
double number(const nlohmann::json& value) {
  return value.is_string() ? std::stod(value.get<std::string>()) : value.get<double>();
}

Settings& tight(Spec& spec, double end, double rtol = 1e-12) {
  spec.settings.integrator = {"dopri45", {}, {}};
  spec.settings.rtol = rtol;
  spec.settings.atol = 1e-13;
  spec.settings.end = end;
  spec.settings.output_every = 0.1;
  return spec.settings;
}

TEST(FourBar, FollowsTheReferenceSolutionOfKhan2006) {
  Spec spec = test::library_spec("four_bar");
  tight(spec, 2.0);
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  const nlohmann::json reference = oracle("four_bar_khan")["case"];
  for (std::size_t k = 0; k < reference["t"].size(); ++k) {
    const double t = reference["t"][k];
    const double tolerance = t <= 1.0 ? 1e-9 : 1e-8;
    EXPECT_NEAR(run.at(t, "q.theta"), number(reference["theta"][k]), tolerance) << t;
    EXPECT_NEAR(run.at(t, "q.theta") + run.at(t, "q.alpha"), number(reference["alpha"][k]), tolerance) << t;
    EXPECT_NEAR(run.at(t, "q.phi"), number(reference["phi"][k]), tolerance) << t;
    for (const auto& [column, key] :
         {std::pair{"force.cut.x", "pin_force_2_on_3_x"}, std::pair{"force.cut.y", "pin_force_2_on_3_y"}}) {
      const double force = number(reference[key][k]);
      EXPECT_NEAR(run.at(t, column), force, 1e-7 * std::abs(force)) << column << " at " << t;
    }
  }
  const auto& start = reference["initial"];
  EXPECT_NEAR(run.at(0.0, "a.theta"), number(start["accelerations"][0]), 1e-9);
  EXPECT_NEAR(run.at(0.0, "a.phi"), number(start["accelerations"][2]), 1e-9);
  const double fx = number(start["pin_force_2_on_3"][0]), fy = number(start["pin_force_2_on_3"][1]);
  EXPECT_NEAR(run.at(0.0, "force.cut.x"), fx, 1e-7 * std::abs(fx));
  EXPECT_NEAR(run.at(0.0, "force.cut.y"), fy, 1e-7 * std::abs(fy));
}

TEST(FourBar, KeepsItsEnergyForTenSecondsWithoutTorque) {
  Spec spec = test::library_spec("four_bar", {{"torque", "0"}});
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed);
  EXPECT_EQ(run.summary.steps, 10000);
  EXPECT_LT(run.summary.energy_drift, 1e-7);
  EXPECT_LT(run.summary.position_error_max, spec.settings.constraint_tolerance);
}

TEST(FourBar, EnergyBalanceIncludesTheWorkOfTheMotor) {
  Spec spec = test::library_spec("four_bar");
  tight(spec, 3.0);
  EXPECT_LT(RecordedRun(spec).summary.energy_drift, 1e-10);
}

TEST(EnergyBalance, ClosesOnEveryModel) {
  for (const std::string& name : test::library_models()) {
    Spec spec = test::library_spec(name);
    tight(spec, std::min(spec.settings.end, 0.5), 1e-11);
    const RecordedRun run(spec);
    EXPECT_TRUE(run.summary.completed) << name << ": " << run.summary.status;
    EXPECT_LT(run.summary.energy_drift, 1e-8) << name;
    EXPECT_LT(run.summary.position_error_max, spec.settings.constraint_tolerance) << name;
  }
}

TEST(EnergyBalance, AccountsForEveryKindOfForceAndForDrives) {
  Spec spec = test::spec_of(R"toml(
[[body]]
name = "arm"
solid = { shape = "box", center = [0.5, 0, 0], size = [1, 0.1, 0.2], mass = 1 }
[[body]]
name = "ball"
solid = { shape = "sphere", center = [0.2, 0.1, 0], radius = 0.2, mass = 2 }
[[body]]
name = "cart"
solid = { shape = "box", center = [0, 0, 0], size = [0.2, 0.2, 0.2], mass = 1 }
[[joint]]
name = "shoulder"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
position = 0.3
damping = 0.2
stiffness = 3
rest = 0.1
friction = 0.4
[[joint]]
name = "wrist"
type = "spherical"
parent = { body = "arm", at = [1, 0, 0] }
child = { body = "ball" }
velocity = [1, -2, 0.5]
damping = 0.1
[[joint]]
name = "rail"
type = "prismatic"
axis = [1, 0, 0]
parent = { body = "ground", at = [0, -1, 0] }
child = { body = "cart" }
[[closure]]
name = "motor"
type = "drive"
joint = "rail"
value = "0.3*sin(5*t)"
[[force]]
type = "spring"
a = { body = "cart" }
b = { body = "ball", at = [0.1, 0, 0.3] }
stiffness = 40
damping = 2
length = 0.5
[[force]]
type = "damper"
a = { body = "ground", at = [0, 0, 1] }
b = { body = "arm", at = [0.7, 0, 0] }
damping = 1.5
[[force]]
type = "wrench"
body = "ball"
at = [0, 0.2, 0]
force = ["sin(3*t)", 1, 0]
torque = [0, "0.2*v.shoulder", 0.1]
axes = "body"
[[force]]
type = "wrench"
body = "arm"
at = [0.3, 0, 0]
force = [0, "2*cos(t)", 0]
[[force]]
type = "torque"
joint = "wrist.wx"
value = "0.3*q.shoulder"
)toml");
  tight(spec, 1.0, 1e-12);
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_LT(run.summary.energy_drift, 1e-10);
  EXPECT_NEAR(run.at(1.0, "q.rail"), 0.3 * std::sin(5.0), 1e-10);
}

TEST(Pendulum, SwingsAsTheEllipticFunctionSays) {
  Spec spec = test::library_spec("pendulum");
  tight(spec, 10.0);
  const RecordedRun run(spec);
  const nlohmann::json reference = oracle("iftomm_a01_pendulum");
  // Compare positions of the mass, whatever angle the model uses: x = -sin(phi), y = -cos(phi).
  for (std::size_t k = 0; k < reference["t"].size(); ++k) {
    const double t = reference["t"][k], phi = number(reference["phi"][k]);
    if (t > 10.0) break;
    EXPECT_NEAR(run.at(t, "p.P1.x"), -std::sin(phi), 1e-9) << t;
    EXPECT_NEAR(run.at(t, "p.P1.y"), -std::cos(phi), 1e-9) << t;
  }
}

TEST(Andrews, ReachesThePublishedAngles) {
  Spec spec = test::library_spec("andrews");
  tight(spec, 0.03, 1e-11).output_every = 0.03;
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  const std::vector<std::pair<std::string, double>> published{
      {"beta", 15.81077119629904},   {"Theta", -15.75637105984298}, {"gamma", 0.04082224013073101}, {"Phi", -0.5347301163226948},
      {"delta", 0.5244099658805304}, {"Omega", 0.5347301163226948}, {"epsilon", 1.048080741042263}};
  for (const auto& [name, angle] : published) EXPECT_NEAR(run.at(0.03, "q." + name), angle, 1e-8) << name;
}

TEST(Bricard, RunsTenSecondsThoughOverconstrained) {
  Spec spec = test::library_spec("bricard");
  spec.settings.end = 10.0;
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_EQ(run.summary.dof, 1);
  EXPECT_FALSE(run.summary.redundant.empty());
  EXPECT_LT(run.summary.energy_drift, 1e-6);
  EXPECT_LT(run.summary.position_error_max, 1e-10);
}

TEST(NFourBar, RunsTenSecondsThroughItsSingularPositions) {
  Spec spec = test::library_spec("n_four_bar", {{"n", "40"}});
  spec.settings.end = 10.0;
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_EQ(run.summary.dof, 1);
  EXPECT_LT(run.summary.energy_drift, 1e-6);
  EXPECT_LT(run.summary.position_error_max, 1e-9);
}

struct ReferenceRun {
  std::string model;
  double until;
  double tolerance;
};

/// Independent solutions (reduced coordinates, 30 digits and more; see tests/oracles/README.md), column by column. The n-four-bar
/// and the ring pass singular positions on the way.
TEST(Runs, FollowIndependentSolutions) {
  for (const auto& [name, until, tolerance] :
       {ReferenceRun{"slider_crank", 5.0, 1e-7}, ReferenceRun{"spatial_slider_crank", 5.0, 1e-7}, ReferenceRun{"bricard", 10.0, 1e-7},
        ReferenceRun{"five_bar_redundant", 10.0, 1e-8}, ReferenceRun{"n_four_bar", 10.0, 1e-7}, ReferenceRun{"ring", 3.0, 1e-6}}) {
    nlohmann::json reference = oracle(name);
    if (reference.contains("cases")) reference = reference["cases"]["n = 2"];
    if (reference.contains("values")) reference = reference["values"];
    Spec spec = test::library_spec(name);
    tight(spec, until).output_every = 0.05;
    const RecordedRun run(spec);
    ASSERT_TRUE(run.summary.completed) << name << ": " << run.summary.status;
    int compared = 0;
    for (const auto& [key, values] : reference.items()) {
      const std::string column = key.ends_with(".upright") ? key + "0" : key;
      if (std::ranges::find(run.columns, column) == run.columns.end() || column == "t") continue;
      double scale = 1.0;
      for (const auto& value : values) scale = std::max(scale, std::abs(number(value)));
      for (std::size_t k = 0; k < values.size() && reference["t"][k] <= until; ++k, ++compared)
        EXPECT_NEAR(run.at(reference["t"][k], column), number(values[k]), tolerance * scale)
            << name << " " << column << " at " << reference["t"][k];
    }
    EXPECT_GT(compared, 20) << name;
  }
}

TEST(Runs, AreBitIdentical) {
  Spec spec = test::library_spec("spatial_slider_crank");
  spec.settings.end = 0.5;
  const RecordedRun a(spec), b(spec);
  EXPECT_EQ(a.rows, b.rows);
}

TEST(Runs, ComeBackWhenTimeIsReversed) {
  Spec spec = test::library_spec("double_pendulum");
  tight(spec, 1.0);
  const Model model = build_model(spec);
  Simulation there(model);
  there.run();
  Model back_model = model;
  const State end = there.state();
  back_model.start_q.assign(end.q.begin(), end.q.end());
  back_model.start_v.clear();
  for (double v : end.v) back_model.start_v.push_back(-v);
  Simulation back(back_model);
  const State start = back.state();
  back.run();
  for (std::size_t i = 0; i < model.start_q.size(); ++i)
    EXPECT_NEAR(back.state().q[static_cast<Eigen::Index>(i)], model.start_q[i], 1e-8);
}

TEST(Runs, OutputOffTheStepGridIsInterpolatedAndAccurate) {
  Spec spec = test::library_spec("four_bar");
  spec.settings.end = 1.0;
  spec.settings.output_every = 0.0377;
  const RecordedRun coarse(spec);
  spec.settings.output_every = 0.0377;
  spec.settings.step = 1e-4;
  const RecordedRun fine(spec);
  ASSERT_EQ(coarse.rows.size(), fine.rows.size());
  for (std::size_t i = 0; i < coarse.rows.size(); ++i) {
    EXPECT_EQ(coarse.rows[i][0], fine.rows[i][0]);
    EXPECT_NEAR(coarse.rows[i][1], fine.rows[i][1], 1e-9);
  }
}

TEST(Runs, StopWithAReasonAndKeepWhatTheyHave) {
  Spec spec = test::spec_of(R"(
[[body]]
name = "mass"
solid = { shape = "point", at = [1, 0, 0], mass = 1 }
[[joint]]
name = "pivot"
type = "revolute"
parent = { body = "ground" }
child = { body = "mass" }
[[force]]
type = "torque"
joint = "pivot"
value = "1/(0.5 - t)^2"
)");
  spec.settings.end = 1.0;
  const RecordedRun run(spec);
  EXPECT_FALSE(run.summary.completed);
  EXPECT_NE(run.summary.status.find("stopped at t = 0.499"), std::string::npos) << run.summary.status;
  EXPECT_GT(run.rows.size(), 40u);
}

TEST(Runs, StopWhereConstraintsContradict) {
  Spec spec = test::spec_of(R"toml(
[[body]]
name = "wheel"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "axle"
type = "revolute"
parent = { body = "ground" }
child = { body = "wheel" }
[[closure]]
name = "slow"
type = "drive"
joint = "axle"
value = "t^2"
[[closure]]
name = "fast"
type = "drive"
joint = "axle"
value = "2*t^2"
)toml");
  const RecordedRun run(spec);
  EXPECT_FALSE(run.summary.completed);
  EXPECT_NE(run.summary.status.find("the constraints cannot all be met"), std::string::npos) << run.summary.status;
}

TEST(Projection, OfAConsistentStateChangesNothing) {
  const Model model = build_model(test::library_spec("spatial_four_bar"));
  std::mt19937 random(51);
  System system(model);
  ManifoldProjection projection(model);
  State state = test::random_consistent_state(model, random);
  const State before = state;
  projection.project(system, state, 1e-12);
  EXPECT_EQ(state.q, before.q);
  EXPECT_EQ(state.v, before.v);
}

}  // namespace
}  // namespace linkwork
