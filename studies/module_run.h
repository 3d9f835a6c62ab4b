#pragma once

#include <string>
#include <vector>

#include "linkwork/model/spec.h"
#include "linkwork/simulation/summary.h"
#include "studies/study.h"

namespace linkwork::studies {

/// A run of modules, or of a model in one piece, kept in memory.
struct ModuleRun {
  Summary summary;
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;

  std::vector<double> operator[](const std::string& column) const;
};

/// A ready model that runs to `end`.
Spec ready_model(const StudyContext& context, const std::string& name, double end);
/// With the glue of its settings on this many threads; glue "none": in one piece.
ModuleRun run_modules(const Spec& spec, int threads = 1);

}  // namespace linkwork::studies
