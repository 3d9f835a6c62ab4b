#pragma once

#include "linkwork/dynamics/formulation.h"

namespace linkwork {

/// Drift control: acts on the right-hand side b, on the accelerations, on the state after a step, or not at all.
class Stabilization {
 public:
  struct Traits {
    bool holds_positions = false;   // after each step phi = 0 to the constraint tolerance or better,
    bool holds_velocities = false;  // and A v = u
  };

  virtual ~Stabilization() = default;
  virtual void adjust(ConstraintTerms&) const {}
  virtual void correct(System&, Solution&) {}
  /// Closely: to rounding, where the tolerance is not good enough. If it updates the system, it leaves it with the positions of
  /// the state as it is then, and with its velocities unless it changes these last of all.
  virtual Status project(System&, State&, bool /*closely*/) { return {}; }
};

}  // namespace linkwork
