#include <gtest/gtest.h>

#include <algorithm>

#include "linkwork/linalg/index.h"
#include "linkwork/model/input_error.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/modules/scheme.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/thread_team.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

const Choice kOnce{"hierarchical", {{"tree", 0.0}}, {}}, kTree{"hierarchical", {{"tree", 1.0}}, {}},
    kLayers{"hierarchical", {{"tree", 2.0}}, {}};
constexpr int kWhole = 16, kParts = 2;  // ranks from which on each keeps its own part of the plan

void expect_same_run(const test::Rows& rows, const test::Rows& one, const std::string& what) {
  EXPECT_EQ(rows.columns, one.columns) << what;
  EXPECT_EQ(rows.rows, one.rows) << what;
  EXPECT_EQ(rows.summary.dof, one.summary.dof) << what;
  EXPECT_EQ(rows.summary.rank, one.summary.rank) << what;
  EXPECT_EQ(rows.summary.redundant, one.summary.redundant) << what;
  EXPECT_EQ(rows.summary.status, one.summary.status) << what;
  EXPECT_EQ(rows.summary.steps, one.summary.steps) << what;
  EXPECT_EQ(rows.summary.evaluations, one.summary.evaluations) << what;
  EXPECT_EQ(rows.summary.position_error_max, one.summary.position_error_max) << what;
}

/// One rank, and so many threads in every scheme, with the whole plan and with its own part on each.
test::Rows compare_schemes(const Spec& spec, const std::string& what, const std::vector<int>& numbers_of_threads = {2, 3, 5}) {
  AssemblyPlan plan = test::started_plan(spec);
  const test::Rows one = test::run_plan(plan, kOnce);
  EXPECT_GT(one.rows.size(), 0U) << what;
  for (const int threads : numbers_of_threads) {
    const std::string where = what + " on " + std::to_string(threads);
    plan.keeps_whole_below = kWhole;
    expect_same_run(test::run_plan(plan, kOnce, threads), one, where + ", one exchange");
    expect_same_run(test::run_plan(plan, kTree, threads), one, where + ", tree");
    expect_same_run(test::run_plan(plan, kLayers, threads), one, where + ", two levels");
    plan.keeps_whole_below = kParts;
    expect_same_run(test::run_plan(plan, kTree, threads), one, where + ", parts");
    expect_same_run(test::run_plan(plan, kLayers, threads), one, where + ", parts of two levels");
  }
  return one;
}

/// Which rank solves a group, and what a rank knows of the plan, makes no difference to the last bit. Some ranks have no modules.
TEST(Schemes, GiveTheSameBits) {
  for (const std::string& name : test::library_assemblies()) {
    Spec spec = test::library_spec(name);
    spec.settings.end = std::min(spec.settings.end, 0.02);
    compare_schemes(spec, name);
  }
}

/// Stands for modules too many to list.
class Remembered final : public AssemblySource {
 public:
  explicit Remembered(AssemblyPlan plan) : plan_(std::move(plan)) {}

  int module_count() const override { return plan_.module_count(); }
  AssemblyOutline outline() const override { return outline_of(plan_); }
  ModulePlan module(int number) const override { return plan_.modules[at(number)]; }
  Connection connection(int number) const override { return plan_.connections[at(number)]; }

 private:
  AssemblyPlan plan_;
};

/// What is made when it is asked for is what would have been listed.
TEST(Schemes, MakeModulesOfASource) {
  Spec spec = test::library_spec("chain_modules");
  spec.settings.end = 0.02;
  const AssemblyPlan listed = test::started_plan(spec);
  const test::Rows one = test::run_plan(listed, kOnce);
  AssemblyPlan plan = listed;
  plan.source = std::make_shared<Remembered>(listed);
  plan.modules.clear();
  plan.connections.clear();
  plan.nest = {};
  for (const int threads : {1, 2, 3}) {
    plan.keeps_whole_below = kWhole;
    expect_same_run(test::run_plan(plan, kTree, threads), one, "listed after all");
    plan.keeps_whole_below = kParts;
    expect_same_run(test::run_plan(plan, kTree, threads), one, "of a source");
  }
}

TEST(Schemes, GoThroughTheSameEvents) {
  Spec spec = test::library_spec("two_arms_modules");
  const test::Rows one = compare_schemes(spec, "two arms", {3});
  EXPECT_FALSE(one.summary.events.empty());
}

/// Long steps leave errors that must be removed at the end of each.
TEST(Schemes, MoveStatesBackAlike) {
  Spec spec = test::library_spec("chain_modules");
  spec.settings.end = 0.2;
  spec.settings.step = 0.005;
  spec.settings.output_every = 0.01;
  const test::Rows one = compare_schemes(spec, "long steps", {2, 4});
  EXPECT_TRUE(one.summary.completed) << one.summary.status;
  EXPECT_LT(one.summary.position_error_max, 1e-10);
}

/// Sums over modules decide about steps.
TEST(Schemes, ChooseTheSameSteps) {
  for (const char* const integrator : {"dopri45", "cvode-bdf"}) {
    Spec spec = test::library_spec("chain_modules");
    spec.settings.end = 0.05;
    spec.settings.integrator = {integrator, {}, {}};
    const test::Rows one = compare_schemes(spec, integrator, {2, 3, 6});
    EXPECT_TRUE(one.summary.completed) << one.summary.status;
  }
}

TEST(Schemes, TellOfTroubleOnAnyRank) {
  Spec spec = test::library_spec("chain_modules");
  spec.settings.end = 0.5;
  spec.settings.step = spec.settings.output_every = 0.1;
  const test::Rows one = compare_schemes(spec, "trouble", {4});
  EXPECT_FALSE(one.summary.completed);
}

TEST(Schemes, RefuseColumnsThatAreNotThereOnAllRanks) {
  Spec spec = test::library_spec("chain_modules");
  spec.settings.columns = {"q.nobody"};
  AssemblyPlan plan = test::started_plan(spec);
  plan.keeps_whole_below = kParts;
  EXPECT_THROW(test::run_plan(plan, kTree, 3), InputError);
}

TEST(Schemes, AreChosenAlikeOnAllRanks) {
  for (const int size : {1, 2, 3, 5}) {
    ThreadTeam team(size);
    std::vector<Way> chosen(at(size)), through_tree(at(size));
    team.run([&](Transport& transport) {
      chosen[at(transport.rank())] = cheapest_way(transport, 100);
      through_tree[at(transport.rank())] = cheapest_way(transport, 100, true);
    });
    for (const Way& way : chosen) EXPECT_EQ(way, chosen.front());
    for (const Way& way : through_tree) EXPECT_EQ(way, through_tree.front());
    EXPECT_EQ(through_tree.front().scheme, Scheme::kTree);
    if (size <= 2) {
      EXPECT_EQ(chosen.front().scheme, Scheme::kOneExchange);
    }
  }
}

/// A run that was saved by ranks that know their own part only goes on, on any number of them, as if nothing had happened.
TEST(Schemes, GoOnFromWhatTheFirstRankSaved) {
  Spec spec = test::library_spec("chain_modules");
  spec.settings.end = 0.02;
  AssemblyPlan plan = test::started_plan(spec);
  const test::Rows one = test::run_plan(plan, kOnce);
  plan.keeps_whole_below = kParts;
  SavedRun saved;
  ThreadTeam(3).run([&](Transport& transport) {
    Simulation run(std::make_unique<AssemblySystem>(plan, kTree, transport));
    for (int k = 0; k < 7; ++k) run.step();
    SavedRun own = run.save();
    if (transport.rank() == 0) saved = std::move(own);
  });
  for (const int threads : {1, 2, 4}) {
    std::vector<std::vector<double>> rows;
    ThreadTeam(threads).run([&](Transport& transport) {
      Simulation run(std::make_unique<AssemblySystem>(plan, kTree, transport));
      run.restore(saved);
      Observer observer;
      observer.row = [&](std::span<const double> row) { rows.emplace_back(row.begin(), row.end()); };
      run.run(observer);
    });
    ASSERT_FALSE(rows.empty());
    EXPECT_EQ(rows.back(), one.rows.back()) << threads;
  }
}

}  // namespace
}  // namespace linkwork
