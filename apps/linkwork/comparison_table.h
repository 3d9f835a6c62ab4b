#pragma once

#include "linkwork/simulation/comparison.h"

namespace linkwork::cli {

/// The comparison for a person, on stdout: the references, a table of what ran with the best of each column marked, and what did
/// not run with the reasons.
void print_comparison(const Comparison& comparison);

}  // namespace linkwork::cli
