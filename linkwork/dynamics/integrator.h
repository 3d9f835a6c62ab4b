#pragma once

#include <vector>

#include "linkwork/dynamics/differential_equation.h"
#include "linkwork/dynamics/formulation.h"

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

  /// Whether it chooses its own steps by the tolerances of the settings. step() then goes as far as it likes, but not beyond h,
  /// and `to` says how far.
  virtual bool controls_step() const { return false; }
  /// Whether steps must end at the times of output rows: there is nothing to interpolate with.
  virtual bool stops_at_rows() const { return false; }
  /// Whether a step can be made again, or in pieces.
  virtual bool can_repeat() const { return true; }
  /// Steps tried in vain so far, by one that controls them.
  virtual long rejected_steps() const { return 0; }

  /// From `from`, whose rates are given, over h. `from` and `to` must differ. The equations were last evaluated at `from`.
  virtual Status step(DifferentialEquation& equations, const Moment& from, const VecX<double>& rates, double h, Moment& to) = 0;
  /// The equations change here: what it remembers of earlier steps is of no use.
  virtual void forget() {}
  /// Estimated error of the last step. Only if estimates_error().
  const VecX<double>& error() const { return error_; }
  /// Whether interpolate() gives the solution at a time inside the last step made. Otherwise a cubic Hermite polynomial does.
  virtual bool interpolates() const { return false; }
  virtual void interpolate(double /*t*/, Moment& /*at*/) const {}

 protected:
  VecX<double> error_;
};

}  // namespace linkwork
