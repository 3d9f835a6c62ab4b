#pragma once

#include <sundials/sundials_nvector.h>

#include "linkwork/integrators/shared_equation.h"

namespace linkwork {

/// A vector of SUNDIALS of which each rank has a part: what is done entry by entry is done there, and sums, norms and extremes
/// are those of all ranks, the same bits on any number of them. The equation must last as long.
N_Vector make_shared_vector(SharedEquation& equation, SUNContext context);

}  // namespace linkwork
