#pragma once

#include <optional>
#include <span>

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/dynamics/system.h"

namespace linkwork {

/// What a solution misses of M vdot + c = tau + A' lambda. Recursions and factorizations alike lose digits where light bodies
/// carry heavy ones: what is left of an inertia after a joint gives way is a small difference of large numbers. The forces
/// themselves are not: they are added up body by body, from accelerations. So what they miss is solved for once more,
///   M x = tau + A' lambda - c - M vdot + A' y,   A x = r,   vdot <- vdot + x,   lambda <- lambda + y,
/// where r is 0, or what rows miss.
class ForceBalance {
 public:
  explicit ForceBalance(const Model& model);

  /// Whether masses differ so much that any solution may miss something.
  bool is_needed() const { return needed_; }
  /// What rows miss is solved for too, unless the solution meets them as well as it can.
  enum class Rows { kMet, kMissed };
  void settle(System& system, VecX<double>& vdot, VecX<double>& lambda, Rows rows = Rows::kMet);
  /// The same for impulses: M x = tau + A' lambda, with the forces in the system's work taken as impulses and x, a jump of the
  /// velocities, that meets the rows.
  void settle_impulses(System& system, VecX<double>& x, VecX<double>& lambda);
  /// M vdot + c - tau - A' lambda.
  const VecX<double>& missed(System& system, const VecX<double>& vdot, const VecX<double>& lambda);
  /// M x - tau - A' lambda.
  const VecX<double>& missed_impulses(System& system, const VecX<double>& x, const VecX<double>& lambda);
  /// What was just missed, as what it would do to each joint with all else at rest: the largest, in units. After an inward pass.
  double missed_motion(const System& system);
  /// b - A vdot at most, relative to the largest of all rows' terms, each row in its unit. After missed() of the same solution.
  /// Rows marked in `left_out` may miss anything.
  double missed_by_rows(System& system, const VecX<double>& vdot, std::span<const char> left_out = {});

 private:
  enum class Kind { kForces, kImpulses };
  void settle(System& system, VecX<double>& vdot, VecX<double>& lambda, Rows rows, Kind kind, double size);
  const VecX<double>& missed(System& system, const VecX<double>& vdot, const VecX<double>& lambda, Kind kind);
  bool correct(System& system);
  void answer(const Tree& tree, const TreeWork<double>& work, int node);

  bool needed_ = false;
  std::optional<LoopElimination> loops_;
  VecX<double> missed_, change_, added_, rows_, sizes_, tau_, given_vdot_, given_lambda_;
  std::vector<Wrench<double>> applied_;
};

}  // namespace linkwork
