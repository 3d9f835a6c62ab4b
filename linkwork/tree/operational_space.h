#pragma once

#include <vector>

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// The inverse inertia seen at frames fixed to nodes: row block i, column block j is the spatial acceleration of frame i (in
/// its own axes) under a unit wrench on frame j (in its axes). By recursion, never through M^-1. Needs aba_inertias().
MatX<double> operational_space_inverse_inertia(const Tree& tree, const TreeWork<double>& work, const std::vector<int>& nodes,
                                               const std::vector<Pose<double>>& frames);

}  // namespace linkwork
