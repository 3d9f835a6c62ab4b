#include "linkwork/modules/own_part.h"

#include <algorithm>

#include "linkwork/linalg/index.h"

namespace linkwork {

std::vector<std::pair<int, int>> AssemblyPlan::joined() const {
  std::vector<std::pair<int, int>> pairs;
  const auto add = [&](const PortRef& a, const PortRef& b) {
    if (!a.is_ground() && !b.is_ground()) pairs.emplace_back(a.module, b.module);
  };
  for (const Connection& connection : connections) add(connection.a, connection.b);
  for (const SpringLink& spring : springs) add(spring.a, spring.b);
  for (const CouplingPlan& coupling : couplings)
    for (std::size_t a = 0; a < coupling.ports.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (coupling.ports[a].module != coupling.ports[b].module) add(coupling.ports[b], coupling.ports[a]);
  return pairs;
}

const ModulePlan& AssemblyPlan::module(int number) const {
  if (is_whole()) return modules.at(at(number));
  const auto found = std::ranges::lower_bound(kept_, number);
  return modules[static_cast<std::size_t>(found - kept_.begin())];
}

void AssemblyPlan::keep_modules(std::vector<int> numbers) {
  std::ranges::sort(numbers);
  std::vector<ModulePlan> left;
  for (const int number : numbers) left.push_back(std::move(modules[at(number)]));
  whole_count_ = static_cast<int>(modules.size());
  modules = std::move(left);
  kept_ = std::move(numbers);
  nest = {};
}

void keep_own_part(AssemblyPlan& plan, GroupPlan& groups, const std::vector<int>& own_modules) {
  std::vector<int> used;
  for (const PlannedGroup& group : groups.groups) used.insert(used.end(), group.connections.begin(), group.connections.end());
  std::ranges::sort(used);
  const auto renumber = [&](std::vector<int>& places) {
    for (int& place : places) place = static_cast<int>(std::ranges::lower_bound(used, place) - used.begin());
  };
  for (PlannedGroup& group : groups.groups) renumber(group.connections);
  renumber(groups.connections);
  std::vector<Connection> connections;
  for (const int c : used) connections.push_back(std::move(plan.connections[at(c)]));
  plan.connections = std::move(connections);
  plan.keep_modules(own_modules);
}

}  // namespace linkwork
