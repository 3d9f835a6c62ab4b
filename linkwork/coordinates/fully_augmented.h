#pragma once

#include "linkwork/model/model.h"
#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// The same mechanism with every body free and every joint a closure ([Jain2012], FA): M is block diagonal, A large and sparse.
/// Joint coordinates are read off relative motions, and the closures of the original keep their rows, first in order.
Model fully_augmented(const Model& model);

/// Coordinates of the free bodies when the original's tree is as in `work` (positions and velocities).
void free_body_state(const Model& original, TreeWork<double>& work, double* q, double* v);

}  // namespace linkwork
