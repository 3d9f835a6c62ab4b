#pragma once

#include <string>
#include <vector>

#include "linkwork/simulation/saved_run.h"

namespace linkwork {

/// A run of modules between two steps, complete on every rank: with it and the plan, it can go on, on any number of ranks. As
/// with SavedRun, the run itself goes on from it, with modules and glue made anew.
struct SavedAssembly {
  SavedProgress progress = {};
  long steps = 0, rejected_steps = 0, evaluations = 0;
  std::vector<std::vector<double>> x = {};       // states by module, as in the plan
  std::vector<std::vector<double>> memory = {};  // Module::memory()
  std::vector<double> glue = {};                 // Glue::memory()
  std::vector<std::string> remarks = {};         // of the glue
  GlueSummary modules = {};                      // as far as it is known
};

}  // namespace linkwork
