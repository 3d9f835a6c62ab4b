#include <gtest/gtest.h>

#include <cstring>

#include "linkwork/io/model_file.h"
#include "linkwork/modules/assembly_start.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/hybrid.h"
#include "linkwork/transport/thread_team.h"
#include "tests/mpi/world.h"

namespace linkwork {
namespace {

using test::world;

std::vector<std::vector<double>> rows_of(const AssemblyPlan& plan, const Choice& glue, Transport& transport) {
  std::vector<std::vector<double>> rows;
  Simulation run(std::make_unique<AssemblySystem>(plan, glue, transport));
  Observer observer;
  observer.row = [&](std::span<const double> row) { rows.emplace_back(row.begin(), row.end()); };
  run.run(observer);
  return rows;
}

/// Reductions happen in an order that the model fixes: as many ranks as there may be give the same bits.
TEST(ModulesOverMpi, GiveTheBitsOfOneProcessWithEveryGlue) {
  for (const char* name : {"four_bar_modules", "ring_groups", "rover_modules", "chain_modules", "gear_train_modules"})
    for (const GlueEntry& glue : glues()) {
      Spec spec = read_model_file(std::string(LINKWORK_SOURCE_DIR "/models/") + name + ".toml");
      spec.settings.end = 0.01;
      const Choice choice{glue.info.name, {}, {}};
      AssemblyPlan plan = plan_assembly(spec);
      start_together(plan, spec, world());
      EXPECT_EQ(plan.whole != nullptr, world().rank() == 0);  // only rank 0 has the whole
      const auto together = rows_of(plan, choice, world());
      if (world().rank() != 0) continue;
      InProcess alone;
      const auto one = rows_of(plan, choice, alone);
      ASSERT_EQ(together.size(), one.size()) << name << ", " << glue.info.name;
      for (std::size_t r = 0; r < one.size(); ++r)
        ASSERT_EQ(std::memcmp(together[r].data(), one[r].data(), one[r].size() * sizeof(double)), 0)
            << name << ", " << glue.info.name << ", row " << r;
    }
}

/// One exchange, the tree of groups with and without the whole plan, and threads of processes.
TEST(ModulesOverMpi, GiveTheSameBitsInEveryScheme) {
  for (const char* name : {"chain_modules", "rover_modules", "gear_train_modules"}) {
    Spec spec = read_model_file(std::string(LINKWORK_SOURCE_DIR "/models/") + name + ".toml");
    spec.settings.end = 0.02;
    AssemblyPlan plan = plan_assembly(spec);
    start_together(plan, spec, world());
    const auto once = rows_of(plan, {"hierarchical", {{"tree", 0.0}}, {}}, world());
    const auto tree = rows_of(plan, {"hierarchical", {{"tree", 1.0}}, {}}, world());
    plan.keeps_whole_below = 1;
    const auto parts = rows_of(plan, {"hierarchical", {{"tree", 1.0}}, {}}, world());
    std::vector<std::vector<double>> hybrid;
    world().admit_threads();
    ThreadTeam team(2);
    team.run([&](Transport& threads) {
      HybridTransport transport(world(), threads);
      auto rows = rows_of(plan, {"hierarchical", {{"tree", 1.0}}, {}}, transport);
      if (transport.rank() == 0) hybrid = std::move(rows);
    });
    EXPECT_EQ(tree, once) << name;
    EXPECT_EQ(parts, once) << name;
    if (world().rank() == 0) {
      EXPECT_EQ(hybrid, once) << name;
      EXPECT_GT(once.size(), 1U);
    }
  }
}

/// [Khan2006] section 7.3, Fig. 10b: two chains on two processors, fixed steps of 1 ms. The pin holds near 1e-12 m until the
/// crank turns fast.
TEST(ModulesOverMpi, HoldThePinOfTheFourBarAsPublished) {
  for (const double sigma : {10.0, 60.0}) {
    Spec spec = read_model_file(LINKWORK_SOURCE_DIR "/models/four_bar_modules.toml");
    spec.settings.stabilization = {"none", {}, {}};
    spec.settings.integrator = {"ode5", {}, {}};
    spec.settings.end = 1.0;
    AssemblyPlan plan = plan_assembly(spec);
    start_together(plan, spec, world());
    Simulation run(std::make_unique<AssemblySystem>(plan, Choice{"projection", {{"sigma", sigma}}, {}}, world()));
    const Summary summary = run.run();
    EXPECT_TRUE(summary.completed) << summary.status;
    EXPECT_LT(summary.modules->sticky, 1e-11) << sigma;
  }
}

}  // namespace
}  // namespace linkwork
