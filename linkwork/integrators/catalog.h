#pragma once

#include "linkwork/dynamics/catalog.h"

namespace linkwork {

/// All integrators, listed in catalog.cpp.
Catalog<Integrator> integrators();

// One per file; the Runge-Kutta methods are rows of a table.
CatalogEntry<Integrator> semi_implicit_euler();
std::vector<CatalogEntry<Integrator>> runge_kutta_methods();

}  // namespace linkwork
