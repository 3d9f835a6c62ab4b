#pragma once

#include "linkwork/dynamics/equations_of_motion.h"

namespace linkwork {

/// One step of a time-stepping method, and the solution inside it.
class Integrator {
 public:
  struct Traits {
    std::vector<Equations> takes{Equations::kAcceleration};
  };

  virtual ~Integrator() = default;
  virtual int order() const = 0;
  /// Whether step() estimates its error, so that the step size can be controlled.
  virtual bool estimates_error() const { return false; }

  /// From `from`, whose rates are given, over h. `from` and `to` must differ.
  virtual Status step(EquationsOfMotion& equations, const State& from, const Derivative& rates, double h, State& to) = 0;
  /// Estimated error of the last step, (q, v) stacked. Only if estimates_error().
  virtual const VecX<double>& error() const { return error_; }
  /// Whether interpolate() gives the solution inside the last step, at from.t + theta h. Otherwise a cubic Hermite polynomial
  /// does.
  virtual bool interpolates() const { return false; }
  virtual void interpolate(double /*theta*/, State& /*at*/) const {}

 protected:
  VecX<double> error_;
};

}  // namespace linkwork
