// What every run can, whatever it is a run of: a mechanism in one piece, modules under a glue, a mechanism moved by its drives.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>

#include "linkwork/modules/assembly_system.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/kinematics.h"
#include "linkwork/simulation/pacing.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/thread_team.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;

using Change = std::function<void(Spec&)>;

struct Subject {
  const char* name;
  std::function<Simulation(const Change&)> make;
};

Spec changed(const std::string& model, const Change& change) {
  Spec spec = test::library_spec(model);
  spec.settings.end = 0.2;
  spec.settings.output_every = 0.007;  // not at the ends of steps
  change(spec);
  return spec;
}

Simulation modules(const Spec& spec) {
  static InProcess alone;
  return Simulation(std::make_unique<AssemblySystem>(test::started_plan(spec), Choice{"hierarchical", {}, {}}, alone));
}

/// For parameterized tests: all of them.
std::vector<Subject> subjects() {
  return {{"mechanism", [](const auto& change) { return Simulation(build_model(changed("four_bar", change))); }},
          {"mechanism_with_events", [](const auto& change) { return Simulation(build_model(changed("latch", change))); }},
          {"modules", [](const auto& change) { return modules(changed("four_bar_modules", change)); }},
          {"drives", [](const auto& change) { return kinematic_motion(build_model(changed("four_bar_driven", change))); }}};
}

class EveryRun : public testing::TestWithParam<Subject> {
 protected:
  static Simulation make(const Change& change = [](Spec&) {}) { return GetParam().make(change); }
};

struct ObservedRows {
  std::vector<std::vector<double>> rows;
  Observer observer() {
    return {.row = [this](std::span<const double> row) { rows.emplace_back(row.begin(), row.end()); }};
  }
};

TEST_P(EveryRun, GivesTheSameBitsStepByStep) {
  ObservedRows whole, stepped;
  Simulation run = make();
  ASSERT_TRUE(run.run(whole.observer()).completed);
  Simulation live = make();
  live.observe(stepped.observer());
  while (live.t() < 0.1) ASSERT_TRUE(live.step()) << live.summary().status;
  const Summary summary = live.run();
  EXPECT_TRUE(summary.completed) << summary.status;
  EXPECT_EQ(stepped.rows, whole.rows);
  EXPECT_GT(whole.rows.size(), 25U);
}

TEST_P(EveryRun, AdvancesToATimeAndNoFurther) {
  Simulation run = make();
  ASSERT_TRUE(run.advance_to(0.0437));
  EXPECT_EQ(run.t(), 0.0437);
  ASSERT_TRUE(run.advance_to(0.3));  // beyond the end of the settings
  EXPECT_EQ(run.t(), 0.3);
}

TEST_P(EveryRun, GoesBackToWhatItSaved) {
  Simulation run = make();
  ASSERT_TRUE(run.advance_to(0.05));
  const SavedRun saved = run.save();
  run.restore(saved);  // what is saved is what it goes on from
  ObservedRows first, second;
  run.observe(first.observer());
  ASSERT_TRUE(run.advance_to(0.15));
  const VecX<double> there = run.moment().y;
  run.restore(saved);
  EXPECT_EQ(run.t(), 0.05);
  run.observe(second.observer());
  ASSERT_TRUE(run.advance_to(0.15));
  EXPECT_EQ(run.moment().y, there);
  EXPECT_EQ(first.rows, second.rows);
  EXPECT_FALSE(first.rows.empty());
}

TEST_P(EveryRun, StopsWhenItIsToldAndCanGoOn) {
  Simulation run = make();
  int steps = 0;
  const Summary stopped = run.run({.go_on = [&] { return ++steps < 5; }});
  EXPECT_EQ(stopped.status, kInterrupted);
  EXPECT_FALSE(stopped.completed);
  EXPECT_EQ(stopped.steps, 5);
  const Summary done = run.run(Observer{});
  EXPECT_TRUE(done.completed) << done.status;
}

TEST_P(EveryRun, StopsWhenARowIsObjectedTo) {
  Simulation run = make();
  int rows = 0;
  const Summary summary =
      run.run({.object = [&](std::span<const double>) { return ++rows == 4 ? std::string("too far") : std::string(); }});
  EXPECT_THAT(summary.status, HasSubstr("too far"));
  EXPECT_FALSE(summary.completed);
}

TEST_P(EveryRun, SavesAtIntervals) {
  Simulation run = make();
  std::vector<double> times;
  run.run({.checkpoint = [&](const SavedRun& saved) { times.push_back(saved.t); }, .checkpoint_every = 0.05});
  ASSERT_EQ(times.size(), 4U);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(times[i], 0.05 * static_cast<double>(i), 0.008);
}

TEST_P(EveryRun, RefusesWhatAnotherModelSaved) {
  Simulation ring(build_model(test::library_spec("ring")));
  ASSERT_TRUE(ring.step());
  Simulation run = make();
  EXPECT_THROW(run.restore(ring.save()), InputError);
}

TEST_P(EveryRun, TellsOfEveryStepAndWhatItCameTo) {
  Simulation run = make();
  ObservedRows observed;
  Observer observer = observed.observer();
  std::vector<double> times;
  Pacing pacing(1e9);  // as good as never waits
  pacing.start(0.0);
  observer.progress = [&](double t, double) {
    times.push_back(t);
    pacing.wait(t);
  };
  const Summary summary = run.run(observer);
  ASSERT_TRUE(summary.completed) << summary.status;
  EXPECT_EQ(summary.simulated_seconds, 0.2);
  EXPECT_EQ(summary.steps, std::ssize(times));
  EXPECT_GE(summary.steps, 25);
  EXPECT_GE(summary.evaluations, summary.steps);
  EXPECT_EQ(pacing.summary().steps, summary.steps);
  EXPECT_TRUE(std::ranges::is_sorted(times));
  EXPECT_EQ(times.back(), 0.2);
  EXPECT_LT(summary.position_error_max, 1e-9);
  EXPECT_LT(summary.velocity_error_max, 1e-8);
  EXPECT_FALSE(summary.energy_drift > 1e-3);  // what moves as its drives say has none
  ASSERT_FALSE(summary.final_state.empty());
  for (const auto& [column, value] : summary.final_state) {
    const auto place = std::ranges::find(run.columns(), column) - run.columns().begin();
    EXPECT_EQ(observed.rows.back()[static_cast<std::size_t>(place)], value) << column;
  }
}

/// Rows inside steps are interpolated, and leave no trace in the motion. Where steps end at rows, they are others.
TEST_P(EveryRun, MovesTheSameHoweverManyRowsAreWritten) {
  struct Done {
    long steps;
    VecX<double> y;
    std::vector<std::vector<double>> rows;
  };
  std::optional<Done> first;
  for (const double every : {0.05, 0.0125, 0.0007}) {
    Simulation run = make([every](Spec& spec) { spec.settings.output_every = every; });
    ObservedRows observed;
    const Summary summary = run.run(observed.observer());
    ASSERT_TRUE(summary.completed) << summary.status;
    if (!first) first = {summary.steps, run.moment().y, observed.rows};
    if (summary.steps == first->steps)
      EXPECT_EQ(run.moment().y, first->y) << every;
    else
      EXPECT_LT((run.moment().y - first->y).cwiseAbs().maxCoeff(), 1e-12) << every;
    int compared = 0;
    for (const std::vector<double>& row : observed.rows) {
      const auto same = std::ranges::find(first->rows, row.front(), [](const auto& other) { return other.front(); });
      if (same == first->rows.end()) continue;
      ++compared;
      for (std::size_t c = 0; c < row.size(); ++c)
        EXPECT_NEAR(row[c], (*same)[c], 1e-9 * std::max(1.0, std::abs(row[c]))) << run.columns()[c] << " at " << row.front();
    }
    EXPECT_GE(compared, 2);
  }
}

TEST_P(EveryRun, WarnsOfJointsThatLeaveTheirLimits) {
  Simulation run = make([](Spec& spec) {
    for (JointSpec& joint : spec.joints)
      if (joint.type == "revolute") joint.limits = std::array{-1e-3, 1e-3};
  });
  EXPECT_THAT(run.run(Observer{}).warnings, Contains(HasSubstr("left its limits")));
}

INSTANTIATE_TEST_SUITE_P(OneLoop, EveryRun, testing::ValuesIn(subjects()),
                         [](const auto& subject) { return std::string(subject.param.name); });

/// A mechanism and its modules.
Spec pendulums(bool as_modules, const std::string& limits) {
  Spec spec = test::library_spec("four_bar_modules");
  if (!as_modules) spec.settings.glue = {"none", {}, {}};
  spec.settings.end = 1.0;
  for (JointSpec& joint : spec.joints)
    if (joint.type == "revolute" && !limits.empty()) joint.limits = std::array{-1e-3, 1e-3};
  return spec;
}

TEST(OneRun, WarnsOfLimitsInModulesAsInOnePiece) {
  std::vector<std::string> expected;
  for (const bool apart : {false, true})
    for (const int threads : {1, 2}) {
      if (!apart && threads > 1) continue;
      const Summary summary = run_model(pendulums(apart, "narrow"), threads).summary;
      ASSERT_TRUE(summary.completed) << summary.status;
      EXPECT_EQ(summary.glue, apart ? "hierarchical" : "none");
      if (!apart) expected = summary.warnings;
      EXPECT_FALSE(expected.empty());
      for (const std::string& warning : expected) {
        EXPECT_THAT(warning, HasSubstr("left its limits"));
        EXPECT_THAT(summary.warnings, Contains(warning)) << threads;
      }
    }
}

/// A parallelogram that turns evenly lies flat at 0.25 s, to rounding.
TEST(OneRun, WarnsOfALossOfRankInModulesAsInOnePiece) {
  for (const bool apart : {false, true}) {
    Spec spec = test::library_spec("parallel_four_bar_modules");
    spec.forces.clear();
    spec.settings.end = 0.3;
    if (!apart) spec.settings.glue = {"none", {}, {}};
    const Summary summary = run_model(spec).summary;
    ASSERT_TRUE(summary.completed) << summary.status;
    EXPECT_THAT(summary.warnings,
                Contains(AllOf(HasSubstr("lost rank (1 instead of 2) at t = 0.25 s"), HasSubstr("a singular position"))))
        << apart;
  }
}

/// The step is too long for the mechanism: both say so.
TEST(OneRun, BlamesTheStepInModulesAsInOnePiece) {
  for (const bool apart : {false, true}) {
    Spec spec = pendulums(apart, "");
    spec.settings.step = spec.settings.output_every = 0.2;
    spec.settings.end = 10.0;
    const Summary summary = run_model(spec).summary;
    EXPECT_FALSE(summary.completed && summary.warnings.empty()) << apart;
  }
}

TEST(OneRun, KeepsAModelThatItsMakerHasForgotten) {
  std::unique_ptr<Simulation> run;
  {
    auto model = std::make_shared<const Model>(build_model(test::library_spec("four_bar")));
    run = std::make_unique<Simulation>(model);
  }
  Simulation moved = std::move(*run);
  run.reset();
  ASSERT_TRUE(moved.advance_to(0.1));
  EXPECT_LT(moved.summary().position_error_max, 1e-9);
}

}  // namespace
}  // namespace linkwork
