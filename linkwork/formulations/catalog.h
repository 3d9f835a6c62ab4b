#pragma once

#include "linkwork/dynamics/catalog.h"
#include "linkwork/dynamics/formulation.h"

namespace linkwork {

/// All formulations, listed in catalog.cpp.
Catalog<Formulation> formulations();
/// What a user may choose: these, and "auto".
std::vector<CatalogInfo> formulation_choices();

/// What "auto" stands for on this model with an integrator that takes these equations, and why.
struct AutoFormulation {
  Choice choice;
  std::string reason;
  bool usual = false;  // what every model gets unless something asks for another
};
AutoFormulation choose_formulation(System& system, std::span<const Equations> takes);

// One per file; the differential-algebraic forms share one.
CatalogEntry<Formulation> compliance_formulation();
std::vector<CatalogEntry<Formulation>> dae_formulations();
CatalogEntry<Formulation> gauss_ga_formulation();
CatalogEntry<Formulation> lagrange_formulation();
CatalogEntry<Formulation> park_formulation();
CatalogEntry<Formulation> projection_formulation();
CatalogEntry<Formulation> schur_formulation();
CatalogEntry<Formulation> nullspace_qr_formulation();
CatalogEntry<Formulation> nullspace_svd_formulation();
CatalogEntry<Formulation> partition_formulation();
CatalogEntry<Formulation> udwadia_kalaba_formulation();
CatalogEntry<Formulation> gigsp_formulation();
CatalogEntry<Formulation> augmented_lagrangian_formulation();
CatalogEntry<Formulation> proximal_formulation();

}  // namespace linkwork
