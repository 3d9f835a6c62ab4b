#pragma once

#include "linkwork/dynamics/status.h"
#include "linkwork/dynamics/system.h"

namespace linkwork {

/// Drift control: acts on the right-hand side b, on the state after a step, or not at all.
class Stabilization {
 public:
  struct Traits {};

  virtual ~Stabilization() = default;
  virtual void adjust(ConstraintTerms&) const {}
  virtual Status project(System&, State&) { return {}; }
};

}  // namespace linkwork
