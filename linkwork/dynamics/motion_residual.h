#pragma once

#include <memory>

#include "linkwork/dynamics/motion_gradient.h"
#include "linkwork/dynamics/system.h"
#include "linkwork/linalg/sparse_matrix.h"
#include "linkwork/tree/rnea_derivatives.h"

namespace linkwork {

/// First derivatives of the equations of motion at one state. Positions change on the manifold, as displace() does it.
struct Linearization {
  SparseMatrix K, D, M;  // of the residual: by displacement, velocity, acceleration
  SparseMatrix A, G;     // by displacement: of phi, and of A v - u
};

/// The equations of motion as a residual, r = M vdot + c - tau - A' lambda, for methods that solve for a whole step at once.
class MotionResidual {
 public:
  explicit MotionResidual(const Model& model);

  /// The system is then up to date with the state, and has phi and A v - u; the multipliers' forces stand among the applied ones.
  void evaluate(System& system, const State& state, const VecX<double>& vdot, const VecX<double>& lambda, VecX<double>& r);
  /// Exact derivatives (MotionGradient). Inertial terms and A are so in any case; applied and constraint forces, and G, are taken
  /// by central differences over groups of coordinates that do not meet in any force, where these groups are so few that this is
  /// cheaper, or where forces are not known to be differentiable. Returns how often the forces were evaluated.
  int linearize(System& system, const State& state, const VecX<double>& vdot, const VecX<double>& lambda, Linearization& at);

 private:
  std::vector<std::pair<int, int>> force_pattern(const Model& model) const;
  void make_patterns(const Model& model);
  void differentiate(System& system, const State& state, const VecX<double>& vdot, const VecX<double>& lambda, Linearization& at);
  void take_patterns(Linearization& at) const;
  static void add_jacobian(System& system, SparseMatrix& A);
  void evaluate_forces(System& system, const State& state, const VecX<double>& lambda, VecX<double>& force);
  void add_multipliers(System& system, const VecX<double>& lambda) const;
  void set_exact_part(System& system, const State& state, const VecX<double>& vdot, Linearization& at);
  void difference(System& system, const State& state, const VecX<double>& lambda, const std::vector<int>& group, bool by_velocity,
                  Linearization& at);

  InverseDynamicsDerivatives inertial_;
  std::unique_ptr<MotionGradient> gradient_;  // if it is used
  SparseMatrix square_, rows_;                // patterns, values unused
  std::vector<std::vector<int>> groups_;
  bool has_forces_ = false;
  bool has_velocity_forces_ = false;
  State probe_;
  VecX<double> change_, step_, force_, force_there_, rate_there_;
};

/// What a change of the displacement moves the configuration by, once the displacement itself is made: displaced(q, d + e) =
/// displaced(displaced(q, d), T e). T is 1 but for coordinates that turn in space; here the columns of a matrix times T.
void times_displacement_tangent(const Tree& tree, const VecX<double>& displacement, SparseMatrix& matrix);

}  // namespace linkwork
