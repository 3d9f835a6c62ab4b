#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;

/// A mass that slides along x without gravity.
Spec law_slider(const std::string& force, const std::string& more = "") {
  return test::spec_of(fmt::format(R"toml(
[settings]
gravity = [0, 0, 0]
end = 3.0
[[body]]
name = "mass"
mass = 1
[[joint]]
name = "x"
type = "prismatic"
parent = {{ body = "ground" }}
child = {{ body = "mass" }}
axis = [1, 0, 0]
[[force]]
type = "force"
joint = "x"
value = "{}"
{})toml",
                                   force, more));
}

RecordedRun run_smooth(Spec spec, const std::string& integrator, double rtol = 1e-8) {
  spec.settings.integrator = {integrator, {}, {}};
  spec.settings.rtol = rtol;
  spec.settings.atol = 1e-2 * rtol;
  return RecordedRun(spec);
}

const std::vector<std::string> kChooseTheirSteps{"dopri45", "cvode-adams", "cvode-bdf", "arkode", "ida"};

/// size exp(-((t - at)/width)^2) has the impulse size width sqrt(pi).
TEST(TimeLaws, SmoothPulsesOfRandomWidthsAreSeenByIntegratorsThatChooseTheirSteps) {
  std::mt19937 random(11);
  for (int variant = 0; variant < 6; ++variant) {
    std::string force;
    double impulse = 0.0;
    for (int pulse = 0; pulse < 3; ++pulse) {
      const double at = 0.5 + pulse + 0.2 * test::uniform(random),
                   width = 0.001 * std::pow(30.0, 0.5 + 0.5 * test::uniform(random));
      const double size = 10.0 / width * test::uniform(random);
      force += fmt::format("{}{}*exp(-((t - {})/{})^2)", pulse == 0 ? "" : " + ", size, at, width);
      impulse += size * width * std::sqrt(std::numbers::pi);
    }
    for (const std::string& integrator : kChooseTheirSteps) {
      const RecordedRun run = run_smooth(law_slider(force), integrator);
      EXPECT_TRUE(run.summary.completed) << integrator << ": " << run.summary.status;
      EXPECT_NEAR(run.last("v.x"), impulse, 1e-4) << integrator << ": " << force;
    }
  }
}

TEST(TimeLaws, PulsesThatDependOnTheMotionTooOrComeByInputsAreSeen) {
  const double impulse = 20.0 * 0.002 * std::sqrt(std::numbers::pi);
  for (const std::string integrator : {"dopri45", "cvode-adams"}) {
    const RecordedRun mixed = run_smooth(law_slider("(20 + 0*q.x)*cos(0*v.x)*exp(-((t - 2.2)/0.002)^2)"), integrator);
    EXPECT_NEAR(mixed.last("v.x"), impulse, 1e-6) << integrator;
    const RecordedRun input =
        run_smooth(law_slider("u.push", "[[input]]\nname = \"push\"\nvalue = \"20*exp(-((t - 2.2)/0.002)^2)\"\n"), integrator);
    EXPECT_NEAR(input.last("v.x"), impulse, 1e-6) << integrator;
  }
}

/// A drive that jerks for a moment takes its mass along, and its work is the kinetic energy it gives and takes.
TEST(TimeLaws, JerksOfDrivesAreSeen) {
  const Spec spec = law_slider("0", R"toml(
[[closure]]
name = "lead"
type = "drive"
joint = "x"
value = "0.01*tanh((t - 1.7)/0.003)"
)toml");
  for (const std::string integrator : {"dopri45", "cvode-bdf"}) {
    const RecordedRun run = run_smooth(spec, integrator);
    EXPECT_NEAR(run.last("q.x"), 0.01, 1e-8) << integrator;
    EXPECT_NEAR(run.last("energy.kinetic"), 0.0, 1e-8) << integrator;
    EXPECT_LT(run.summary.energy_drift, 1e-4) << integrator;
  }
}

/// What steps resolve anyhow costs no more of them. They are looked into at intervals of `step`: one as long as the run looks at
/// nothing, and the first step of that size is only tried.
TEST(TimeLaws, SlowForcesCostNothing) {
  const auto evaluations = [](const std::string& force, double step) {
    Spec spec = law_slider(force);
    spec.settings.step = step;
    spec.settings.output_every = spec.settings.end;
    return run_smooth(spec, "dopri45", 1e-6).summary.evaluations;
  };
  for (const std::string force : {"3 + 2*t", "sin(2*t)", "5*cos(7*t)*exp(-t)"})
    EXPECT_LE(evaluations(force, 1e-3), evaluations(force, 3.0) + 60) << force;
}

}  // namespace
}  // namespace linkwork
