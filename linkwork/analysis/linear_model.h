#pragma once

#include <vector>

#include "linkwork/analysis/reduced_motion.h"
#include "linkwork/analysis/results.h"

namespace linkwork {

/// About a state that meets the constraints. Derivatives are exact; those of models with forces or sensors of a program's own are
/// central differences of fourth order along states that meet the constraints, with errors near 1e-11 of the largest terms.
enum class Derivatives { kExact, kDifferences };
LinearModel linearize(ReducedMotion& motion, Derivatives by = Derivatives::kExact);
/// The same without eigenvalues.
LinearModel linear_terms(ReducedMotion& motion, Derivatives by = Derivatives::kExact);

/// Its A alone.
MatX<double> state_matrix(ReducedMotion& motion);

/// Of a linear model about rest: one of each pair of eigenvalues, ascending. With a count, the lowest so many, by iteration.
std::vector<Mode> find_modes(ReducedMotion& motion, const LinearModel& linear, int count = 0);

}  // namespace linkwork
