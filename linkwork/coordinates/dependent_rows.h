#pragma once

#include <algorithm>

#include "linkwork/coordinates/loop_elimination.h"

namespace linkwork {

/// Whether an elimination has found rows that depend on others, beside those that are known beforehand to do no work: these cost
/// no digits, and need no second look.
inline bool has_dependent_rows(const LoopElimination& loops, int rows_in_force) {
  return loops.rank().rank < std::min(loops.working_rows(), rows_in_force);
}

}  // namespace linkwork
