#pragma once

#include "linkwork/dynamics/catalog.h"

namespace linkwork {

/// All formulations, listed in catalog.cpp.
Catalog<Formulation> formulations();

/// What "auto" stands for on this model, and why.
struct AutoFormulation {
  Choice choice;
  std::string reason;
};
AutoFormulation choose_formulation(System& system);

// One per file.
CatalogEntry<Formulation> compliance_formulation();
CatalogEntry<Formulation> gauss_ga_formulation();
CatalogEntry<Formulation> lagrange_formulation();
CatalogEntry<Formulation> park_formulation();
CatalogEntry<Formulation> projection_formulation();
CatalogEntry<Formulation> schur_formulation();

}  // namespace linkwork
