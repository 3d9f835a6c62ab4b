#include <gtest/gtest.h>

#include <cmath>

#include "linkwork/formulations/catalog.h"
#include "linkwork/stabilizations/catalog.h"
#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;

Spec accurate(const std::string& name, double end, double every = 0.5) {
  Spec spec = test::library_spec(name);
  spec.settings.integrator = {"dopri45", {}, {}};
  spec.settings.rtol = 1e-12;
  spec.settings.atol = 1e-13;
  spec.settings.end = end;
  spec.settings.output_every = every;
  return spec;
}

TEST(UprightDisc, FollowsItsClosedForm) {
  const RecordedRun run(accurate("upright_disc", 5.0));
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_EQ(run.summary.dof, 2);
  const double spin = 4.0, turn = 0.7, R = 0.3 * spin / turn;
  for (int k = 0; k <= 10; ++k) {
    const double t = 0.5 * k;
    EXPECT_NEAR(run.at(t, "q.place.x"), R * std::sin(turn * t), 1e-8) << t;
    EXPECT_NEAR(run.at(t, "q.place.y"), R * (1.0 - std::cos(turn * t)), 1e-8) << t;
    EXPECT_NEAR(run.at(t, "q.place.angle"), turn * t, 1e-8) << t;
    EXPECT_NEAR(run.at(t, "q.axle"), spin * t, 1e-8) << t;
    EXPECT_NEAR(run.at(t, "v.axle"), spin, 1e-8) << t;
    // What holds it on its circle: m R turn^2 towards the centre.
    EXPECT_NEAR(std::hypot(run.at(t, "force.floor.x"), run.at(t, "force.floor.y")), 2.0 * R * turn * turn, 1e-8) << t;
  }
}

/// Position by quadrature of the closed form of the velocities.
TEST(ChaplyginSleigh, FollowsItsClosedForm) {
  const RecordedRun run(accurate("chaplygin_sleigh", 5.0));
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_EQ(run.summary.dof, 2);
  const double m = 3.0, a = 0.25, J = 0.4 + m * a * a, v0 = -1.0, w0 = 0.8;
  const double V = std::sqrt(v0 * v0 + J / m * w0 * w0), W = std::sqrt(m / J) * V, k = a * W * W / V;
  const double c = std::atanh(v0 / V);
  const auto heading = [&](double t) {
    const auto gudermann = [](double x) { return 2.0 * std::atan(std::tanh(0.5 * x)); };
    return W / k * (gudermann(k * t + c) - gudermann(c));
  };
  const auto integral = [&](double until, auto&& f) {  // Simpson's rule, fine enough
    const int n = 20000;
    double sum = 0.0;
    for (int i = 0; i <= n; ++i) sum += (i == 0 || i == n ? 1.0 : i % 2 == 1 ? 4.0 : 2.0) * f(until * i / n);
    return sum * until / n / 3.0;
  };
  for (int i = 0; i <= 10; ++i) {
    const double t = 0.5 * i, speed = V * std::tanh(k * t + c), theta = heading(t);
    EXPECT_NEAR(run.at(t, "v.place.angle"), W / std::cosh(k * t + c), 1e-8) << t;
    EXPECT_NEAR(run.at(t, "v.place.x"), speed * std::cos(theta), 1e-8) << t;
    EXPECT_NEAR(run.at(t, "v.place.y"), speed * std::sin(theta), 1e-8) << t;
    EXPECT_NEAR(run.at(t, "q.place.angle"), theta, 1e-8) << t;
    const auto along = [&](double s) { return V * std::tanh(k * s + c); };
    EXPECT_NEAR(run.at(t, "q.place.x"), integral(t, [&](double s) { return along(s) * std::cos(heading(s)); }), 1e-8) << t;
    EXPECT_NEAR(run.at(t, "q.place.y"), integral(t, [&](double s) { return along(s) * std::sin(heading(s)); }), 1e-8) << t;
  }
}

TEST(Nonholonomic, VelocitiesDoNotDriftInAMinute) {
  for (const std::string name : {"upright_disc", "chaplygin_sleigh", "snakeboard"})
    for (const std::string drift : {"projection", "velocity", "post"}) {
      Spec spec = test::library_spec(name);
      spec.settings.end = 60.0;
      spec.settings.step = 5e-3;
      spec.settings.output_every = 1.0;
      spec.settings.stabilization = {drift, {}, {}};
      const RecordedRun run(spec);
      ASSERT_TRUE(run.summary.completed) << name << ": " << run.summary.status;
      EXPECT_LT(run.summary.velocity_error_max, 1e-10) << name << " " << drift;
      if (name == "snakeboard") continue;  // it is driven ever faster
      EXPECT_LT(run.summary.energy_drift, 1e-7) << name << " " << drift;
    }
}

/// A start off the constraints: Baumgarte's feedback of first order takes the error away at its rate.
TEST(Nonholonomic, BaumgarteFeedsBackTheRateAlone) {
  const Model model = build_model(test::library_spec("chaplygin_sleigh"));
  EquationsOfMotion equations(model, formulations().front().make(model, {}),
                              make_chosen(stabilizations(), {"baumgarte", {{"gamma", 7.0}}, {}}, "stabilization", model));
  State state = test::start_state(model);
  state.v[1] += 0.3;
  Derivative rates;
  ASSERT_TRUE(equations.evaluate(state, rates).ok());
  System system(model);
  system.update(state);
  const VecX<double> A_vdot = system.jacobian() * rates.vdot;
  EXPECT_NEAR(A_vdot[0] - system.terms().b[0], -7.0 * system.terms().rate[0], 1e-12);
}

/// Rows at velocity level have no position that could be corrected.
TEST(Nonholonomic, PositionProjectionIgnoresVelocityRows) {
  Spec spec = test::library_spec("snakeboard");
  const Model model = build_model(spec);
  System system(model);
  for (const Metric metric : {Metric::kMass, Metric::kIdentity}) {
    ManifoldProjection projection(model, metric);
    State state = test::start_state(model);
    state.q[0] += 0.2;  // where the board is does not matter to its wheels
    state.q[3] += 0.1;  // the rotor is off its drive
    State moved = state;
    projection.project_position(system, moved, 1e-14);
    system.update(moved);
    EXPECT_LT(system.terms().phi.cwiseAbs().maxCoeff(), 1e-13);
    // By the rotor alone in the plain metric; with masses the board gives way, wheels or no wheels.
    if (metric == Metric::kIdentity) {
      EXPECT_NEAR((moved.q - state.q).norm(), 0.1, 1e-12);
    }
  }
}

/// A coin that rolls and leans: nothing is lost, and the contact stays where it should.
TEST(RollingDisc, KeepsItsEnergyInAnyPosition) {
  Spec spec = test::spec_of(R"toml(
[settings]
gravity = [0, 0, -9.81]
end = 3.0
step = 5e-4
[[body]]
name = "coin"
solid = { shape = "cylinder", from = [0, 0, -0.005], to = [0, 0, 0.005], radius = 0.2, mass = 0.7 }
[[joint]]
name = "float"
type = "free"
parent = { body = "ground" }
child = { body = "coin" }
position = [0, 0, 0.195, 0.62, 0.62, 0.25, 0.41]
velocity = [0.8, 0, 0, 0.3, 0.2, 12.0]
[[closure]]
name = "floor"
type = "rolling"
a = { body = "ground" }
b = { body = "coin" }
radius = 0.2
)toml");
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_EQ(run.summary.dof, 3);
  EXPECT_LT(run.summary.energy_drift, 1e-9);
  EXPECT_LT(run.summary.position_error_max, 1e-10);
  EXPECT_LT(run.summary.velocity_error_max, 1e-9);
}

TEST(RollingDisc, AllFormulationsThatGiveAccelerationsAgree) {
  for (const std::string name : {"upright_disc", "chaplygin_sleigh", "snakeboard"}) {
    const Model model = build_model(test::library_spec(name));
    std::mt19937 random(5);
    const State start = test::random_consistent_state(model, random);
    Derivative reference;
    for (const auto& entry : formulations()) {
      if (entry.traits.gives != Equations::kAcceleration || !entry.traits.exact) continue;
      EquationsOfMotion equations(model, entry.make(model, complete_options(entry.info, {entry.info.name, {}, {}})),
                                  make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
      State state = start;
      Derivative rates;
      equations.start(state);
      ASSERT_TRUE(equations.evaluate(state, rates).ok()) << name << " " << entry.info.name;
      if (reference.vdot.size() == 0) reference = rates;
      EXPECT_LT(test::relative_difference(rates.vdot, reference.vdot), 1e-8) << name << " " << entry.info.name;
    }
  }
}

/// A planet that rolls on a fixed sun, or inside a fixed ring: its turning against the arm is that of gears.
TEST(RollingDiscs, TurnLikeGears) {
  for (const bool inside : {false, true}) {
    Spec spec = test::spec_of(std::string(R"toml(
[settings]
gravity = [0, 0, 0]
end = 1.0
[[body]]
name = "arm"
solid = { shape = "rod", to = [0.7, 0, 0], mass = 1 }
[[body]]
name = "planet"
solid = { shape = "cylinder", to = [0, 0, 0.1], radius = 0.2, mass = 2 }
[[joint]]
name = "arm"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
velocity = 1.5
fixed = true
[[joint]]
name = "axle"
type = "revolute"
parent = { body = "arm", at = [0.7, 0, 0] }
child = { body = "planet" }
[[closure]]
name = "mesh"
type = "rolling-discs"
a = { body = "ground" }
b = { body = "planet" }
radius_a = 0.5
radius = 0.2
)toml") + (inside ? "inside = true\n" : ""));
    for (JointSpec& joint : spec.joints)
      if (joint.name == "axle") joint.parent.at.x() = inside ? 0.3 : 0.7;
    const RecordedRun run(spec);
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_NEAR(run.last("v.axle"), (inside ? -1.0 : 1.0) * 0.5 / 0.2 * run.last("v.arm"), 1e-10) << inside;
    EXPECT_NEAR(run.last("v.arm"), 1.5, 1e-10) << inside;
    EXPECT_EQ(run.summary.redundant, std::vector<std::string>{"mesh.normal"}) << inside;  // the arm keeps the distance
  }
}

TEST(FrictionDrive, KeepsTheRatioThatTheStateGives) {
  Spec spec = test::spec_of(R"toml(
[settings]
gravity = [0, 0, 0]
end = 2.0
[[body]]
name = "a"
mass = 1
inertia = [1, 1, 0.3]
[[body]]
name = "b"
mass = 1
inertia = [1, 1, 0.8]
[[joint]]
name = "in"
type = "revolute"
parent = { body = "ground" }
child = { body = "a" }
[[joint]]
name = "out"
type = "revolute"
parent = { body = "ground" }
child = { body = "b" }
[[closure]]
name = "variator"
type = "friction-drive"
joints = ["in", "out"]
ratio = "0.5 + 0.2*q.in"
[[force]]
type = "torque"
joint = "in"
value = "1 + sin(3*t)"
)toml");
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_EQ(run.summary.dof, 1);
  EXPECT_GT(run.last("q.in"), 0.5);
  EXPECT_NEAR(run.last("v.out"), (0.5 + 0.2 * run.last("q.in")) * run.last("v.in"), 1e-10);
  // Integrable here: q.out = 0.5 q.in + 0.1 q.in^2, a relation that nothing but the velocities was asked for.
  EXPECT_NEAR(run.last("q.out"), 0.5 * run.last("q.in") + 0.1 * std::pow(run.last("q.in"), 2), 1e-9);
  EXPECT_LT(run.summary.energy_drift, 1e-9);
}

TEST(Nonholonomic, ReuseOfAnOldInverseIsRefusedUnlessForced) {
  Spec spec = test::library_spec("upright_disc");
  spec.settings.end = 1.0;
  spec.settings.stabilization = {"acceleration", {}, {}};
  spec.settings.formulation = {"gigsp", {{"reuse", 5.0}}, {}};
  EXPECT_THROW(Simulation(build_model(spec)), InputError);
  spec.settings.formulation.options["force"] = 1.0;
  EXPECT_NO_THROW(Simulation(build_model(spec)));
}

TEST(Nonholonomic, MethodsThatCannotTakeSuchRowsSaySo) {
  for (const auto& [formulation, integrator, coordinates] :
       {std::tuple{"index3", "generalized-alpha", "TA"}, std::tuple{"auto", "rk4", "CE"}}) {
    Spec spec = test::library_spec("chaplygin_sleigh");
    spec.settings.formulation = {formulation, {}, {}};
    spec.settings.integrator = {integrator, {}, {}};
    spec.settings.coordinates = {coordinates, {}, {}};
    try {
      const Model model = build_model(spec);
      Simulation simulation(model);
      ADD_FAILURE() << formulation << " " << coordinates;
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("'blade'"), std::string::npos) << error.what();
      EXPECT_NE(std::string(error.what()).find("velocities"), std::string::npos) << error.what();
    }
  }
}

/// All bodies free, every joint a closure: the same motion.
TEST(Nonholonomic, RunsWithFreeBodies) {
  for (const std::string name : {"upright_disc", "chaplygin_sleigh", "snakeboard"}) {
    Spec spec = test::library_spec(name);
    spec.settings.end = 0.5;
    const RecordedRun tree(spec);
    spec.settings.coordinates = {"FA", {}, {}};
    spec.settings.formulation = {"nullspace-qr", {}, {}};
    const RecordedRun free(spec);
    ASSERT_TRUE(free.summary.completed) << name << ": " << free.summary.status;
    EXPECT_NEAR(free.last("q.place.x"), tree.last("q.place.x"), 1e-7) << name;
    EXPECT_NEAR(free.last("q.place.angle"), tree.last("q.place.angle"), 1e-7) << name;
  }
}

}  // namespace
}  // namespace linkwork
