#pragma once

#include "linkwork/dynamics/catalog.h"
#include "linkwork/dynamics/stabilization.h"

namespace linkwork {

/// All drift controls, listed in catalog.cpp.
Catalog<Stabilization> stabilizations();

// One per file.
CatalogEntry<Stabilization> no_stabilization();
CatalogEntry<Stabilization> baumgarte_stabilization();
CatalogEntry<Stabilization> acceleration_stabilization();
CatalogEntry<Stabilization> post_stabilization();

// The three of projection.cpp: one algorithm, applied to positions, velocities or both.
CatalogEntry<Stabilization> projection_stabilization();
CatalogEntry<Stabilization> position_stabilization();
CatalogEntry<Stabilization> velocity_stabilization();

}  // namespace linkwork
