#pragma once

#include <vector>

#include "linkwork/analysis/reduced_motion.h"
#include "linkwork/analysis/results.h"

namespace linkwork {

/// About a state that meets the constraints. By central differences of fourth order along states that meet them exactly: errors
/// are near 1e-11 of the largest terms.
LinearModel linearize(ReducedMotion& motion);

/// Of a linear model about rest: one of each pair of eigenvalues, ascending.
std::vector<Mode> find_modes(ReducedMotion& motion, const LinearModel& linear);

}  // namespace linkwork
