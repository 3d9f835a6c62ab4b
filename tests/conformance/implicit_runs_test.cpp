#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "linkwork/model/input_error.h"
#include "linkwork/simulation/simulation.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

struct Methods {
  std::string integrator;
  std::string formulation;
};

struct Ended {
  Summary summary;
  State state;
};

Ended run_with(Spec spec, const Methods& methods) {
  spec.settings.integrator = parse_choice(methods.integrator, {});
  spec.settings.formulation = parse_choice(methods.formulation, {});
  spec.settings.output_every = spec.settings.end;
  const Model model = build_model(spec);
  Simulation simulation(model);
  Ended ended{simulation.run(), {}};
  ended.state = simulation.state();
  EXPECT_TRUE(ended.summary.completed) << methods.integrator << ", " << methods.formulation << ": " << ended.summary.status;
  return ended;
}

double distance(const Ended& a, const Ended& b) {
  return std::hypot((a.state.q - b.state.q).norm(), (a.state.v - b.state.v).norm());
}

TEST(Stiff, ImplicitIntegratorsNeedTwentyTimesFewerStepsThanDopri45AtEqualError) {
  // Links a hundred times as stiff and as damped as the benchmark's.
  Spec spec = test::library_spec("flyball_stiff", {{"stiffness", "8e7"}, {"damping", "4e6"}});
  spec.settings.end = 0.5;
  spec.settings.step = 1e-4;
  spec.settings.rtol = 1e-9;
  spec.settings.atol = 1e-11;
  const Ended exact = run_with(spec, {"dopri45", "schur"});
  spec.settings.rtol = 1e-3;
  spec.settings.atol = 1e-5;
  const Ended explicit_run = run_with(spec, {"dopri45", "schur"});
  const double error = distance(explicit_run, exact);
  struct Case {
    Methods methods;
    double step, rtol;
  };
  for (const Case& c :
       {Case{{"generalized-alpha", "auto"}, 2.5e-4, 1.0}, Case{{"hht", "auto"}, 2.5e-4, 1.0},
        Case{{"newmark", "auto"}, 2.5e-4, 1.0}, Case{{"cvode-bdf", "auto"}, 1e-4, 1e-7}, Case{{"arkode", "auto"}, 1e-4, 1e-7},
        Case{{"ida", "index1"}, 1e-4, 1e-7}, Case{{"ida", "ggl"}, 1e-4, 1e-7}}) {
    Spec chosen = spec;
    chosen.settings.step = c.step;
    chosen.settings.rtol = c.rtol;
    chosen.settings.atol = 1e-2 * c.rtol;
    const Ended ended = run_with(chosen, c.methods);
    const double measured = distance(ended, exact);
    std::printf("%-20s %6ld steps, error %.1e; dopri45 %6ld steps, error %.1e\n", c.methods.integrator.c_str(),
                ended.summary.steps, measured, explicit_run.summary.steps, error);
    EXPECT_LE(measured, error) << c.methods.integrator;
    EXPECT_LE(20 * ended.summary.steps, explicit_run.summary.steps) << c.methods.integrator;
  }
}

TEST(Ida, ReachesThePublishedAnglesOfAndrewsInBothForms) {
  const std::vector<double> published{15.81077119629904,  -15.75637105984298, 0.04082224013073101, -0.5347301163226948,
                                      0.5244099658805304, 0.5347301163226948, 1.048080741042263};
  const std::vector<std::string> names{"beta", "Theta", "gamma", "Phi", "delta", "Omega", "epsilon"};
  for (const std::string form : {"index1", "ggl"}) {
    Spec spec = test::library_spec("andrews");
    spec.settings.rtol = form == "ggl" ? 1e-8 : 1e-10;
    spec.settings.atol = 0.1 * spec.settings.rtol;
    const Ended ended = run_with(spec, {"ida", form});
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto value = std::ranges::find(ended.summary.final_state, "q." + names[i], &std::pair<std::string, double>::first);
      ASSERT_NE(value, ended.summary.final_state.end());
      EXPECT_NEAR(value->second, published[i], 1e-5) << form << " " << names[i];
    }
  }
}

TEST(ImplicitRuns, TakeRedundantRowsAndPassSingularPositions) {
  for (const std::string model : {"bricard", "five_bar_redundant", "ring"})
    for (const Methods& methods : {Methods{"generalized-alpha", "index3"}, Methods{"generalized-alpha", "ggl"},
                                   Methods{"cvode-bdf", "schur"}, Methods{"ida", "ggl"}, Methods{"ida", "index1"}}) {
      Spec spec = test::library_spec(model);
      spec.settings.end = 1.0;
      spec.settings.step = 2e-3;
      const Ended ended = run_with(spec, methods);
      spec.settings.rtol = 1e-11;
      spec.settings.atol = 1e-12;
      EXPECT_LT(distance(ended, run_with(spec, {"dopri45", "schur"})), 1e-3) << model << " with " << methods.integrator;
      EXPECT_LT(ended.summary.position_error_max, spec.settings.constraint_tolerance) << model << " with " << methods.integrator;
    }
}

TEST(ImplicitRuns, OfManyCoordinatesGiveTheSameByWayOfSparseMatrices) {
  Spec spec = test::library_spec("n_four_bar", {{"n", "60"}});
  spec.settings.end = 0.5;
  spec.settings.step = 1e-3;
  spec.settings.rtol = 1e-8;
  spec.settings.atol = 1e-10;
  const Ended reference = run_with(spec, {"dopri45", "schur"});
  for (const Methods& methods : {Methods{"generalized-alpha", "index3"}, Methods{"newmark", "ggl"}, Methods{"ida", "ggl"}})
    EXPECT_LT(distance(run_with(spec, methods), reference), 1e-3) << methods.integrator;
}

TEST(ImplicitRuns, KeepEnergyWithinTheirError) {
  for (const auto& [integrator, drift] :
       {std::pair{"newmark", 2e-4}, std::pair{"generalized-alpha", 3e-3}, std::pair{"hht", 3e-3}, std::pair{"cvode-bdf", 1e-3},
        std::pair{"cvode-adams", 1e-3}, std::pair{"ida", 1e-3}}) {
    Spec spec = test::library_spec("four_bar", {{"torque", "0"}});
    spec.settings.end = 10.0;
    spec.settings.step = 1e-3;
    EXPECT_LT(run_with(spec, {integrator, "auto"}).summary.energy_drift, drift) << integrator;
  }
}

TEST(Index3, HoldsPositionsByItselfAndGglVelocitiesToo) {
  for (const std::string form : {"index3", "ggl"}) {
    Spec spec = test::library_spec("four_bar");
    spec.settings.stabilization = {"none", {}, {}};
    spec.settings.end = 10.0;
    spec.settings.step = 2e-3;
    const Summary summary = run_with(spec, {"generalized-alpha", form}).summary;
    EXPECT_LT(summary.position_error_max, 1e-10) << form;
    if (form == "ggl") {
      EXPECT_LT(summary.velocity_error_max, 1e-7);
    }
  }
}

TEST(StepControl, OfTheIntegratorIsCountedAndItsOutputInterpolated) {
  for (const std::string integrator : {"cvode-adams", "cvode-bdf", "arkode", "ida"}) {
    Spec spec = test::library_spec("four_bar");
    spec.settings.integrator = {integrator, {}, {}};
    spec.settings.end = 1.0;
    spec.settings.output_every = 0.01;
    spec.settings.rtol = 1e-8;
    spec.settings.atol = 1e-10;
    const Model model = build_model(spec);
    std::vector<std::vector<double>> rows, fine;
    Observer observer;
    observer.row = [&](std::span<const double> row) { rows.emplace_back(row.begin(), row.end()); };
    const Summary summary = Simulation(model).run(observer);
    ASSERT_TRUE(summary.completed) << summary.status;
    EXPECT_GT(summary.steps, 20) << integrator;
    EXPECT_GT(summary.evaluations, summary.steps) << integrator;
    Model exact = model;
    exact.settings.integrator = {"ode5", {}, {}};
    exact.settings.formulation = {"auto", {}, {}};
    observer.row = [&](std::span<const double> row) { fine.emplace_back(row.begin(), row.end()); };
    Simulation(exact).run(observer);
    ASSERT_EQ(rows.size(), fine.size()) << integrator;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i][0], fine[i][0]);
      for (std::size_t c = 1; c <= 3; ++c) EXPECT_NEAR(rows[i][c], fine[i][c], 2e-5) << integrator << " at " << rows[i][0];
    }
  }
}

TEST(ImplicitRuns, StopInWordsWhereTheIterationCannotConverge) {
  Spec spec = test::library_spec("andrews");
  spec.settings.integrator = {"generalized-alpha", {}, {}};
  spec.settings.step = 1e-2;
  const Model model = build_model(spec);
  const Summary summary = Simulation(model).run();
  EXPECT_FALSE(summary.completed);
  EXPECT_THAT(summary.status, testing::HasSubstr("integrator 'generalized-alpha'"));
}

TEST(Options, OutsideTheirRangeAreRefused) {
  for (const std::string choice : {"generalized-alpha:rho=1.5", "hht:rho=0.2", "cvode-bdf:order=7", "arkode:order=1"}) {
    Spec spec = test::library_spec("four_bar");
    spec.settings.integrator = parse_choice(choice, {});
    const Model model = build_model(spec);
    EXPECT_THROW(Simulation{model}, InputError) << choice;
  }
}

}  // namespace
}  // namespace linkwork
