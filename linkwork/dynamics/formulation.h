#pragma once

#include <vector>

#include "linkwork/dynamics/status.h"
#include "linkwork/dynamics/system.h"
#include "linkwork/linalg/rank.h"

namespace linkwork {

/// Constrained accelerations, multipliers, and what was found out about the constraint rows.
struct Solution {
  explicit Solution(const Model& model)
      : vdot(VecX<double>::Zero(model.tree.nv)),
        lambda(VecX<double>::Zero(model.row_count())),
        dependent(static_cast<std::size_t>(model.row_count()), 0) {}

  VecX<double> vdot;
  VecX<double> lambda;
  Rank rank;
  std::vector<char> dependent;  // by row: 1 if it adds nothing to the others at this state
  double inconsistency = 0.0;   // largest acceleration a dependent row asks for in vain
};

/// One way to solve M vdot + c = tau + A' lambda, A vdot = b. Owns its scratch; allocates nothing after the first call.
class Formulation {
 public:
  virtual ~Formulation() = default;
  /// The system is up to date, forces included, and terms().b adjusted by the stabilization.
  virtual Status solve(System& system, Solution& solution) = 0;
};

}  // namespace linkwork
