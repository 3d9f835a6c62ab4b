#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/modules/settings_check.h"
#include "linkwork/simulation/coordinate_choice.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/tree/kinematics.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

VecX<double> accelerations(const Model& model, const State& at, const Choice& formulation,
                           const Choice& stabilization = {"none", {}, {}}) {
  EquationsOfMotion equations(model, make_chosen(formulations(), formulation, "formulation", model),
                              make_chosen(stabilizations(), stabilization, "stabilization", model));
  State state = at;
  equations.start(state);
  Derivative rates;
  const Status status = equations.evaluate(state, rates);
  EXPECT_TRUE(status.ok()) << formulation.name << ": " << status.trouble;
  return rates.vdot;
}

TEST(AugmentedLagrangian, EachIterationGainsAboutTheFactorAlpha) {
  const Model model = build_model(test::library_spec("four_bar"));
  const State state = test::start_state(model);
  const VecX<double> exact = accelerations(model, state, {"lagrange", {}, {}});
  std::vector<double> errors;
  for (const double iterations : {1.0, 2.0, 3.0})
    errors.push_back(test::relative_difference(
        accelerations(model, state, {"augmented-lagrangian", {{"alpha", 1e3}, {"iterations", iterations}}, {}}), exact));
  EXPECT_GT(errors[0], 1e-5);
  for (std::size_t i = 1; i < errors.size(); ++i) EXPECT_LT(errors[i], errors[i - 1] / 50.0);
}

TEST(AugmentedLagrangian, OmegaAndXiFeedErrorsBackLikeBaumgarte) {
  const Model model = build_model(test::library_spec("four_bar"));
  std::mt19937 random(71);
  const State state = test::random_state(model, test::start_state(model), random, 0.01);
  const VecX<double> fed_back = accelerations(model, state, {"augmented-lagrangian", {{"omega", 12.0}, {"xi", 0.7}}, {}});
  const VecX<double> expected =
      accelerations(model, state, {"lagrange", {}, {}}, {"baumgarte", {{"alpha", 0.7 * 12.0}, {"beta", 12.0}}, {}});
  EXPECT_LT(test::relative_difference(fed_back, expected), 1e-9);
}

TEST(GigspFormulation, IsRightInBlocksAndTheSameToTheLastBitOnAnyNumberOfThreads) {
  const Model model = build_model(test::library_spec("n_four_bar", {{"n", "80"}}));
  ASSERT_GE(model.row_count(), 150);
  const State state = test::start_state(model);
  const VecX<double> one = accelerations(model, state, {"gigsp", {}, {}});
  EXPECT_LT(test::relative_difference(one, accelerations(model, state, {"schur", {}, {}})), 1e-9);
  for (const double threads : {2.0, 3.0})
    EXPECT_EQ(accelerations(model, state, {"gigsp", {{"threads", threads}}, {}}), one) << threads;
}

class OneSchurComplement : public testing::TestWithParam<const char*> {};

TEST_P(OneSchurComplement, GivesTheAccelerationsOfEarlyEliminationInTreeAndInFreeCoordinates) {
  std::mt19937 random(73);
  const Model tree = build_model(test::library_spec(GetParam())), free = fully_augmented(tree);
  const State state = test::random_consistent_state(tree, random);
  System system(tree);
  system.update(state);
  State of_free = state;
  of_free.q.resize(free.tree.nq);
  of_free.v.resize(free.tree.nv);
  free_body_state(tree, system.work(), of_free.q.data(), of_free.v.data());
  const auto compare = [](const Model& model, const State& at) {
    EXPECT_LT(test::relative_difference(accelerations(model, at, {"schur", {{"early", 0.0}}, {}}),
                                        accelerations(model, at, {"schur", {}, {}})),
              1e-9);
  };
  compare(tree, state);
  compare(free, of_free);
}

INSTANTIATE_TEST_SUITE_P(Models, OneSchurComplement,
                         testing::Values("four_bar", "five_bar_redundant", "bricard", "gear_train", "rover", "spatial_four_bar",
                                         "pendulum", "constant_speed_driver"));

TEST(Proximal, IsRightWithRedundantRowsAtEveryAlpha) {
  const Model model = build_model(test::library_spec("bricard"));
  std::mt19937 random(72);
  const State state = test::random_consistent_state(model, random);
  const VecX<double> exact = accelerations(model, state, {"schur", {}, {}});
  for (const double alpha : {1e2, 1e4, 1e8, 1e12})
    EXPECT_LT(test::relative_difference(accelerations(model, state, {"proximal", {{"alpha", alpha}, {"iterations", 1000.0}}, {}}),
                                        exact),
              1e-9)
        << alpha;
}

/// The final angles of the four-bar after a second.
VecX<double> four_bar_after_a_second(double reuse) {
  Spec spec = test::library_spec("four_bar");
  spec.settings.formulation = {"gigsp", {{"reuse", reuse}}, {}};
  spec.settings.stabilization = {"baumgarte", {}, {}};
  spec.settings.integrator = {"rk4", {}, {}};
  spec.settings.step = 1e-3;
  spec.settings.end = 1.0;
  const Model model = build_model(spec);
  Simulation simulation(model);
  const Summary summary = simulation.run();
  EXPECT_TRUE(summary.completed) << summary.status;
  return simulation.state().q;
}

TEST(Gigsp, ReusingAnInverseErrsInProportionToItsAge) {
  const VecX<double> fresh = four_bar_after_a_second(1.0);
  const double five = (four_bar_after_a_second(5.0) - fresh).cwiseAbs().maxCoeff();
  const double ten = (four_bar_after_a_second(10.0) - fresh).cwiseAbs().maxCoeff();
  EXPECT_GT(five, 1e-8);
  EXPECT_LT(five, 1e-2);
  EXPECT_GT(ten / five, 1.6);
  EXPECT_LT(ten / five, 3.0);
}

TEST(Gigsp, DoesNotReuseAnInverseWithConstraintsOnVelocitiesUnlessForced) {
  Model model = build_model(test::library_spec("four_bar"));
  model.rows.back().holonomic = false;
  const auto make = [&](Options options) {
    make_chosen(formulations(), {"gigsp", std::move(options), {}}, "formulation", model);
  };
  EXPECT_NO_THROW(make({}));
  EXPECT_NO_THROW(make({{"reuse", 5.0}, {"force", 1.0}}));
  try {
    make({{"reuse", 5.0}});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot reuse an inverse with 'cut'"));
  }
}

/// A slider-crank whose connecting rod weighs nothing: the constraints move it.
TEST(MasslessBodies, AreNoTroubleForFormulationsThatDoNotDivideByTheMassMatrix) {
  const Model model = test::model_of(R"toml(
[[body]]
name = "crank"
solid = { shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 1 }
[[body]]
name = "rod"
mass = 0
[[body]]
name = "slider"
mass = 2
[[joint]]
name = "theta"
type = "revolute"
parent = { body = "ground" }
child = { body = "crank" }
position = 0.8
velocity = 1.5
fixed = true
[[joint]]
name = "alpha"
type = "revolute"
parent = { body = "crank", at = [1, 0, 0] }
child = { body = "rod" }
position = -1.1
[[joint]]
name = "slide"
type = "prismatic"
parent = { body = "ground" }
child = { body = "slider" }
axis = [1, 0, 0]
position = 2.6
[[closure]]
name = "wrist"
type = "pin"
a = { body = "rod", at = [2, 0, 0] }
b = { body = "slider" }
)toml");
  const State state = test::start_state(model);
  const VecX<double> exact = accelerations(model, state, {"lagrange", {}, {}});
  for (const char* name : {"nullspace-qr", "nullspace-svd", "augmented-lagrangian"})
    EXPECT_LT(test::relative_difference(accelerations(model, state, {name, {}, {}}), exact), 1e-9) << name;
  for (const char* name : {"gigsp", "udwadia-kalaba", "proximal"}) {
    EquationsOfMotion equations(model, make_chosen(formulations(), {name, {}, {}}, "formulation", model),
                                make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
    State start = state;
    Derivative rates;
    EXPECT_THAT(equations.evaluate(start, rates).trouble, HasSubstr("'alpha' moves none")) << name;
  }
}

std::string refusal(Choice Settings::*method, const std::string& name, const std::string& option, double value) {
  Spec spec = test::library_spec("four_bar");
  spec.settings.*method = {name, {{option, value}}, {"some.toml", 7, 3}};
  try {
    check_settings(spec.settings);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// Whatever the catalogs hold: values at the ends of a range are taken, those beyond, or between whole numbers, are refused.
TEST(Options, OutsideTheirRangeAreRefusedByNameAndPlace) {
  const auto look_at = [](Choice Settings::*method, const char* what, const std::vector<CatalogInfo>& infos) {
    for (const CatalogInfo& info : infos)
      for (const OptionInfo& option : info.options) {
        const std::string name = fmt::format("{} {}:{}", what, info.name, option.name);
        const OptionRange& range = option.range;
        const auto refused = [&](double value) { return refusal(method, info.name, option.name, value); };
        const std::string words = fmt::format("some.toml:7:3: option '{}' of {} '{}' is", option.name, what, info.name);
        if (!std::isnan(option.fallback)) {
          EXPECT_EQ(refused(option.fallback), "") << name;
        }
        const double inside = range.whole ? range.least + 1.0 : range.least + 0.5 * std::min(1.0, range.most - range.least);
        EXPECT_EQ(refused(inside), "") << name;
        EXPECT_EQ(refused(range.least).empty(), range.with_least) << name;
        EXPECT_THAT(refused(range.least - 1.0), HasSubstr(words)) << name;
        EXPECT_THAT(refused(-1e300), HasSubstr(words)) << name;
        if (std::isfinite(range.most)) {
          EXPECT_EQ(refused(range.most), "") << name;
          EXPECT_THAT(refused(2.0 * range.most + 1.0), HasSubstr(words)) << name;
        }
        if (range.whole) {
          EXPECT_THAT(refused(range.least + 0.5), HasSubstr("a whole number from")) << name;
        }
      }
  };
  look_at(&Settings::formulation, "formulation", formulation_choices());
  look_at(&Settings::coordinates, "coordinates", coordinate_choices());
  look_at(&Settings::stabilization, "stabilization", catalog_infos(stabilizations()));
  look_at(&Settings::integrator, "integrator", catalog_infos(integrators()));
  look_at(&Settings::glue, "glue", glue_choices());
}

TEST(Options, OutsideTheirRangeAreRefusedWhereMethodsAreMadeToo) {
  const Model model = build_model(test::library_spec("four_bar"));
  EXPECT_THROW(make_chosen(formulations(), {"gigsp", {{"reuse", 1.5}}, {}}, "formulation", model), InputError);
  Spec spec = test::library_spec("four_bar_modules");
  spec.settings.end = 0.01;
  for (const double tree : {-7.0, 0.5, 1e10}) {
    spec.settings.glue = {"hierarchical", {{"tree", tree}}, {}};
    EXPECT_THROW(run_model(spec), InputError) << tree;
  }
}

TEST(Options, AnUnknownFormulationIsRefusedWithAllChoicesAutoAmongThem) {
  Spec spec = test::library_spec("four_bar");
  spec.settings.formulation = {"xyzzy-method", {}, {}};
  const Model model = build_model(spec);
  try {
    const Simulation simulation(model);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("auto, schur, lagrange"));
  }
}

TEST(RedundantFiveBar, RunsWithEveryFormulationThatTakesItAndFlagsReactions) {
  for (const auto& entry : formulations()) {
    if (!entry.traits.exact) continue;
    Spec spec = test::library_spec("five_bar_redundant");
    spec.settings.formulation = {entry.info.name, {}, {}};
    for (const auto& stepping : integrators())
      if (std::ranges::find(stepping.traits.takes, entry.traits.gives) != stepping.traits.takes.end()) {
        spec.settings.integrator = {stepping.info.name, {}, {}};
        break;
      }
    spec.settings.end = 0.1;
    const Model model = build_model(spec);
    const Summary summary = Simulation(model).run();
    EXPECT_EQ(summary.completed, entry.traits.takes_redundant_rows) << entry.info.name << ": " << summary.status;
    if (!entry.traits.takes_redundant_rows) {
      EXPECT_THAT(summary.status, HasSubstr("needs independent constraint rows; row ")) << entry.info.name;
      continue;
    }
    EXPECT_THAT(summary.redundant, testing::ElementsAre("middle.x")) << entry.info.name;
    EXPECT_THAT(summary.notes, testing::Contains(HasSubstr("force.top.x"))) << entry.info.name;
    EXPECT_LT(summary.position_error_max, 1e-10) << entry.info.name;
  }
}

struct Outcome {
  Summary summary;
  std::vector<std::string> columns;
  std::vector<double> last;
};

Outcome short_run(const std::string& name, const std::string& coordinates) {
  Spec spec = test::library_spec(name);
  spec.settings.coordinates = {coordinates, {}, {}};
  spec.settings.end = 0.1;
  const Model model = build_model(spec);
  Simulation simulation(model);
  Outcome outcome;
  outcome.columns = simulation.columns();
  Observer observer;
  observer.row = [&](std::span<const double> row) { outcome.last.assign(row.begin(), row.end()); };
  outcome.summary = simulation.run(observer);
  return outcome;
}

TEST(AutoFormulation, PicksByTheModelAndSaysWhy) {
  const auto expect = [](const std::string& model, const std::string& coordinates, const std::string& chosen) {
    const Outcome outcome = short_run(model, coordinates);
    EXPECT_TRUE(outcome.summary.completed) << model << ": " << outcome.summary.status;
    EXPECT_THAT(outcome.summary.notes, testing::Contains(HasSubstr(chosen))) << model << " in " << coordinates;
  };
  // The usual choice is no news.
  for (const char* const model : {"chain", "four_bar", "five_bar_redundant"})
    EXPECT_THAT(short_run(model, "TA").summary.notes, testing::Not(testing::Contains(HasSubstr("was chosen")))) << model;
  // A thin rod by itself has no inertia about its axis.
  expect("four_bar", "FA", "formulation 'schur' was chosen: 'crank' moves no inertia by itself; it is lent some");
  expect("five_bar_redundant", "FA", "it is lent some");
}

/// What it picks for free rods with redundant rows follows the same motion as the recursions.
TEST(AutoFormulation, IsRightWhereBodiesLackInertiaAndRowsDependOnOthers) {
  const Outcome tree = short_run("five_bar_redundant", "TA"), free = short_run("five_bar_redundant", "FA");
  int compared = 0;
  for (std::size_t i = 0; i < tree.columns.size(); ++i) {
    const auto other = std::ranges::find(free.columns, tree.columns[i]);
    if (!tree.columns[i].starts_with("q.") || other == free.columns.end()) continue;
    EXPECT_NEAR(free.last[static_cast<std::size_t>(other - free.columns.begin())], tree.last[i], 1e-9) << tree.columns[i];
    ++compared;
  }
  EXPECT_GE(compared, 4);
}

}  // namespace
}  // namespace linkwork
