#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "linkwork/formulations/catalog.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/stabilizations/catalog.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

struct Method {
  std::string formulation;
  std::string stabilization = "none";
  std::string integrator = "ode5";
  double step = 1e-3;
  double end = 1.0;
};

Summary run(Spec spec, const Method& c, State* end = nullptr) {
  spec.settings.formulation = parse_choice(c.formulation, {});
  spec.settings.stabilization = parse_choice(c.stabilization, {});
  spec.settings.integrator = parse_choice(c.integrator, {});
  spec.settings.step = c.step;
  spec.settings.end = c.end;
  const Model model = build_model(spec);
  Simulation simulation(model);
  const Summary summary = simulation.run();
  EXPECT_TRUE(summary.completed) << c.formulation << ": " << summary.status;
  if (end) *end = simulation.state();
  return summary;
}

Summary run(const std::string& model, const Method& c, State* end = nullptr) { return run(test::library_spec(model), c, end); }

/// [Khan2006] fig. 10 b: about 1e-12 m at a fixed step of 1 ms, whatever sigma. The torque drives the crank to 41 rad/s in 10 s,
/// where methods of order five do not get there.
TEST(ProjectionFormulation, KeepsTheFourBarTogetherWithoutDriftControlWhateverSigma) {
  for (int sigma = 10; sigma <= 60; sigma += 10) {
    const std::string formulation = "projection:sigma=" + std::to_string(sigma);
    EXPECT_LT(run("four_bar", {.formulation = formulation, .integrator = "ode8", .end = 10.0}).position_error_max, 1e-11)
        << sigma;
    const Summary fifth_order = run("four_bar", {.formulation = formulation, .end = 1.5});
    EXPECT_LT(fifth_order.position_error_max, 1e-11) << sigma;
    const Spec coasting = test::library_spec("four_bar", {{"torque", "0"}});
    EXPECT_LT(run(coasting, {.formulation = formulation, .end = 10.0}).position_error_max, 1e-11) << sigma;
  }
}

TEST(ProjectionFormulation, ForgetsAnErrorOfThePositions) {
  const Model model = build_model(test::library_spec("four_bar"));
  const auto equations = std::make_unique<EquationsOfMotion>(
      model, make_chosen(formulations(), parse_choice("projection:sigma=20", {}), "formulation", model),
      make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
  State state = test::start_state(model);
  state.q[1] += 1e-3;
  Derivative rates;
  ASSERT_TRUE(equations->evaluate(state, rates).ok());
  const ConstraintTerms& terms = equations->system().terms();
  EXPECT_GT(terms.phi.cwiseAbs().maxCoeff(), 1e-4);
  EXPECT_LT((terms.rate + 20.0 * terms.phi).cwiseAbs().maxCoeff(), 1e-11);  // d phi/dt = -sigma phi, but for rounding of phi
}

TEST(ProjectionFormulation, HasTheOrderOfTheIntegratorAcrossChangesOfItsCoordinates) {
  State fine, coarse, medium;
  run("slider_crank", {"projection", "none", "rk4", 1e-4, 2.0}, &fine);
  run("slider_crank", {"projection", "none", "rk4", 4e-3, 2.0}, &coarse);
  run("slider_crank", {"projection", "none", "rk4", 2e-3, 2.0}, &medium);
  const double e1 = (coarse.q - fine.q).norm(), e2 = (medium.q - fine.q).norm();
  EXPECT_GT(std::log2(e1 / e2), 3.5) << e1 << ", " << e2;
}

/// Root mean square and largest value of a column over the output rows.
std::pair<double, double> sizes_of_column(const Spec& spec, const std::string& column) {
  const Model model = build_model(spec);
  Simulation simulation(model);
  const auto at = static_cast<std::size_t>(std::ranges::find(simulation.columns(), column) - simulation.columns().begin());
  double squares = 0.0, largest = 0.0;
  int rows = 0;
  Observer observer;
  observer.row = [&](std::span<const double> row) {
    squares += row[at] * row[at];
    largest = std::max(largest, std::abs(row[at]));
    ++rows;
  };
  EXPECT_TRUE(simulation.run(observer).completed);
  return {std::sqrt(squares / rows), largest};
}

/// [Khan2006] fig. 10 a: over 10 s the error falls with the stiffness, to the order of 1e-3 m at 1e6 N/m. It is the force in the
/// pin divided by the stiffness. The paper needs steps of 0.1 ms for the stiffest springs.
TEST(Compliance, ErrorOfTheFourBarFallsWithTheStiffness) {
  double typical_before = 10.0, largest_before = 10.0;
  for (const std::string stiffness : {"1e2", "1e3", "1e4", "1e5", "1e6"}) {
    Spec spec = test::library_spec("four_bar");
    spec.settings.formulation = parse_choice("compliance:stiffness=" + stiffness, {});
    spec.settings.integrator = {"ode5", {}, {}};
    spec.settings.step = 1e-4;
    spec.settings.end = 10.0;
    const auto [typical, largest] = sizes_of_column(spec, "error.position");
    EXPECT_LT(typical, 0.6 * typical_before) << stiffness;
    EXPECT_LT(largest, 0.6 * largest_before) << stiffness;
    typical_before = typical, largest_before = largest;
    if (stiffness != "1e6") continue;
    EXPECT_LT(typical, 1.2e-3);
    const double force = std::hypot(sizes_of_column(spec, "force.cut.x").second, sizes_of_column(spec, "force.cut.y").second);
    EXPECT_LT(largest, force / 1e6);
  }
}

TEST(Compliance, GainsOfAClosureReplaceTheOptions) {
  Spec spec = test::spec_of(R"toml(
[[body]]
name = "a"
solid = { shape = "point", mass = 1 }
[[body]]
name = "b"
solid = { shape = "point", mass = 1 }
[[joint]]
name = "a"
type = "prismatic"
axis = [0, 1, 0]
parent = { body = "ground" }
child = { body = "a" }
[[joint]]
name = "b"
type = "prismatic"
axis = [0, 1, 0]
parent = { body = "ground" }
child = { body = "b" }
[[closure]]
name = "soft"
type = "drive"
joint = "a"
value = 0
compliance = { stiffness = 100, damping = 20 }
[[closure]]
name = "usual"
type = "drive"
joint = "b"
value = 0
)toml");
  State end;
  run(spec, {.formulation = "compliance:stiffness=400", .end = 20.0}, &end);
  EXPECT_NEAR(end.q[0], -9.81 / 100, 1e-9);  // where the spring carries the weight
  EXPECT_NEAR(end.q[1], -9.81 / 400, 1e-9);
}

TEST(Compliance, EnergyBalanceIncludesTheVirtualSpringsAndDampers) {
  EXPECT_LT(run("four_bar", {.formulation = "compliance:stiffness=1e3", .step = 5e-4, .end = 2.0}).energy_drift, 1e-10);
  EXPECT_LT(run("four_bar", {.formulation = "park:epsilon=1e-3", .step = 5e-4, .end = 2.0}).energy_drift, 1e-10);
}

TEST(Compliance, IsNotRunWithADriftControlThatTakesItsErrorsAway) {
  EXPECT_EQ(run("four_bar", {.formulation = "compliance", .stabilization = "projection", .end = 0.01}).stabilization, "none");
  Spec spec = test::library_spec("four_bar");
  spec.settings.formulation = {"compliance", {}, {}};
  spec.settings.stabilization = {"post", {}, {"four_bar.toml", 3, 1}};
  const Model model = build_model(spec);
  EXPECT_THROW(Simulation{model}, InputError);
}

TEST(Park, StartsExactAndStaysNear) {
  State exact;
  run("four_bar", {"schur", "projection", "ode5", 1e-3, 1.0}, &exact);
  for (const Method& c : {Method{"park:epsilon=1e-5", "none"}, Method{"park:epsilon=1e-5", "projection"},
                        Method{"park:damped=1", "baumgarte"}, Method{"park:damped=1", "projection"}}) {
    State end;
    run("four_bar", c, &end);
    EXPECT_LT((end.q - exact.q).cwiseAbs().maxCoeff(), 0.02) << c.formulation << " with " << c.stabilization;
  }
  const Model model = build_model(test::library_spec("bricard"));
  State state = test::start_state(model);
  EquationsOfMotion park(model, make_chosen(formulations(), {"park", {}, {}}, "formulation", model),
                         make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
  EquationsOfMotion schur(model, make_chosen(formulations(), {"schur", {}, {}}, "formulation", model),
                          make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
  Derivative rates, expected;
  park.start(state);
  ASSERT_TRUE(park.evaluate(state, rates).ok());
  ASSERT_TRUE(schur.evaluate(state, expected).ok());
  EXPECT_LT(test::relative_difference(rates.vdot, expected.vdot), 1e-12);
}

TEST(Park, ErrorFallsWithThePenalty) {
  const double loose = run("four_bar", {.formulation = "park:epsilon=1e-3", .step = 5e-4}).position_error_max;
  const double tight = run("four_bar", {.formulation = "park:epsilon=1e-5", .step = 5e-4}).position_error_max;
  EXPECT_LT(tight, 0.1 * loose);
}

/// Also where rows are redundant: the algorithm finds the accelerations to six digits, and the multipliers belong to them.
TEST(GaussGa, FindsTheAccelerationsOfConstrainedSystems) {
  for (const std::string name : {"four_bar", "five_bar_redundant", "double_pendulum"}) {
    const Model model = build_model(test::library_spec(name));
    std::mt19937 random(81);
    State state = test::random_consistent_state(model, random);
    EquationsOfMotion gauss(model, make_chosen(formulations(), {"gauss-ga", {}, {}}, "formulation", model),
                            make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
    EquationsOfMotion schur(model, make_chosen(formulations(), {"schur", {}, {}}, "formulation", model),
                            make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
    Derivative rates, expected;
    ASSERT_TRUE(schur.evaluate(state, expected).ok());
    ASSERT_TRUE(gauss.evaluate(state, rates).ok());
    EXPECT_LT(test::relative_difference(rates.vdot, expected.vdot), 1e-3) << name;
    ASSERT_TRUE(gauss.evaluate(state, rates).ok());  // from the result before
    EXPECT_LT(test::relative_difference(rates.vdot, expected.vdot), 1e-4) << name;
    const MatX<double> A = schur.system().jacobian();
    if (A.rows() > 0) {
      EXPECT_LT(test::relative_difference(A.transpose() * gauss.solution().lambda, A.transpose() * schur.solution().lambda), 1e-3)
          << name;
    }
  }
}

TEST(GaussGa, IsTheSameOnAnyNumberOfThreads) {
  State one, two;
  run("four_bar", {"gauss-ga:trials=800", "projection", "rk2", 1e-2, 0.03}, &one);
  run("four_bar", {"gauss-ga:trials=800,threads=2", "projection", "rk2", 1e-2, 0.03}, &two);
  EXPECT_EQ(one.q, two.q);
  EXPECT_EQ(one.v, two.v);
}

}  // namespace
}  // namespace linkwork
