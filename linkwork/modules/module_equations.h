#pragma once

#include "linkwork/dynamics/status.h"
#include "linkwork/spatial/vector.h"

namespace linkwork {

/// Equations of motion of a module that shows them, at the state of its last kinematics():
///   M vdot = force + A' lambda + J' Q,   A vdot = b,   ports move with J v and accelerate with J vdot + Jdot v.
struct ModuleEquations {
  virtual ~ModuleEquations() = default;

  virtual int velocity_count() const = 0;
  virtual int row_count() const = 0;  // of A: the module's own constraints
  /// Fills the matrices below. Trouble: they are not finite.
  virtual Status show() = 0;
  /// Where velocities begin in a state, and accelerations in its rate.
  virtual int first_velocity() const = 0;
  /// Moves positions along a small displacement, as velocities are measured.
  virtual void displace(const VecX<double>& change, VecX<double>& x) const = 0;
  /// The rate of the state, given what show() leaves open; power of Q included.
  virtual Status rates(const VecX<double>& vdot, const VecX<double>& lambda, const VecX<double>& Q, VecX<double>& xdot) = 0;

  MatX<double> M;
  VecX<double> force;
  MatX<double> A, A_bounds;  // and bounds of its entries, for rank decisions
  VecX<double> phi, rate, u, b;
  MatX<double> J;
  VecX<double> Jdot_v;
  VecX<double> v;
};

}  // namespace linkwork
