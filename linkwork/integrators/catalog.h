#pragma once

#include "linkwork/dynamics/catalog.h"
#include "linkwork/dynamics/integrator.h"

namespace linkwork {

/// All integrators, listed in catalog.cpp.
Catalog<Integrator> integrators();

// One per file; the Runge-Kutta methods are rows of a table, and Newmark's family differs in its coefficients.
std::vector<CatalogEntry<Integrator>> newmark_family();
std::vector<CatalogEntry<Integrator>> cvode_methods();
CatalogEntry<Integrator> arkode_method();
CatalogEntry<Integrator> ida_method();
CatalogEntry<Integrator> semi_implicit_euler();
std::vector<CatalogEntry<Integrator>> runge_kutta_methods();

}  // namespace linkwork
