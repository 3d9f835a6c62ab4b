#include "linkwork/formulations/catalog.h"

#include <fmt/format.h>

#include <array>

#include "linkwork/tree/aba.h"

namespace linkwork {

Catalog<Formulation> formulations() {
  static const std::array entries{schur_formulation(),
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
  return entries;
}

std::vector<CatalogInfo> formulation_choices() {
  std::vector<CatalogInfo> choices{{"auto", "schur, or lagrange if a joint of the tree moves no inertia", "", {}}};
  for (CatalogInfo& info : catalog_infos(formulations())) choices.push_back(std::move(info));
  return choices;
}

AutoFormulation choose_formulation(System& system) {
  aba_inertias(system.tree(), system.work());
  const int massless = system.work().massless_node;
  if (massless == 0) return {{"schur", {}, {}}, "every joint of the tree moves some inertia"};
  return {{"lagrange", {}, {}},
          fmt::format("joint '{}' moves no inertia by itself, which the recursion cannot divide by",
                      system.model().node_name(massless))};
}

}  // namespace linkwork
