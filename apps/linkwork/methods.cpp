#include "apps/linkwork/methods.h"

#include <fmt/format.h>

#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/simulation/coordinate_choice.h"
#include "linkwork/stabilizations/catalog.h"

namespace linkwork::cli {

std::vector<CatalogInfo> coordinate_choices() { return linkwork::coordinate_choices(); }
std::vector<CatalogInfo> formulation_choices() { return linkwork::formulation_choices(); }

std::vector<CatalogInfo> stabilization_choices() { return catalog_infos(stabilizations()); }
std::vector<CatalogInfo> integrator_choices() { return catalog_infos(integrators()); }

std::vector<CatalogInfo> glue_choices() { return linkwork::glue_choices(); }

bool is_adaptive(const Model& model) {
  const auto integrator = make_chosen(integrators(), model.settings.integrator, "integrator", model);
  return integrator->estimates_error() || integrator->controls_step();
}

std::string names(const std::vector<CatalogInfo>& choices) {
  std::vector<std::string> all;
  all.reserve(choices.size());
  for (const CatalogInfo& info : choices) all.push_back(info.name);
  return listed(all);
}

}  // namespace linkwork::cli
