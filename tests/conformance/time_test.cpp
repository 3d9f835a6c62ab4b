#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <tuple>

#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

/// A mass that slides along x, or a wheel of inertia 1: one coordinate without gravity.
Spec slider(const std::string& force, double velocity = 0.0, const std::string& more = "") {
  return test::spec_of(fmt::format(R"toml(
[settings]
gravity = [0, 0, 0]
end = 2.0
[[body]]
name = "mass"
mass = 1
[[joint]]
name = "x"
type = "prismatic"
parent = {{ body = "ground" }}
child = {{ body = "mass" }}
axis = [1, 0, 0]
velocity = {}
[[force]]
type = "torque"
joint = "x"
value = "{}"
{})toml",
                                   velocity, force, more));
}

RecordedRun run_with(Spec spec, const std::string& integrator, double rtol = 1e-8) {
  spec.settings.integrator = {integrator, {}, {}};
  spec.settings.rtol = rtol;
  spec.settings.atol = 1e-2 * rtol;
  return RecordedRun(spec);
}

const std::vector<std::string> kAllKinds{"rk4",       "euler",  "semi-implicit-euler", "ode8", "dopri45", "cvode-adams",
                                         "cvode-bdf", "arkode", "generalized-alpha"};

TEST(SwitchPoints, RandomPulsesGiveTheirImpulseWithEveryKindOfIntegrator) {
  std::mt19937 random(7);
  for (int variant = 0; variant < 3; ++variant) {
    std::string force;
    double impulse = 0.0;
    for (int pulse = 0; pulse < 4; ++pulse) {
      const double from = 1.0 + 0.95 * test::uniform(random), width = 0.02 * (1.01 + test::uniform(random));
      const double size = 100.0 * test::uniform(random);
      force += fmt::format("{}{}*(step(t - {}) - step(t - {}))", force.empty() ? "" : " + ", size, from, from + width);
      impulse += size * width;
    }
    for (const std::string& integrator : kAllKinds) {
      const RecordedRun run = run_with(slider(force), integrator);
      EXPECT_TRUE(run.summary.completed) << integrator << ": " << run.summary.status;
      EXPECT_NEAR(run.last("v.x"), impulse, 1e-7) << integrator;
    }
  }
}

TEST(SwitchPoints, OfPeriodicAndNestedFunctionsOfTimeAreAllFound) {
  // On for 0.003 s of every 0.07 s; the second only in odd seconds, the third a sawtooth.
  const std::string force = "if(mod(t, 0.07) < 0.003, 10, 0) + (mod(floor(t), 2) >= 1)*(mod(t, 0.25) > 0.2)*3 + 2*mod(t, 0.5)";
  double expected = 0.0;
  for (int k = 0; k * 0.07 < 2.0; ++k) expected += 10.0 * 0.003;
  expected += 4.0 * 3.0 * 0.05 + 4.0 * 2.0 * 0.125;
  for (const std::string integrator : {"rk4", "dopri45", "cvode-adams", "arkode"})
    EXPECT_NEAR(run_with(slider(force), integrator).last("v.x"), expected, 1e-6) << integrator;
}

/// x'' = -sign(x): pieces of parabolas, the period is 4 v0.
TEST(SwitchPoints, OfTheStateAreLocatedSoThatMethodsKeepTheirAccuracy) {
  for (const std::string integrator : {"rk4", "ode8", "dopri45", "cvode-adams", "cvode-bdf"}) {
    Spec spec = slider("if(q.x > 0, -1, 1)", 0.3);
    spec.settings.end = 10 * 4 * 0.3;
    spec.settings.step = 0.01;
    const RecordedRun run = run_with(spec, integrator, 1e-10);
    EXPECT_NEAR(run.last("q.x"), 0.0, 1e-7) << integrator;
    EXPECT_NEAR(run.last("v.x"), 0.3, 1e-7) << integrator;
  }
}

TEST(SwitchPoints, AtKinksCostNoOrder) {
  // x'' = -|x| (1 + x): what an integrator of order 4 does with a kink it steps over is of order 2 or 3.
  const auto end_of = [](double step) {
    Spec spec = slider("-abs(q.x)*(1 + q.x) + 2*max(v.x, 0.1*t)*(0.4 - q.x)", 0.7);
    spec.settings.step = step;
    spec.settings.end = 3.0;
    return RecordedRun(spec).last("q.x");
  };
  const double exact = end_of(0.00125), e1 = std::abs(end_of(0.02) - exact), e2 = std::abs(end_of(0.01) - exact);
  EXPECT_GT(std::log2(e1 / e2), 3.5) << e1 << ", " << e2;
}

TEST(SwitchPoints, OfDrivesDoTheWorkOfTheirJumps) {
  Spec spec = slider("0", 0.0, R"toml(
[[closure]]
name = "lead"
type = "drive"
joint = "x"
value = "if(t < 0.7345, 0.5*t, 0.36725 + 2*(t - 0.7345))"
)toml");
  const RecordedRun run(spec);
  EXPECT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_NEAR(run.last("v.x"), 2.0, 1e-9);
  EXPECT_NEAR(run.last("q.x"), 0.36725 + 2 * (2 - 0.7345), 1e-9);
  EXPECT_LT(run.summary.energy_drift, 1e-9);
}

TEST(SwitchPoints, ThatDriveThemselvesBackAreLetGoWithAWarning) {
  for (const std::string integrator : {"rk4", "dopri45"}) {
    const RecordedRun run = run_with(slider("-2*sign(v.x)", 1.0), integrator, 1e-4);
    EXPECT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_THAT(run.summary.warnings, Contains(HasSubstr("drives it back at once"))) << integrator;
    EXPECT_NEAR(run.last("q.x"), 0.25, 1e-2) << integrator;
  }
}

TEST(SwitchPoints, OfABranchWithoutValuesBeyondItsEndArePassed) {
  // x'' = -6 sqrt(x) from x = 0: until it comes back to 0, then at constant speed.
  for (const std::string integrator : {"rk4", "dopri45"}) {
    const RecordedRun run = run_with(slider("if(q.x > 0, -6*sqrt(q.x), 0)", 1.0), integrator);
    EXPECT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_NEAR(run.last("v.x"), -1.0, 1e-4) << integrator;
  }
}

Spec kicked_by_a_sine(double omega) {
  return slider("0", 1.0,
                fmt::format(R"toml(
[[event]]
name = "k"
when = "sin({}*t)"
direction = "rising"
do = ["kick x by 0.2"]
)toml",
                            omega));
}

TEST(Events, DoNotDependOnWhenRowsAreWritten) {
  std::mt19937 random(11);
  for (const std::string integrator : {"rk4", "dopri45", "cvode-adams"})
    for (int variant = 0; variant < 6; ++variant) {
      Spec spec = kicked_by_a_sine(10 * std::numbers::pi);
      // Multiples of the events' times, and none.
      spec.settings.output_every =
          variant < 3 ? std::array{0.1, 0.05, 0.2}[static_cast<std::size_t>(variant)] : 0.3 + 0.29 * test::uniform(random);
      spec.settings.end = 1.95;
      const RecordedRun run = run_with(spec, integrator);
      EXPECT_EQ(run.summary.events.size(), 9u) << integrator << " every " << spec.settings.output_every;
      EXPECT_NEAR(run.last("v.x"), 2.8, 1e-9);
      for (std::size_t k = 0; k < run.summary.events.size(); ++k)
        EXPECT_NEAR(run.summary.events[k].t, 0.2 * static_cast<double>(k + 1), 1e-12);
    }
}

/// A pendulum whose swing ends a little beyond a stop: dopri45 would step over it and back.
Spec pendulum_at_a_stop(double stop, const std::string& more = "") {
  return test::spec_of(fmt::format(R"toml(
[settings]
end = 6
[[body]]
name = "bob"
mass = 1
com = [0, -1, 0]
inertia = [0.01, 0.01, 0.01]
[[joint]]
name = "th"
type = "revolute"
parent = {{ body = "ground" }}
child = {{ body = "bob" }}
axis = [0, 0, 1]
position = -0.5
limits = [-3, {}]
restitution = 0.5
{})toml",
                                   stop, more));
}

TEST(Events, ThatComeAndGoWithinAStepAreFound) {
  std::mt19937 random(13);
  for (int variant = 0; variant < 4; ++variant) {
    const Spec spec = pendulum_at_a_stop(0.485 + 0.014 * test::uniform(random));
    const RecordedRun reference = run_with(spec, "rk4");
    ASSERT_GE(reference.summary.events.size(), 1u);
    for (const std::string integrator : {"dopri45", "cvode-adams", "arkode"}) {
      const RecordedRun run = run_with(spec, integrator, 1e-7);
      EXPECT_EQ(run.summary.events.size(), reference.summary.events.size()) << integrator;
      EXPECT_NEAR(run.last("q.th"), reference.last("q.th"), 1e-4) << integrator;
    }
  }
}

TEST(Events, OfTheOtherDirectionThatComeBackWithinAStepAreFound) {
  // It falls below -0.4999 at the end of every swing, and a moment later rises above it.
  const auto count = [&](const std::string& integrator) {
    const Spec spec = pendulum_at_a_stop(2.0, R"toml(
[[event]]
name = "turns"
when = "q.th + 0.4999"
direction = "rising"
do = ["kick th by 0"]
)toml");
    return run_with(spec, integrator, 1e-7).summary.events.size();
  };
  const std::size_t seen = count("rk4");
  EXPECT_GE(seen, 2u);
  EXPECT_EQ(count("dopri45"), seen);
  EXPECT_EQ(count("cvode-adams"), seen);
}

TEST(Rows, BeforeAnEventAreThoseOfTheSolution) {
  Spec spec = pendulum_at_a_stop(0.45);
  spec.settings.end = 1.2;
  spec.settings.output_every = 0.005;
  const RecordedRun reference = run_with(spec, "ode8");
  for (const std::string integrator : {"cvode-adams", "cvode-bdf", "arkode", "dopri45"}) {
    const RecordedRun run = run_with(spec, integrator);
    ASSERT_EQ(run.rows.size(), reference.rows.size());
    for (std::size_t i = 0; i < run.rows.size(); ++i)
      EXPECT_NEAR(run.rows[i][run.column("q.th")], reference.rows[i][reference.column("q.th")], 2e-6)
          << integrator << " at " << run.rows[i][0];
  }
}

/// The Jacobian of a fall is exact, and iterations converge at once until the step changes: what the first guess after that is
/// worth must not be judged by how fast those before converged.
TEST(Arkode, MeetsItsTolerancesInFreeFall) {
  std::mt19937 random(19);
  for (int variant = 0; variant < 12; ++variant) {
    const Eigen::Vector3d v(test::uniform(random), test::uniform(random), test::uniform(random));
    const double spin = 5.0 * test::uniform(random), rtol = std::pow(10.0, -7.5 + 1.5 * test::uniform(random));
    Spec spec = test::spec_of(fmt::format(R"toml(
[settings]
gravity = [0, -9.81, 0]
end = 1
[[body]]
name = "ball"
mass = 2
inertia = [0.1, 0.1, 0.1]
[[joint]]
name = "y"
type = "free"
parent = {{ body = "ground" }}
child = {{ body = "ball" }}
velocity = [{}, {}, {}, 1, {}, 3]
)toml",
                                          v.x(), v.y(), v.z(), spin));
    for (const double order : {3.0, 4.0, 5.0}) {
      spec.settings.integrator = {"arkode", {{"order", order}}, {}};
      spec.settings.rtol = rtol;
      spec.settings.atol = 1e-2 * rtol;
      const RecordedRun run(spec);
      ASSERT_TRUE(run.summary.completed) << run.summary.status;
      EXPECT_NEAR(run.last("q.y.x"), v.x(), 10.0 * rtol) << order;
      EXPECT_NEAR(run.last("q.y.y"), v.y() - 0.5 * 9.81, 10.0 * rtol) << order;
    }
  }
}

TEST(MaxStep, BoundsTheStepsOfIntegratorsThatChooseThem) {
  for (const std::string integrator : {"dopri45", "cvode-adams", "cvode-bdf", "arkode"}) {
    Spec spec = slider("100*exp(-((t - 1)/0.001)^2)");
    spec.settings.max_step = 5e-4;
    const double impulse = 100 * 0.001 * std::sqrt(std::numbers::pi);
    EXPECT_NEAR(run_with(spec, integrator).last("v.x"), impulse, 1e-6) << integrator;
  }
}

TEST(CutJoints, CountTheirTurnsByTheMotionHoweverSeldomTheyAreRead) {
  for (const std::string integrator : {"rk4", "dopri45", "cvode-adams"})
    for (const double every : {0.05, 0.5, 4.0}) {
      Spec spec = test::spec_of(R"toml(
[settings]
gravity = [0, 0, 0]
end = 4
[[body]]
name = "wheel"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "b1"
type = "revolute"
parent = { body = "ground" }
child = { body = "wheel" }
axis = [0.6, 0, 0.8]
velocity = 10
[[joint]]
name = "b2"
type = "revolute"
parent = { body = "ground", at = [0.6, 0, 0.8] }
child = { body = "wheel", at = [0.6, 0, 0.8] }
axis = [0.6, 0, 0.8]
cut = true
)toml");
      spec.settings.output_every = every;
      spec.settings.coordinates = {"TA", {}, {}};
      const RecordedRun run = run_with(spec, integrator);
      EXPECT_NEAR(run.last("q.b1"), 40.0, 1e-5) << integrator;
      EXPECT_NEAR(run.last("q.b2"), run.last("q.b1"), 1e-9) << integrator << " every " << every;
    }
}

TEST(Arkode, FallsFreelyAsItShould) {
  for (const double rtol : {1e-5, 3e-9, 1e-10}) {
    Spec spec = test::spec_of(R"toml(
[settings]
end = 1
[[body]]
name = "b"
mass = 2
inertia = [0.1, 0.1, 0.1]
[[joint]]
name = "y"
type = "free"
parent = { body = "ground" }
child = { body = "b" }
velocity = [0.5, 0, 0, 1, 2, 3]
)toml");
    EXPECT_NEAR(run_with(spec, "arkode", rtol).last("v.y.y"), -9.81, std::max(1e-9, rtol));
  }
}

/// Symplectic where the mass matrix is constant, and only there.
TEST(SemiImplicitEuler, KeepsTheEnergyOfAPendulumWithinABound) {
  const auto drift = [](double end) {
    Spec spec = test::library_spec("pendulum");
    spec.settings.integrator = {"semi-implicit-euler", {}, {}};
    spec.settings.step = 2e-3;
    spec.settings.end = end;
    return RecordedRun(spec).summary.energy_drift;
  };
  const double soon = drift(5.0);
  EXPECT_LT(soon, 5e-3);
  EXPECT_LT(drift(40.0), 1.1 * soon);
}

/// Four bars of equal length fold flat on the way; the energy tells whether that was passed well.
TEST(SingularPositions, ArePassedWithTheEnergyKept) {
  Spec chain = test::library_spec("n_four_bar");
  chain.settings.end = 4.0;
  chain.settings.integrator = {"ode8", {}, {}};
  EXPECT_LT(RecordedRun(chain).summary.energy_drift, 1e-9);
  Spec ring = test::library_spec("ring");
  ring.settings.end = 4.0;
  ring.settings.integrator = {"ode8", {}, {}};
  EXPECT_LT(RecordedRun(ring).summary.energy_drift, 1e-7);
}

TEST(Trouble, OfAStepThatIsTooLongIsNotBlamedOnTheConstraints) {
  Spec spec = test::library_spec("four_bar");
  spec.settings.step = 0.1;
  spec.settings.end = 10.0;
  const Summary summary = RecordedRun(spec).summary;
  EXPECT_FALSE(summary.completed);
  EXPECT_THAT(summary.status, HasSubstr("the step of 0.1 s is too long"));
}

TEST(Trouble, ThatIsNotANumberIsNamedWithItsExpression) {
  const Summary summary = RecordedRun(slider("sqrt(0.5 - t)")).summary;
  EXPECT_FALSE(summary.completed);
  EXPECT_THAT(summary.status, HasSubstr("the force on joint 'x', \"sqrt(0.5 - t)\""));
  EXPECT_THAT(summary.status, HasSubstr("nan"));
}

TEST(Trouble, WithAColumnAloneIsAWarning) {
  const Summary summary = RecordedRun(test::spec_of(R"toml(
[[body]]
name = "bar"
solid = { shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 1 }
[[joint]]
name = "j"
type = "revolute"
axis = [0, 1, 0]
parent = { body = "ground", at = [1e308, 0, 1e308] }
child = { body = "bar" }
)toml"))
                              .summary;
  EXPECT_TRUE(summary.completed);
  EXPECT_THAT(summary.warnings, Contains(HasSubstr("is not a finite number at t = 0 s")));
}

TEST(Trouble, WithTheEnergyIsAWarning) {
  Spec spec = test::library_spec("four_bar");
  spec.settings.integrator = {"euler", {}, {}};
  spec.settings.step = 0.01;
  spec.settings.end = 2.0;
  const Summary coarse = RecordedRun(spec).summary;
  EXPECT_GT(coarse.energy_drift, 1e-2);
  EXPECT_THAT(coarse.warnings, Contains(HasSubstr("the energy is off by")));
  spec.settings.integrator = {"rk4", {}, {}};
  spec.settings.step = 1e-3;
  EXPECT_THAT(RecordedRun(spec).summary.warnings, Not(Contains(HasSubstr("the energy is off by"))));
}

/// Springs in place of the constraints: too weak for the load, or for the speed, they let go of the loop.
TEST(Trouble, WithLoopsThatComeApartIsAWarning) {
  for (const char* model : {"four_bar", "slider_crank"})
    for (const auto& [choice, coordinates, open] : {std::tuple{"compliance:stiffness=50", "TA", true},
                                                    {"compliance:stiffness=1e7,damping=3e3", "TA", false},
                                                    {"schur", "TA", false},
                                                    {"schur", "FA", false}}) {
      Spec spec = test::library_spec(model);
      spec.settings.formulation = parse_choice(choice, {});
      spec.settings.coordinates = {coordinates, {}, {}};
      spec.settings.stabilization = {"none", {}, {}};
      spec.settings.step = 1e-4;
      spec.settings.end = 0.5;
      const Summary summary = RecordedRun(spec).summary;
      const bool warned = std::ranges::any_of(
          summary.warnings, [](const std::string& text) { return text.find("the mechanism came apart") != std::string::npos; });
      EXPECT_EQ(warned, open) << model << ", " << choice << ", " << coordinates << ": off by " << summary.position_error_max;
    }
}

}  // namespace
}  // namespace linkwork
