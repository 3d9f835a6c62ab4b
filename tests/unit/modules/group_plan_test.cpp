#include "linkwork/modules/group_plan.h"

#include <gtest/gtest.h>

#include <random>
#include <set>

#include "linkwork/linalg/index.h"
#include "linkwork/modules/assembly_plan.h"
#include "linkwork/modules/own_part.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// Modules with up to three ports and connections between them at random.
AssemblyPlan random_plan(std::mt19937& random, int modules) {
  const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
  const AssemblyPlan base = plan_assembly(test::library_spec("chain_modules"));
  AssemblyPlan plan;
  for (int m = 0; m < modules; ++m) {
    ModulePlan module = base.modules.front();
    module.port_count = 1 + below(3);
    module.weight = 1.0 + below(5);
    plan.modules.push_back(module);
    plan.nest.modules.push_back(m);
  }
  for (int c = 0; c < 2 * modules; ++c) {
    Connection connection = base.connections.front();
    const int a = below(modules + 1) - 1, b = below(modules);
    if (a == b) continue;
    connection.a = a < 0 ? PortRef{} : PortRef{a, below(plan.modules[at(a)].port_count)};
    connection.b = {b, below(plan.modules[at(b)].port_count)};
    plan.connections.push_back(connection);
  }
  return plan;
}

/// By definition: a connection is eliminated in the smallest group with both its modules, a port is kept while it is needed.
TEST(GroupPlan, IsWhatItsDefinitionSays) {
  std::mt19937 random(11);
  for (int trial = 0; trial < 20; ++trial) {
    const AssemblyPlan plan = random_plan(random, 2 + trial);
    std::vector<double> weights;
    for (const ModulePlan& module : plan.modules) weights.push_back(module.weight);
    const GroupTree tree = make_group_tree(plan.nest, weights, plan.joined());
    std::vector<std::set<int>> holds(tree.nodes.size());
    for (std::size_t n = 0; n < holds.size(); ++n) {
      if (tree.nodes[n].module >= 0) holds[n].insert(tree.nodes[n].module);
      for (const int child : tree.nodes[n].children) holds[n].insert(holds[at(child)].begin(), holds[at(child)].end());
    }
    const auto is_in = [&](std::size_t n, const PortRef& port) { return port.is_ground() || holds[n].contains(port.module); };
    std::vector<double> cost;
    for (const int leaf : tree.leaves()) cost.push_back(weights[at(leaf)]);
    for (const int ranks : {1, 2, 4, 9}) {
      std::multiset<int> told;
      for (int rank = 0; rank < ranks; ++rank)
        for (const Way& way : {Way{}, Way{Scheme::kTree, 1}, Way{Scheme::kTree, 2}}) {
          const GroupPlan groups = plan_groups(outline_of(plan), tree, place(cost, ranks), rank, way);
          if (way.levels == 2) told.insert(groups.connections.begin(), groups.connections.end());
          for (const PlannedGroup& group : groups.groups) {
            const std::size_t n = at(group.number);
            std::vector<int> joints;
            std::vector<PortRef> kept;
            for (std::size_t c = 0; c < plan.connections.size(); ++c) {
              const Connection& connection = plan.connections[c];
              bool earlier = false;
              for (std::size_t m = 0; m < n; ++m) earlier = earlier || (is_in(m, connection.a) && is_in(m, connection.b));
              if (!earlier && is_in(n, connection.a) && is_in(n, connection.b)) joints.push_back(static_cast<int>(c));
            }
            for (const int k : group.kept) kept.push_back(group.ports[at(k)]);
            if (group.solved) {
              EXPECT_EQ(group.connections, joints);
            }
            const auto needed_above = [&](const PortRef& port) {
              return std::ranges::any_of(plan.connections, [&](const Connection& connection) {
                return (connection.a == port || connection.b == port) && !(is_in(n, connection.a) && is_in(n, connection.b));
              });
            };
            std::size_t count = 0;
            for (const int m : holds[n])
              for (int p = 0; p < plan.modules[at(m)].port_count; ++p)
                if (const PortRef port{m, p}; needed_above(port)) {
                  ++count;
                  EXPECT_NE(std::ranges::find(kept, port), kept.end());
                }
            EXPECT_EQ(count, kept.size());
          }
        }
      EXPECT_EQ(told.size(), plan.connections.size()) << "each is told of once";
      EXPECT_EQ(std::set<int>(told.begin(), told.end()).size(), plan.connections.size());
    }
  }
}

TEST(GroupPlan, KeepsOnlyItsPartOfALongChain) {
  const AssemblyPlan base = plan_assembly(test::library_spec("chain_modules"));
  AssemblyPlan plan;
  constexpr int kModules = 4096, kRanks = 256;
  for (int m = 0; m < kModules; ++m) {
    plan.modules.push_back(base.modules[1]);
    plan.nest.modules.push_back(m);
    Connection connection = base.connections[1];
    connection.a = m == 0 ? PortRef{} : PortRef{m - 1, 1};
    connection.b = {m, 0};
    connection.number = m;
    plan.connections.push_back(connection);
  }
  const GroupTree tree = make_group_tree(plan.nest, std::vector<double>(kModules, 1.0), plan.joined());
  EXPECT_LE(tree.depth(), 14);
  const std::vector<int> leaves = tree.leaves();
  const Placement placement = place(std::vector<double>(kModules, 1.0), kRanks);
  std::size_t most = 0;
  for (const int rank : {0, 1, 128, 255}) {
    AssemblyPlan own = plan;
    GroupPlan groups = plan_groups(outline_of(own), tree, placement, rank, {Scheme::kTree, 1});
    const std::vector<int> modules(leaves.begin() + placement.begin(rank), leaves.begin() + placement.end(rank));
    keep_own_part(own, groups, modules);
    EXPECT_EQ(own.modules.size(), modules.size());
    EXPECT_EQ(own.module_count(), kModules);
    most = std::max(most, groups.groups.size());
    for (const PlannedGroup& group : groups.groups)
      for (const int c : group.connections) {
        const Connection& connection = own.connections.at(at(c));
        EXPECT_EQ(connection.b.module, connection.number);
      }
  }
  EXPECT_LE(most, 80U);  // 16 modules, their groups, and the way up: not thousands
}

}  // namespace
}  // namespace linkwork
