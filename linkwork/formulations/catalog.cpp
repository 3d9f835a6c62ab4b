#include "linkwork/formulations/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "linkwork/linalg/rank.h"
#include "linkwork/tree/aba.h"

namespace linkwork {

Catalog<Formulation> formulations() {
  static const std::vector<CatalogEntry<Formulation>> entries = [] {
    std::vector<CatalogEntry<Formulation>> all{schur_formulation(),
                                               lagrange_formulation(),
                                               nullspace_qr_formulation(),
                                               nullspace_svd_formulation(),
                                               udwadia_kalaba_formulation(),
                                               gigsp_formulation(),
                                               augmented_lagrangian_formulation(),
                                               proximal_formulation(),
                                               projection_formulation(),
                                               compliance_formulation(),
                                               park_formulation(),
                                               gauss_ga_formulation()};
    for (auto& entry : dae_formulations()) all.push_back(std::move(entry));
    return all;
  }();
  return entries;
}

std::vector<CatalogInfo> formulation_choices() {
  std::vector<CatalogInfo> choices{
      {"auto",
       "what the integrator takes: schur (lagrange or nullspace-qr if a joint of the tree moves no inertia), index3, ...",
       "",
       {}}};
  for (CatalogInfo& info : catalog_infos(formulations())) choices.push_back(std::move(info));
  return choices;
}

namespace {

bool rows_are_independent(System& system) {
  const VecX<double> weights = system.mass_matrix().diagonal().unaryExpr([](double x) { return x > 0.0 ? 1.0 / x : 1.0; });
  std::vector<char> dependent(static_cast<std::size_t>(system.model().row_count()));
  RankTest test;
  return dependent_rows(system.jacobian(), system.jacobian_bounds(), weights, test, dependent).rank == system.model().row_count();
}

}  // namespace

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
                     : "nothing is constrained, and its recursion takes linear time"};
  const std::string reason =
      fmt::format("'{}' moves no inertia by itself, which the recursions cannot divide by", system.model().node_name(massless));
  if (!has_rows || rows_are_independent(system)) return {{"lagrange", {}, {}}, reason};
  return {{"nullspace-qr", {}, {}}, reason + "; and rows depend on others, which 'lagrange' does not take"};
}

}  // namespace linkwork
