#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/model/model.h"
#include "linkwork/modules/assembly_plan.h"
#include "linkwork/transport/transport.h"

namespace linkwork {

/// The glue a model asks for: "none", or one of glues(). "auto" is "hierarchical" for models with modules, unless something else
/// that was chosen, or the way the model is written, works in one piece only: the notes then say what. Throws InputError if a
/// glue was chosen that does not fit.
Choice chosen_glue(const Spec& spec, std::vector<std::string>& notes);

/// Throws InputError if a glue cannot step its modules by the integrator that the settings ask for.
struct GlueEntry;
void check_integrator(const Settings& settings, const GlueEntry& entry);

/// Finds a consistent start of the whole on rank 0, whose plan keeps the model in one piece, and tells it to all ranks: the
/// plan's modules then start there. Throws InputError on all ranks if there is none.
void start_together(AssemblyPlan& plan, const Spec& spec, Transport& transport);

}  // namespace linkwork
