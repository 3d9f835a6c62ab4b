#pragma once

#include "linkwork/coordinates/loop_elimination.h"
#include "linkwork/dynamics/motion_gradient.h"

namespace linkwork {

/// Exact derivatives of the constrained accelerations and multipliers, d(vdot, lambda) / d(q, v, u, z):
///
///   M dvdot - A' dlambda = -d(M vdot + c - tau - A' lambda),  A dvdot = -d(A vdot - b),
///
/// with the right-hand sides of MotionGradient, whose columns these have too, and the factors of one elimination of the loops for
/// all of them: O(N) per column. Where that elimination does not answer (bodies without inertia, masses that differ by decades)
/// the same system is factored as a dense one. Rows that depend on others keep lambda = 0, so that off the constraints
/// derivatives are those of the rows that are left.
class AccelerationDerivatives {
 public:
  explicit AccelerationDerivatives(const Model& model);

  /// The system is up to date with the state and its forces, of which the solution has all multipliers.
  [[nodiscard]] Status compute(System& system, const Solution& solution);

  const MotionGradient& gradient() const { return gradient_; }
  MotionGradient& gradient() { return gradient_; }
  const RowMatX& vdot() const { return vdot_; }
  const RowMatX& lambda() const { return lambda_; }
  /// Solves the same system, after compute(): M x = force + A' y, A x = b, with friction that follows its normal force.
  void solve(const RowMatX& force, const RowMatX& b, RowMatX& x, RowMatX& y);
  /// Whether the elimination answered.
  bool by_recursion() const { return by_recursion_; }

 private:
  void solve_at_constant_loads(const RowMatX& force, const RowMatX& b, RowMatX& x, RowMatX& y);
  void factor_dense();

  MotionGradient gradient_;
  LoopElimination loops_;
  System* system_ = nullptr;
  bool by_recursion_ = true;
  std::vector<int> rows_;  // of the dense system
  Eigen::PartialPivLU<MatX<double>> dense_;
  std::vector<char> dependent_;
  RowMatX vdot_, lambda_;
  RowMatX load_x_, load_y_;  // what the loads of friction do
  MatX<double> load_response_;
};

}  // namespace linkwork
