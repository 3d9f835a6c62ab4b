#pragma once

#include <Eigen/Cholesky>
#include <Eigen/QR>

#include "linkwork/modules/module_equations.h"
#include "linkwork/modules/workshop.h"

namespace linkwork {

/// A module seen through the tangent of an implicit step, [Tseng2001] eq. GL-DYN: with q += p dq and v += r dv for a change of
/// the accelerations, its equations M a = f(q, v) + A' lambda + J' Q become
///   (1)  Kbar a = f + (Kbar - M) a0 + A' lambda + J' Q,  A a = b,  Kbar = M - p df/dq - r df/dv
/// about the accelerations a0. Kbar is taken symmetric: what is lost by that costs iterations only.
class ModuleTangent {
 public:
  /// At a state of the module; p and r are known to be the same until this is called again.
  void update(WorkingModule& module, double t, const VecX<double>& x, double p, double r);
  /// (1) as a response of the ports, at the state that the module was last asked about; `accelerations` are a0.
  void respond(WorkingModule& module, const VecX<double>& accelerations);
  /// The accelerations with the forces module.Q.
  VecX<double> advance(const WorkingModule& module) const;

 private:
  MatX<double> change_;  // Kbar - M
  Eigen::LDLT<MatX<double>> Kbar_;
  Eigen::CompleteOrthogonalDecomposition<MatX<double>> rows_;  // of A Kbar^-1 A'
  MatX<double> A_, J_, KA_, KJ_;                               // KA: Kbar^-1 A', KJ: Kbar^-1 J'
  VecX<double> free_, b_;
};

}  // namespace linkwork
