#pragma once

#include <vector>

#include "linkwork/dynamics/closure_rows.h"

namespace linkwork {

/// The constraints at one state, a row each: phi, rate = A v - u, and A vdot = b. A itself stays in its natural form, as force
/// columns on the tree, one group a closure.
struct ConstraintTerms {
  explicit ConstraintTerms(const Model& model);

  VecX<double> phi;
  VecX<double> rate;
  VecX<double> u;  // -d phi/dt at fixed q
  VecX<double> b;
  std::vector<ForceColumns> groups;
  std::vector<int> first_rows;            // of the groups
  std::vector<ClosureRows> closure_rows;  // by closure between frames

  int rows() const { return static_cast<int>(phi.size()); }
};

}  // namespace linkwork
