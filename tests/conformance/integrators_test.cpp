#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/integrators/tableau.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/stabilizations/catalog.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// A spatial tree with quaternions, moving fast enough for errors to show above rounding.
Model swinging_model() { return test::model_of(test::generic_chain({"spherical", "revolute", "free"})); }

/// The same closed to a loop: its end runs on a plane.
Model closed_model() {
  return test::model_of(test::generic_chain({"spherical", "revolute", "spherical"}) + R"toml(
[[closure]]
name = "end"
type = "point-on-plane"
a = { body = "ground", at = [1, 0.5, 0.2] }
b = { body = "b2", at = [0.5, 0.1, 0.3] }
axis = [0.48, 0.6, 0.64]
)toml");
}

struct ModelCase {
  std::string name;
  Model model;
  State start;
  double duration;
};

/// What every integrator must do with its order: a tree, a planar and a spatial loop.
std::vector<ModelCase> cases() {
  std::mt19937 random(41);
  Model tree = swinging_model(), loop = closed_model(), four_bar = build_model(test::library_spec("four_bar"));
  const State swinging = test::random_state(tree, test::start_state(tree), random);
  const State closed = test::random_consistent_state(loop, random);
  const State turning = test::random_consistent_state(four_bar, random);
  return {{"tree", std::move(tree), swinging, 0.2},
          {"spatial loop", std::move(loop), closed, 0.2},
          {"four-bar", std::move(four_bar), turning, 0.4}};
}

const CatalogEntry<Integrator>& entry_of(const std::string& name) {
  return chosen_entry(integrators(), {name, {}, {}}, "integrator");
}

/// The equations in the first form that the integrator takes, or in the given one.
std::unique_ptr<EquationsOfMotion> equations_for(const Model& model, const CatalogEntry<Integrator>& integrator,
                                                 std::optional<Equations> form = {}) {
  for (const auto& formulation : formulations())
    if (formulation.traits.gives == form.value_or(integrator.traits.takes.front()))
      return std::make_unique<EquationsOfMotion>(model, formulation.make(model, complete_options(formulation.info, {})),
                                                 make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model),
                                                 formulation.traits.gives);
  throw std::logic_error("no formulation gives what " + integrator.info.name + " takes");
}

struct Integrated {
  VecX<double> y;       // q and v
  VecX<double> lambda;  // at the end
};

/// After `steps` steps of size `duration / steps`.
Integrated integrated(const Model& model, Integrator& integrator, EquationsOfMotion& equations, const State& start,
                      double duration, int steps) {
  Moment now, next;
  VecX<double> rates;
  pack(start, now);
  for (int i = 0; i < steps; ++i) {
    EXPECT_TRUE(equations.evaluate(now, rates).ok());
    const Status status = integrator.step(equations, now, rates, duration / steps, next);
    EXPECT_TRUE(status.ok()) << status.trouble;
    std::swap(now, next);
  }
  EXPECT_TRUE(equations.evaluate(now, rates).ok());
  return {now.y.head(model.tree.nq + model.tree.nv), equations.solution().lambda};
}

Integrated integrated(const Model& model, const std::string& name, const State& start, double duration, int steps,
                      std::optional<Equations> form = {}) {
  const CatalogEntry<Integrator>& entry = entry_of(name);
  const auto integrator = entry.make(model, complete_options(entry.info, {}));
  return integrated(model, *integrator, *equations_for(model, entry, form), start, duration, steps);
}

class EveryIntegrator : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Catalog, EveryIntegrator, testing::Range<std::size_t>(0, integrators().size()), [](const auto& p) {
  std::string name = integrators()[p.param].info.name;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST_P(EveryIntegrator, ConvergesWithItsOrder) {
  const CatalogEntry<Integrator>& entry = integrators()[GetParam()];
  for (const ModelCase& c : cases()) {
    const auto integrator = entry.make(c.model, complete_options(entry.info, {}));
    if (integrator->controls_step()) GTEST_SKIP() << "it has no step size of ours; see ErrorFallsWithTheTolerances";
    const VecX<double> exact = integrated(c.model, "ode5", c.start, c.duration, 3200).y;
    for (const Equations form : entry.traits.takes) {
      const auto error = [&](int steps) {
        return (integrated(c.model, entry.info.name, c.start, c.duration, steps, form).y - exact).norm();
      };
      int coarse = integrator->order() >= 8 ? 3 : (integrator->order() >= 4 ? 20 : 40);
      constexpr double kSmall = 1e-6;  // the window between the first regular step and rounding is narrow at order 8
      while (integrator->order() >= 8 && error(coarse) > kSmall) coarse *= 2;
      const double e1 = error(coarse), e2 = error(2 * coarse);
      EXPECT_NEAR(std::log2(e1 / e2), integrator->order(), std::max(0.5, 0.1 * integrator->order()))
          << c.name << ", errors " << e1 << ", " << e2;
    }
  }
}

/// Shorter steps may not help any more, but they do not hurt: what rounding leaves in each of them does not add up to more than
/// the method's own error.
TEST_P(EveryIntegrator, ErrorFallsToItsFloorAndStaysThere) {
  const CatalogEntry<Integrator>& entry = integrators()[GetParam()];
  const ModelCase c = std::move(cases()[2]);
  const auto integrator = entry.make(c.model, complete_options(entry.info, {}));
  if (integrator->controls_step()) GTEST_SKIP() << "it has no step size of ours; see WorkPrecisionFallsToTightTolerances";
  constexpr double kDuration = 0.1;
  const VecX<double> exact = integrated(c.model, "ode8", c.start, kDuration, 400).y;
  for (const Equations form : entry.traits.takes) {
    double least = 1.0;
    for (const int steps : {20, 100, 500, 2500, 12500}) {
      const double error = (integrated(c.model, entry.info.name, c.start, kDuration, steps, form).y - exact).norm();
      // Without numerical damping, rounding grows with the number of steps: the weak instability of Newmark's rule.
      EXPECT_LT(error, std::max(1.5 * least, entry.info.name == "newmark" ? 3e-8 : 3e-9)) << steps << " steps";
      least = std::min(least, error);
    }
    EXPECT_LT(least, integrator->order() == 1 ? 1e-3 : 1e-7);
  }
}

TEST_P(EveryIntegrator, WorkPrecisionFallsToTightTolerances) {
  const CatalogEntry<Integrator>& entry = integrators()[GetParam()];
  Spec spec = test::library_spec("four_bar");
  spec.settings.end = 0.5;
  if (const auto made = entry.make(build_model(spec), complete_options(entry.info, {}));
      !made->controls_step() && !made->estimates_error())
    GTEST_SKIP() << "its steps are given";
  const auto end_state = [&](const std::string& integrator, double rtol) {
    spec.settings.integrator = {integrator, {}, {}};
    spec.settings.rtol = rtol;
    spec.settings.atol = 0.1 * rtol;
    const Model model = build_model(spec);
    Simulation simulation(model);
    const Summary summary = simulation.run();
    EXPECT_TRUE(summary.completed) << integrator << ": " << summary.status;
    VecX<double> y(model.tree.nq + model.tree.nv);
    y << simulation.state().q, simulation.state().v;
    return y;
  };
  const VecX<double> exact = end_state("ode8", 1e-6);
  double least = 1.0;
  for (const double rtol : {1e-4, 1e-6, 1e-8, 1e-10, 1e-12}) {
    if (entry.info.name == "cvode-bdf" && rtol < 1e-11) break;  // rounding fails its error test; the run stops and says so
    const double error = (end_state(entry.info.name, rtol) - exact).norm();
    EXPECT_LT(error, std::max(least, 1e-10)) << "rtol " << rtol;
    EXPECT_LT(error, std::max(1e4 * rtol, 1e-8)) << "rtol " << rtol;
    least = std::min(least, error);
  }
}

/// Differences over too short a first step drown in rounding.
TEST(Ida, BeginsAtTightTolerances) {
  for (const std::string name : {"andrews", "spatial_four_bar"}) {
    Spec spec = test::library_spec(name);
    spec.settings.end = 0.02;
    const auto end_of = [&](const std::string& integrator, const std::string& formulation, double rtol) {
      spec.settings.integrator = {integrator, {}, {}};
      spec.settings.formulation = {formulation, {}, {}};
      spec.settings.rtol = rtol;
      spec.settings.atol = 1e-2 * rtol;
      const Model model = build_model(spec);
      Simulation simulation(model);
      const Summary summary = simulation.run();
      EXPECT_TRUE(summary.completed) << name << ": " << summary.status;
      return VecX<double>(simulation.state().q);
    };
    const VecX<double> exact = end_of("dopri45", "schur", 1e-12), found = end_of("ida", "ggl", 1e-10);
    EXPECT_LT((found - exact).norm(), 1e-7 * exact.norm()) << name;
  }
}

TEST_P(EveryIntegrator, ErrorFallsWithTheTolerances) {
  const CatalogEntry<Integrator>& entry = integrators()[GetParam()];
  for (const std::string name : {"four_bar", "spatial_four_bar", "pendulum"}) {
    Spec spec = test::library_spec(name);
    spec.settings.end = 1.0;
    const auto end_state = [&](const std::string& integrator, const std::string& formulation, double rtol) {
      spec.settings.integrator = {integrator, {}, {}};
      spec.settings.formulation = {formulation, {}, {}};
      spec.settings.rtol = rtol;
      spec.settings.atol = 1e-2 * rtol;
      const Model model = build_model(spec);
      Simulation simulation(model);
      const Summary summary = simulation.run();
      EXPECT_TRUE(summary.completed) << integrator << ": " << summary.status;
      EXPECT_LT(summary.position_error_max, spec.settings.constraint_tolerance) << integrator << " on " << name;
      VecX<double> y(model.tree.nq + model.tree.nv);
      y << simulation.state().q, simulation.state().v;
      return std::pair(y, summary.steps);
    };
    if (const auto made = entry.make(build_model(spec), complete_options(entry.info, {}));
        !made->controls_step() && !made->estimates_error())
      GTEST_SKIP() << "its steps are given";
    const VecX<double> exact = end_state("dopri45", "auto", 1e-12).first;
    for (const auto& formulation : formulations()) {
      if (std::ranges::find(entry.traits.takes, formulation.traits.gives) == entry.traits.takes.end()) continue;
      if (formulation.traits.gives == Equations::kAcceleration && formulation.info.name != "schur") continue;
      const auto [loose, few] = end_state(entry.info.name, formulation.info.name, 1e-4);
      const auto [tight, many] = end_state(entry.info.name, formulation.info.name, 1e-8);
      const double scale = 1.0 + exact.cwiseAbs().maxCoeff();
      EXPECT_LT((loose - exact).norm(), 2e-2 * scale) << name << ", " << formulation.info.name;
      EXPECT_LT((tight - exact).norm(), 1e-5 * scale) << name << ", " << formulation.info.name;
      EXPECT_LT((tight - exact).norm(), 5e-2 * (loose - exact).norm()) << name << ", " << formulation.info.name;
      EXPECT_GT(many, few) << name << ", " << formulation.info.name;
    }
  }
}

TEST(GeneralizedAlpha, IsOfSecondOrderInTheMultipliersToo) {
  const ModelCase c = std::move(cases()[2]);
  const VecX<double> exact = integrated(c.model, "ode5", c.start, c.duration, 3200).lambda;
  for (const Equations form : {Equations::kIndex3, Equations::kIndex2}) {
    const auto error = [&](int steps) {
      return (integrated(c.model, "generalized-alpha", c.start, c.duration, steps, form).lambda - exact).norm();
    };
    EXPECT_NEAR(std::log2(error(40) / error(80)), 2.0, 0.3);
  }
}

TEST(GeneralizedAlpha, DissipatesHighFrequenciesAsRhoSays) {
  // A mass on a spring so stiff that h omega = 1000: after a step, rho of the motion is left.
  const Model model = test::model_of(R"toml(
[settings]
gravity = [0, 0, 0]
[[body]]
name = "mass"
mass = 1
[[joint]]
name = "x"
type = "prismatic"
parent = { body = "ground" }
child = { body = "mass" }
position = 1e-3
stiffness = 1e10
)toml");
  for (const auto& [name, rho] : {std::pair{"generalized-alpha", 0.5}, std::pair{"generalized-alpha", 0.8}, std::pair{"hht", 0.7},
                                  std::pair{"newmark", 0.6}}) {
    const CatalogEntry<Integrator>& entry = entry_of(name);
    const auto integrator = entry.make(model, {{"rho", rho}});
    const auto equations = equations_for(model, entry, Equations::kIndex3);
    Moment now, next;
    VecX<double> rates;
    pack(test::start_state(model), now);
    std::vector<double> size;
    for (int i = 0; i < 60; ++i) {
      ASSERT_TRUE(equations->evaluate(now, rates).ok());
      ASSERT_TRUE(integrator->step(*equations, now, rates, 1e-2, next).ok());
      std::swap(now, next);
      size.push_back(std::hypot(now.y[0], 1e-5 * now.y[1]));
    }
    EXPECT_NEAR(std::pow(size[59] / size[39], 1.0 / 20.0), rho, 0.06) << name;
  }
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
  const auto equations = equations_for(model, entry_of("dopri45"));
  integrated(model, *integrator, *equations, start, 0.04, 1);
  const double e1 = integrator->error().norm();
  integrated(model, *integrator, *equations, start, 0.02, 1);
  const double e2 = integrator->error().norm();
  EXPECT_NEAR(std::log2(e1 / e2), 5.0, 0.5);
}

TEST(Capabilities, MismatchesAreRefusedWithTheValidChoicesNamed) {
  const auto refusal = [](const std::string& formulation, const std::string& integrator) -> std::string {
    Spec spec = test::library_spec("four_bar");
    spec.settings.formulation = {formulation, {}, {}};
    spec.settings.integrator = {integrator, {}, {}};
    const Model model = build_model(spec);
    try {
      Simulation simulation(model);
    } catch (const InputError& error) {
      return error.message();
    }
    return "accepted";
  };
  using testing::HasSubstr;
  EXPECT_THAT(refusal("index3", "rk4"),
              HasSubstr("formulation 'index3' gives the residual of a differential-algebraic equation, "
                        "which integrator 'rk4' does not take; expected one of the integrators newmark, "
                        "hht, generalized-alpha"));
  EXPECT_THAT(refusal("schur", "hht"),
              HasSubstr("formulation 'schur' gives accelerations, which integrator 'hht' does not take"));
  EXPECT_THAT(refusal("schur", "hht"), HasSubstr("index3, ggl"));
  for (const auto& entry : integrators()) EXPECT_EQ(refusal("auto", entry.info.name), "accepted") << entry.info.name;
}

TEST(Capabilities, AutoPicksTheFormThatTheIntegratorTakesAndSaysWhy) {
  Spec spec = test::library_spec("four_bar");
  spec.settings.integrator = {"generalized-alpha", {}, {}};
  spec.settings.end = 0.01;
  const Model model = build_model(spec);
  const Summary summary = Simulation(model).run();
  EXPECT_EQ(summary.formulation, "index3");
  EXPECT_THAT(summary.notes, testing::Contains(testing::HasSubstr("formulation 'index3' was chosen: the integrator")));
}

}  // namespace
}  // namespace linkwork
