#pragma once

#include <span>
#include <vector>

#include "linkwork/dynamics/constraint_layout.h"

namespace linkwork {

/// The constraints at one state, a row each: phi, rate = A v - u, and A vdot = b. A itself stays in its natural form, as force
/// columns on the tree, one group per closure.
struct ConstraintTerms {
  explicit ConstraintTerms(const Model& model);

  std::shared_ptr<const ConstraintLayout> layout;
  std::span<const int> first_rows;            // of the groups
  std::span<const ClosureRows> closure_rows;  // by closure between frames
  VecX<double> phi;
  VecX<double> rate;
  VecX<double> u;  // -d phi/dt at fixed q
  VecX<double> b;
  std::vector<ForceColumns> groups;

  int rows() const { return static_cast<int>(phi.size()); }
};

}  // namespace linkwork
