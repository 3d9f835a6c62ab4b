#pragma once

#include <span>
#include <vector>

#include "linkwork/dynamics/system.h"

namespace linkwork {

/// What forces, relations and inputs do in time of their own accord. Integrators that choose their steps know it at the instants
/// they evaluate only, and may step over a pulse between two of them; here it is looked at as closely as fixed steps would.
class TimeLaws {
 public:
  explicit TimeLaws(const Model& model);

  bool empty() const { return laws_.empty(); }
  /// Where a step from t must end so that no law does anything on the way that its values and rates at both ends do not tell:
  /// `until`, or some time before it, but not before the next of the instants that are looked at. What laws depend on beside time
  /// is as it is in the system.
  double seen_until(System& system, double t, double until);

 private:
  bool is_told_by_ends(const BoundExpression& law, const double* held, double t, double until, double spacing);
  Jet at(const BoundExpression& law, const double* held, double t);

  std::vector<const BoundExpression*> laws_;
  double look_every_;  // s
  std::vector<Jet> slots_;
};

}  // namespace linkwork
