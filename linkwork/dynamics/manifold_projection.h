#pragma once

#include <limits>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/dynamics/position_rows.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/dynamics/system.h"
#include "linkwork/linalg/row_basis.h"

namespace linkwork {

/// What "smallest change" means: dv' M dv, or the sum of squares of the coordinates in their units.
enum class Metric { kMass, kIdentity };

/// Moves states onto the constraints by the smallest change: Gauss-Newton on phi = 0, then A v = u. With the generalized inverse
/// A+ = W^-1 A' (A W^-1 A')^+ of the metric W, dq = -A+ phi and dv = -A+ (A v - u), [Wu1997] eq. 2.46-2.53.
class ManifoldProjection {
 public:
  explicit ManifoldProjection(const Model& model, Metric metric = Metric::kMass);

  /// Nothing is done to a state whose errors are below `good_enough`. Iterates until no better. The system is then up to date
  /// with the positions, and its phi is what could not be met.
  void project(System& system, State& state, double good_enough);
  /// Its two halves. The system is up to date on entry of the second.
  void project_position(System& system, State& state, double good_enough);
  void project_velocity(System& system, State& state, double good_enough);

  /// One correction; the system is up to date on entry. They change the state, not the system. Returns the largest change of a
  /// coordinate.
  double correct_position(System& system, State& state, double fraction = 1.0);
  void correct_velocity(System& system, State& state);
  /// The same for accelerations, with the multipliers that belong to the change: right in the mass metric only, [Wu1997]
  /// eq. 2.54.
  void correct_acceleration(System& system, VecX<double>& vdot, VecX<double>& lambda);

 private:
  void respond(System& system, const VecX<double>& error, bool positions = false);  // change_ = A+ error
  void respond_by_geometry(System& system, const VecX<double>& error, bool positions);
  bool is_met(System& system, std::span<const ForceColumns> groups, const VecX<double>& error);
  bool answers_to_rates(const System& system) const;

  static constexpr double kFar = std::numeric_limits<double>::infinity();

  Metric metric_;
  PositionRows position_rows_;
  LoopElimination loops_;
  RowRank rank_;
  RowBasis basis_;
  MatX<double> rows_;
  std::vector<char> dependent_;
  VecX<double> lambda_, change_, error_, missed_;
  double moved_ = kFar;  // by so much positions differ from those for which loops_ is factored
};

}  // namespace linkwork
