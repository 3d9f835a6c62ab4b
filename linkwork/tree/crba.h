#pragma once

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Composite rigid bodies: the dense mass matrix. Needs positions; overwrites the articulated inertias.
template <class S>
void mass_matrix(const Tree& tree, TreeWork<S>& work, MatX<S>& M);

}  // namespace linkwork
