#include "linkwork/modules/assembly_outline.h"

#include "linkwork/modules/assembly_plan.h"

namespace linkwork {

AssemblyOutline outline_of(const AssemblyPlan& plan) {
  if (plan.source) return plan.source->outline();
  AssemblyOutline outline;
  for (const ModulePlan& module : plan.modules) {
    outline.weights.push_back(module.weight);
    outline.port_counts.push_back(module.port_count);
  }
  for (const Connection& connection : plan.connections) outline.connections.push_back({connection.a, connection.b});
  for (const SpringLink& spring : plan.springs) outline.springs.push_back({spring.a, spring.b});
  for (const CouplingPlan& coupling : plan.couplings) outline.couplings.push_back(coupling.ports);
  outline.nest = plan.nest;
  return outline;
}

std::vector<std::pair<int, int>> AssemblyOutline::joined() const {
  std::vector<std::pair<int, int>> pairs;
  const auto add = [&](const PortRef& a, const PortRef& b) {
    if (!a.is_ground() && !b.is_ground()) pairs.emplace_back(a.module, b.module);
  };
  for (const auto& [a, b] : connections) add(a, b);
  for (const auto& [a, b] : springs) add(a, b);
  for (const std::vector<PortRef>& ports : couplings)
    for (std::size_t a = 0; a < ports.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        if (ports[a].module != ports[b].module) add(ports[b], ports[a]);
  return pairs;
}

}  // namespace linkwork
