#pragma once

#include <random>
#include <string>

#include "linkwork/dynamics/formulation.h"
#include "linkwork/linalg/ranked_rows.h"

namespace linkwork {

/// (1)  A v = u        velocities
/// (2)  A vdot = b     accelerations, [Wu1997] eq. 4.8: the generalized inverse with M = 1 and no forces
/// and Newton's method for the positions. As a formulation it makes the equations of motion those of kinematics.
class KinematicSolver : public Formulation {
 public:
  explicit KinematicSolver(const Model& model);

  const RankedRows& rows() const { return rows_; }
  /// Evaluates and factors the constraints where they stand.
  void factor(System& system, const State& state);
  /// (1)
  Status prepare(System& system, State& state) override;
  /// (2)
  Status solve(System& system, Solution& solution) override;

  /// How a search for a position ended.
  struct Found {
    bool closed = false;
    double moved = 0.0;  // the largest change of a coordinate, in units of its scale
  };
  /// Newton's method from a good guess: no step may make things worse.
  Found close(System& system, State& state);
  /// The same from far away: limited and shortened steps, from disturbed positions if need be.
  bool search(System& system, State& state);
  /// Why the positions do not close, in words: rows that depend on others and cannot agree with them, or all that are open.
  std::string why_open(const System& system) const;
  /// Whether the mechanism, though held by its drives, can move away along a direction: if so, it comes to rest there and not
  /// back at a double root of its equations, which is what an isolated singular position is.
  bool can_move(System& system, const State& at, const VecX<double>& direction);

 private:
  double step(System& system, State& state, double fraction);
  void descend(System& system, State& state);
  void disturb(State& state, double amplitude, std::mt19937& random);
  double moved(const State& from, const State& to) const;
  Status contradiction(const VecX<double>& residual, double tolerance, const char* level) const;

  const Model& model_;
  double tolerance_;
  VecX<double> scale_;  // by velocity: what a large change of the coordinate is
  RankedRows rows_;
  VecX<double> change_, residual_;
};

}  // namespace linkwork
