#pragma once

#include "linkwork/integrators/tableau.h"
#include "linkwork/spatial/vector.h"

namespace linkwork {

/// Virtual springs and dampers in place of rows with the inverse inertia W: phidd = -W (K phi + C phid). Explicit methods follow
/// that with short steps only.
struct VirtualSprings {
  MatX<double> W;
  VecX<double> stiffness, damping;  // by row

  /// A bound of how fast they are, in 1/s: at least the rates of the fastest dampers and springs.
  double strength() const;
  /// Whether steps of a method do not blow it up. `scale` multiplies the stiffness, its root the damping.
  bool is_stable(const Tableau& method, double step, double scale = 1.0) const;
  /// The longest step that does not, to a few per cent, not above the given one.
  double longest_step(const Tableau& method, double step) const;
  /// The largest scale of the stiffness for which the given step does not, likewise at most 1.
  double largest_scale(const Tableau& method, double step) const;
};

}  // namespace linkwork
