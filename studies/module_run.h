#pragma once

#include "linkwork/model/spec.h"
#include "linkwork/modules/model_run.h"
#include "studies/study.h"

namespace linkwork::studies {

/// A run of modules, or of a model in one piece.
using ModuleRun = KeptRun;

/// A ready model that runs to `end`.
Spec ready_model(const StudyContext& context, const std::string& name, double end);
/// With the glue of its settings on this many threads; glue "none": in one piece.
inline ModuleRun run_modules(const Spec& spec, int threads = 1) { return run_model(spec, threads); }

}  // namespace linkwork::studies
