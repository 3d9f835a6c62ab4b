#pragma once

#include <span>
#include <utility>
#include <vector>

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// What a few neighbouring forces of a cone problem may be.
struct Cone {
  enum class Kind {
    kHalfLine,  // one, not negative: a contact without friction, or one that slides with the friction in its column
    kFriction,  // the first presses, and `limit` times it bounds the length of the others: Coulomb's cone
    kBall,      // the length of all is at most `limit`: friction under a given load
    kFree       // anything
  };
  Kind kind = Kind::kHalfLine;
  int first = 0;
  int size = 1;
  double limit = 0.0;
};

/// Forces f in the cones and motions m = W f + c that go together: a half-line presses or opens (f >= 0, m >= 0, f m = 0);
/// friction holds (m = 0), slides with the force at its limit and against the motion, or is open (f = 0, m_n > 0).
///
/// Without the correction s of [DeSaxce1998], (s_n = limit |m_t|) these are the conditions for the least f'Wf/2 + (c + s)'f in
/// the cones, which the alternating direction method of multipliers finds whether W is regular or not [Carpentier2024]; s is
/// brought up to date on the way. What it finds is read as a set of states, and the equations of the set are then solved without
/// iteration, by the smallest change of f: nothing of the iteration's tolerance is left, and where forces are not unique they
/// stay in the cones. A set that does not fit is repaired, state by state; the forces of the iteration are taken as they are only
/// where it came to its end and no set fits. W need not be symmetric: columns of contacts that slide hold their friction too. If
/// it is not positive then, there may be no solution, or several (Painleve's paradox).
class ConeProblem {
 public:
  enum class State { kOpen, kHolds, kSlides };

  /// `size`: of a motion that counts; what is smaller by 1e-9 is rounding. Returns whether forces and motions that go together
  /// were found.
  bool solve(const MatX<double>& W, const VecX<double>& c, std::span<const Cone> cones, double size);

  const VecX<double>& force() const { return force_; }
  const VecX<double>& motion() const { return motion_; }
  /// By cone.
  State state(std::size_t cone) const { return states_[cone]; }

 private:
  void scale(const MatX<double>& W, const VecX<double>& c, std::span<const Cone> cones, double size);
  void iterate(int most, int renewal, double penalty);
  bool read_set();
  bool repair_set();
  bool take_iterate();
  bool read_states(double tolerance);
  bool solve_set();
  bool fits(double tolerance) const;
  double force_size() const;
  double misalignment(const Cone& cone) const;
  std::pair<double, State> violation(std::size_t cone) const;

  std::vector<Cone> cones_;  // in scaled forces
  MatX<double> W_;
  VecX<double> c_, scale_;
  double unit_ = 1.0;
  VecX<double> x_, z_, y_, s_;
  double left_ = 0.0;  // of the iteration
  std::vector<State> states_;
  VecX<double> force_, motion_;
};

/// The distribution of forces f + N y that lies deepest in the cones: with the largest least distance from their limits, as a
/// force (f_n; limit f_n - |f_t|; limit - |f|). Returns that distance, at most the largest force: negative if no distribution
/// fits.
double deepest_distribution(const MatX<double>& N, std::span<const Cone> cones, VecX<double>& f);

/// How far f is from the limits of a cone; negative outside.
double depth(const Cone& cone, const VecX<double>& f);

}  // namespace linkwork
