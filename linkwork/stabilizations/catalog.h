#pragma once

#include "linkwork/dynamics/catalog.h"

namespace linkwork {

/// All drift controls, listed in catalog.cpp.
Catalog<Stabilization> stabilizations();

// One per file.
CatalogEntry<Stabilization> no_stabilization();
CatalogEntry<Stabilization> baumgarte_stabilization();
CatalogEntry<Stabilization> projection_stabilization();

}  // namespace linkwork
