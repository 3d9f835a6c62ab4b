#pragma once

#include "linkwork/integrators/tableau.h"
#include "linkwork/spatial/vector.h"

namespace linkwork {

/// The largest frequency, in radians per step, for which all springs up to that frequency stay stable under steps of a method,
/// with dampers in proportion to the springs: `damping` times the critical ones at the largest frequency.
double reach(const Tableau& method, double damping);

/// Whether steps of a method follow y' = J y where it is fast: nothing grows there that does not grow in truth.
bool follows(const Tableau& method, const MatX<double>& J, double step);

/// Virtual springs and dampers in place of rows with the inverse inertia W: phidd = -W (K phi + C phid). Explicit methods follow
/// that with short steps only.
struct VirtualSprings {
  MatX<double> W;
  VecX<double> stiffness, damping;  // by row, for steps of `step`
  double step;
  std::vector<char> follows_step;  // rows whose springs are made for the step: with twice the step a quarter as stiff

  /// A bound of how fast they are, in 1/s: at least the rates of the fastest dampers and springs.
  double strength() const;
  /// Where they rest if the rows would accelerate by so much without them.
  VecX<double> deflection(const VecX<double>& unforced) const;
  /// Whether steps of a method do not blow it up. `scale` multiplies the stiffness that does not follow the step, its root the
  /// damping.
  bool is_stable(const Tableau& method, double with_step, double scale = 1.0) const;
  /// The longest step that does not, to a few per cent, not above `step`.
  double longest_step(const Tableau& method) const;
  /// The largest scale of the stiffness for which the given step does not, likewise at most 1.
  double largest_scale(const Tableau& method, double with_step) const;
};

}  // namespace linkwork
