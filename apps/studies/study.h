#pragma once

#include "apps/linkwork/study_options.h"

namespace linkwork::cli {

/// Runs a study on the ranks that mpirun has started, or alone; the exit code.
int study(const StudyOptions& options);

}  // namespace linkwork::cli
