#include "linkwork/formulations/catalog.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/tree/aba.h"

namespace linkwork {

Catalog<Formulation> formulations() {
  static const std::vector<CatalogEntry<Formulation>> entries = [] {
    std::vector<CatalogEntry<Formulation>> all{
        schur_formulation(),     lagrange_formulation(),       nullspace_qr_formulation(), nullspace_svd_formulation(),
        partition_formulation(), udwadia_kalaba_formulation(), gigsp_formulation(),        augmented_lagrangian_formulation(),
        proximal_formulation(),  projection_formulation(),     compliance_formulation(),   park_formulation(),
        gauss_ga_formulation()};
    for (auto& entry : dae_formulations()) all.push_back(std::move(entry));
    return all;
  }();
  return entries;
}

std::vector<CatalogInfo> formulation_choices() {
  std::vector<CatalogInfo> choices{{"auto", "what the integrator takes: schur, index3, ...", "", {}}};
  for (CatalogInfo& info : catalog_infos(formulations())) choices.push_back(std::move(info));
  return choices;
}

AutoFormulation choose_formulation(System& system, std::span<const Equations> takes) {
  if (std::ranges::find(takes, Equations::kAcceleration) == takes.end()) {
    // The first kind is the one the integrator is best with.
    for (const auto& entry : formulations())
      if (entry.traits.gives == takes.front())
        return {{entry.info.name, {}, {}}, "the integrator solves a differential-algebraic equation"};
  }
  const bool has_rows = system.model().row_count() > 0;
  aba_inertias(system.tree(), system.work());
  const int massless = system.work().massless_node;
  if (massless == 0)
    return {{"schur", {}, {}},
            has_rows ? "its recursions take linear time where loops are local, and it leaves out rows that depend on others"
                     : "nothing is constrained, and its recursion takes linear time",
            true};
  return {{"schur", {}, {}},
          fmt::format("'{}' moves no inertia by itself; it is lent some, and what that changes is taken back by iteration",
                      system.model().node_name(massless))};
}

}  // namespace linkwork
