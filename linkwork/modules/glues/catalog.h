#pragma once

#include <span>

#include "linkwork/modules/glue.h"

namespace linkwork {

/// All glues, listed in catalog.cpp; the first is the default.
std::span<const GlueEntry> glues();

/// The same with "auto" and "none", for the command line and messages.
std::vector<CatalogInfo> glue_choices();

// One per file.
GlueEntry hierarchical_glue();
GlueEntry compliance_glue();
GlueEntry projection_glue();
GlueEntry gluing_glue();
GlueEntry waveform_glue();

}  // namespace linkwork
