#pragma once

#include "linkwork/dynamics/system.h"
#include "linkwork/tree/loop_elimination.h"

namespace linkwork {

/// Moves states onto the constraints by the smallest change in the mass metric: Gauss-Newton on phi = 0, then A v = u.
class ManifoldProjection {
 public:
  explicit ManifoldProjection(const Model& model);

  /// Nothing is done to a state whose errors are below `good_enough`. Iterates until no better. The system is then up to date
  /// with the positions, and its phi is what could not be met.
  void project(System& system, State& state, double good_enough);

  /// The position and velocity parts by themselves; the system is up to date on entry. They change the state, not the system.
  /// Returns the largest change of a coordinate.
  double correct_position(System& system, State& state, double fraction = 1.0);
  void correct_velocity(System& system, State& state);

 private:
  void respond(System& system, const VecX<double>& error);  // change_ = M^-1 A' (A M^-1 A')^+ error

  LoopElimination loops_;
  VecX<double> lambda_, change_;
};

}  // namespace linkwork
