#pragma once

#include <vector>

#include "linkwork/dynamics/catalog.h"

namespace linkwork::cli {

// What can be chosen on each axis, "auto" included: for help, messages and 'linkwork list'.
std::vector<CatalogInfo> coordinate_choices();
std::vector<CatalogInfo> formulation_choices();
std::vector<CatalogInfo> stabilization_choices();
std::vector<CatalogInfo> integrator_choices();
std::vector<CatalogInfo> glue_choices();

/// Whether the model's integrator chooses its steps by rtol and atol.
bool is_adaptive(const Model& model);

/// "a, b, c".
std::string names(const std::vector<CatalogInfo>& choices);

}  // namespace linkwork::cli
