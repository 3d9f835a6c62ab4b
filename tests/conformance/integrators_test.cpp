#include <gtest/gtest.h>

#include <cmath>

#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/integrators/tableau.h"
#include "linkwork/stabilizations/catalog.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// A spatial tree with quaternions, moving fast enough for errors to show above rounding.
Model swinging_model() { return test::model_of(test::generic_chain({"spherical", "revolute", "free"})); }

/// q and v after `steps` steps of size `duration / steps`.
VecX<double> integrated(const Model& model, Integrator& integrator, const State& start, double duration, int steps) {
  EquationsOfMotion equations(model, make_chosen(formulations(), {"schur", {}, {}}, "formulation", model),
                              make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
  State state = start, next = start;
  Derivative rates;
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(equations.evaluate(state, rates).ok());
    EXPECT_TRUE(integrator.step(equations, state, rates, duration / steps, next).ok());
    std::swap(state, next);
  }
  VecX<double> y(model.tree.nq + model.tree.nv);
  y << state.q, state.v;
  return y;
}

class EveryIntegrator : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Catalog, EveryIntegrator, testing::Range<std::size_t>(0, integrators().size()), [](const auto& p) {
  std::string name = integrators()[p.param].info.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(EveryIntegrator, ConvergesWithItsOrder) {
  const Model model = swinging_model();
  std::mt19937 random(41);
  const State start = test::random_state(model, test::start_state(model), random);
  const auto entry = integrators()[GetParam()];
  const auto integrator = entry.make(model, {});
  const auto fine = make_chosen(integrators(), {"ode5", {}, {}}, "integrator", model);
  const double duration = 0.2;
  const VecX<double> exact = integrated(model, *fine, start, duration, 3200);
  const int coarse = integrator->order() >= 4 ? 20 : 40;
  const double e1 = (integrated(model, *integrator, start, duration, coarse) - exact).norm();
  const double e2 = (integrated(model, *integrator, start, duration, 2 * coarse) - exact).norm();
  const double measured = std::log2(e1 / e2);
  RecordProperty("order", std::to_string(measured));
  EXPECT_NEAR(measured, integrator->order(), 0.35) << "errors " << e1 << ", " << e2;
}

TEST(Tableaus, SatisfyTheOrderConditionsUpToThree) {
  for (const Tableau& t : tableaus()) {
    double one = 0, half = 0, third = 0, sixth = 0;
    for (std::size_t i = 0; i < t.b.size(); ++i) {
      double row = 0, nested = 0;
      for (std::size_t j = 0; j < t.a[i].size(); ++j) row += t.a[i][j], nested += t.a[i][j] * t.c[j];
      EXPECT_NEAR(row, t.c[i], 1e-14) << t.name;
      one += t.b[i], half += t.b[i] * t.c[i], third += t.b[i] * t.c[i] * t.c[i], sixth += t.b[i] * nested;
    }
    EXPECT_NEAR(one, 1.0, 1e-14) << t.name;
    if (t.order < 2) continue;
    EXPECT_NEAR(half, 1.0 / 2, 1e-14) << t.name;
    if (t.order < 3) continue;
    EXPECT_NEAR(third, 1.0 / 3, 1e-14) << t.name;
    EXPECT_NEAR(sixth, 1.0 / 6, 1e-14) << t.name;
  }
}

TEST(Tableaus, DenseOutputEndsAtTheStepAndHasOrderFourInside) {
  for (const Tableau& t : tableaus()) {
    if (t.dense.empty()) continue;
    std::vector<double> c = t.c, b = t.b;
    c.push_back(1.0);
    b.push_back(0.0);
    for (double theta : {0.25, 0.6, 1.0}) {
      std::array<double, 4> moments{};
      for (std::size_t i = 0; i < t.dense.size(); ++i) {
        double weight = 0.0;
        for (std::size_t k = 0; k < t.dense[i].size(); ++k)
          weight += t.dense[i][k] * std::pow(theta, static_cast<double>(k) + 1.0);
        if (theta == 1.0) {
          EXPECT_NEAR(weight, b[i], 1e-12) << t.name;
        }
        for (std::size_t p = 0; p < 4; ++p) moments[p] += weight * std::pow(c[i], static_cast<double>(p));
      }
      for (std::size_t p = 0; p < 4; ++p) {
        const double power = static_cast<double>(p) + 1.0;
        EXPECT_NEAR(moments[p], std::pow(theta, power) / power, 1e-12) << t.name << " theta " << theta;
      }
    }
  }
}

TEST(ErrorEstimate, ShrinksWithTheFifthPowerOfTheStep) {
  const Model model = swinging_model();
  std::mt19937 random(42);
  const State start = test::random_state(model, test::start_state(model), random);
  const auto integrator = make_chosen(integrators(), {"dopri45", {}, {}}, "integrator", model);
  integrated(model, *integrator, start, 0.04, 1);
  const double e1 = integrator->error().norm();
  integrated(model, *integrator, start, 0.02, 1);
  const double e2 = integrator->error().norm();
  EXPECT_NEAR(std::log2(e1 / e2), 5.0, 0.5);
}

}  // namespace
}  // namespace linkwork
