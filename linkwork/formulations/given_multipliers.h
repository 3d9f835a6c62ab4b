#pragma once

#include <string_view>

#include "linkwork/dynamics/formulation.h"

namespace linkwork {

/// vdot = M^-1 (tau - c + A' lambda) by the articulated-body recursion, for formulations that know lambda beforehand. Trouble
/// names the formulation.
Status accelerate(System& system, const VecX<double>& lambda, std::string_view formulation, VecX<double>& vdot);

/// Rank of the constraints at the present state. After accelerate(); allocates.
Rank constraint_rank(System& system);

}  // namespace linkwork
