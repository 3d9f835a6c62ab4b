// States of the user's own are integrated with the motion, and inputs are set while a run goes on.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "linkwork/io/model_file.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

constexpr const char* kArm = R"toml(linkwork = 1
[settings]
gravity = [0, 0, 0]
end = 2
[[body]]
name = "arm"
mass = 2
inertia = [0.5, 0.5, 0.5]
[[joint]]
name = "arm"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
[[input]]
name = "motor"
[[state]]
name = "decay"
start = 3.0
rate = "-2*z.decay"
[[state]]
name = "angle"
rate = "v.arm"
[[force]]
name = "drive"
type = "torque"
joint = "arm"
value = "u.motor + z.decay"
)toml";

Spec arm(const std::string& integrator) {
  Spec spec = read_model_text(kArm, "arm.toml");
  spec.settings.integrator = {integrator, {}, {}};
  spec.settings.rtol = spec.settings.atol = 1e-10;
  return spec;
}

/// z = 3 exp(-2 t) turns an inertia of 0.5 about its axis: v = 3 (1 - exp(-2 t)), q its integral, which is a state too.
TEST(UserStates, AreIntegratedWithTheMotionByEveryMethodOfAccelerations) {
  for (const char* const integrator : {"rk4", "dopri45", "ode8", "cvode-adams", "cvode-bdf", "arkode"})
    for (const char* const coordinates : {"TA", "FA", "auto"}) {
      Spec spec = arm(integrator);
      spec.settings.coordinates = {coordinates, {}, {}};
      const KeptRun run = run_model(spec);
      ASSERT_TRUE(run.summary.completed) << integrator << ": " << run.summary.status;
      const double t = 2.0, e = std::exp(-2.0 * t), q = 3.0 * (t - 0.5 * (1.0 - e));
      EXPECT_NEAR(run["z.decay"].back(), 3.0 * e, 1e-7) << integrator;
      EXPECT_NEAR(run["v.arm"].back(), 3.0 * (1.0 - e), 1e-7) << integrator;
      EXPECT_NEAR(run["q.arm"].back(), q, 1e-7) << integrator;
      EXPECT_NEAR(run["z.angle"].back(), run["q.arm"].back(), 1e-7) << integrator;
      EXPECT_LT(run.summary.energy_drift, 1e-6) << integrator;
    }
}

TEST(UserStates, AreRefusedInWordsWhereTheyAreNotIntegrated) {
  try {
    run_model(arm("newmark"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not integrate [[state]], of which 'decay' is one"));
  }
}

TEST(UserStates, AreSavedAndRestored) {
  Simulation run(build_model(arm("rk4")));
  ASSERT_TRUE(run.advance_to(0.5));
  const SavedRun saved = run.save();
  run.restore(saved);
  ASSERT_TRUE(run.advance_to(1.0));
  const VecX<double> first = run.moment().y;
  run.restore(saved);
  ASSERT_TRUE(run.advance_to(1.0));
  EXPECT_EQ(run.moment().y, first);
}

/// A torque of u for a second each: the velocity changes by 2 u (inertia 0.5), exactly, whatever steps remember.
TEST(Inputs, ActFromTheInstantTheyAreSet) {
  for (const char* const integrator : {"rk4", "dopri45", "cvode-bdf"}) {
    Spec spec = arm(integrator);
    Simulation run(build_model(spec));
    const auto free_velocity = [](double t) { return 3.0 * (1.0 - std::exp(-2.0 * t)); };
    double expected = 0.0;
    for (int second = 0; second < 4; ++second) {
      const double u = second % 2 == 0 ? 5.0 : -3.0;
      run.set_input("motor", u);
      expected += 2.0 * u;
      ASSERT_TRUE(run.advance_to(second + 1.0)) << run.summary().status;
      EXPECT_NEAR(run.state().v[0], expected + free_velocity(second + 1.0), 1e-6) << integrator << ", " << second;
    }
  }
}

TEST(Inputs, OfAnotherNameAreRefusedWithTheKnownOnes) {
  Simulation run(build_model(arm("rk4")));
  try {
    run.set_input("moter", 1.0);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("motor"));
  }
}

/// Two runs of one model do not disturb each other.
TEST(Inputs, BelongToARun) {
  const auto model = std::make_shared<const Model>(build_model(arm("rk4")));
  Simulation first(model), second(model);
  first.set_input("motor", 7.0);
  ASSERT_TRUE(first.advance_to(0.1) && second.advance_to(0.1));
  EXPECT_NEAR(first.state().v[0] - second.state().v[0], 1.4, 1e-9);
}

}  // namespace
}  // namespace linkwork
