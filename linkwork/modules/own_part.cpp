#include "linkwork/modules/own_part.h"

#include <algorithm>

#include "linkwork/linalg/index.h"
#include "linkwork/modules/assembly_plan.h"

namespace linkwork {

const ModulePlan& AssemblyPlan::module(int number) const {
  if (is_whole()) return modules.at(at(number));
  const auto found = std::ranges::lower_bound(kept_, number);
  return modules[static_cast<std::size_t>(found - kept_.begin())];
}

void AssemblyPlan::list_all() {
  if (!source) return;
  for (int m = 0; m < source->module_count(); ++m) modules.push_back(source->module(m));
  const AssemblyOutline outline = source->outline();
  for (std::size_t c = 0; c < outline.connections.size(); ++c) connections.push_back(source->connection(static_cast<int>(c)));
  nest = outline.nest;
  source = nullptr;
}

void AssemblyPlan::keep(std::vector<int> its_modules, const std::vector<int>& its_connections) {
  std::ranges::sort(its_modules);
  whole_count_ = module_count();
  std::vector<ModulePlan> left;
  for (const int m : its_modules) left.push_back(source ? source->module(m) : std::move(modules[at(m)]));
  std::vector<Connection> joints;
  for (const int c : its_connections) {
    joints.push_back(source ? source->connection(c) : std::move(connections[at(c)]));
    joints.back().number = c;
  }
  modules = std::move(left);
  connections = std::move(joints);
  kept_ = std::move(its_modules);
  nest = {};
  source = nullptr;
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
  plan.keep(own_modules, used);
}

}  // namespace linkwork
