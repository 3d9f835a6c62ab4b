#pragma once

#include "linkwork/dynamics/status.h"
#include "linkwork/spatial/vector.h"

namespace linkwork {

class EquationsOfMotion;

/// A time, and the numbers that are integrated, there.
struct Moment {
  double t = 0.0;
  VecX<double> y;
};

/// What an integrator steps: dy/dt = f(t, y), with the constraints that y must keep to. If ranks share it, each has a part of y;
/// all call the same functions in the same order and get the same answers.
class DifferentialEquation {
 public:
  virtual ~DifferentialEquation() = default;

  /// Rates at an instant, at which everything is then evaluated. Parts of y that are taken for functions of the others are made
  /// so.
  virtual Status evaluate(Moment& at, VecX<double>& rates) = 0;
  /// The same inside a step: near a singular position y may first be moved back onto the constraints.
  virtual Status evaluate_stage(Moment& at, VecX<double>& rates) { return evaluate(at, rates); }
  /// Moves y back onto the constraints, if the drift control does that.
  virtual Status project(Moment& /*at*/) { return {}; }
  /// Brings back what integration leaves only approximately, such as the length of quaternions.
  virtual void normalize(VecX<double>& /*y*/) const {}
  /// Whether all of it is, on all ranks.
  virtual bool is_finite(const VecX<double>& y) { return y.allFinite(); }
  /// An error of a step in units of the tolerances, root mean square: it is good enough below 1.
  virtual double error_norm(const VecX<double>& from, const VecX<double>& to, const VecX<double>& error) = 0;
  /// Whether the constraints were nearly dependent when last evaluated, much more than they were elsewhere.
  virtual bool is_nearly_singular() const { return false; }
  virtual long evaluations() const = 0;

  /// For methods that need more than rates: null if there is no such thing.
  virtual EquationsOfMotion* equations_of_motion() { return nullptr; }
};

}  // namespace linkwork
