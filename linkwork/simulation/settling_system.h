#pragma once

#include "linkwork/dynamics/differential_equation.h"

namespace linkwork {

/// What some systems can do beside MovingSystem: move the end of a step back onto its constraints and evaluate it, both at once.
class SettlingSystem {
 public:
  virtual ~SettlingSystem() = default;

  /// Whether it can; else it is asked for one after the other.
  virtual bool settles() const = 0;
  virtual Status settle(Moment& at, VecX<double>& rates) = 0;
};

}  // namespace linkwork
