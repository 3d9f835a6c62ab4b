#pragma once

#include "linkwork/formulations/dense_terms.h"

namespace linkwork {

/// Accelerations from a particular one and a basis of the motions that the constraints leave free. Velocities are measured in
/// units of 1/sqrt(M_jj) and rows in units of their scale, so that metres and radians compare: with W and S the diagonal
/// matrices of these units, vdot = W y, S A W y = S b, W M W y = W (tau - c) + (S A W)' S^-1 lambda.
class NullSpace {
 public:
  /// The scaled terms.
  void update(System& system);
  const DenseTerms& terms() const { return terms_; }
  DenseTerms& terms() { return terms_; }
  const MatX<double>& rows() const { return rows_; }  // S A W
  const VecX<double>& rhs() const { return rhs_; }    // S b

  /// (1)  y = y_p + Z (Z' M Z)^-1 Z' (f - M y_p)
  /// (2)  A' lambda = M y - f, returned: the force of the constraints in the scaled system
  /// A motion with neither inertia nor constraint is trouble, and named.
  template <class Basis>
  Status solve(const System& system, const VecX<double>& y_p, const Basis& Z, VecX<double>& vdot) {
    needed_ = force_;
    needed_.noalias() -= mass_ * y_p;
    reduced_rhs_.noalias() = Z.transpose() * needed_;
    MZ_.noalias() = mass_ * Z;
    reduced_mass_.noalias() = Z.transpose() * MZ_;
    factor_.compute(reduced_mass_);
    if (!is_regular()) return {name_massless(system, Z)};
    factor_.solveInPlace(reduced_rhs_);
    y_ = y_p;
    y_.noalias() += Z * reduced_rhs_;
    vdot = y_.cwiseProduct(terms_.velocity_unit());
    return {};
  }
  /// (2), after solve().
  const VecX<double>& constraint_force() {
    needed_.noalias() = mass_ * y_;
    needed_ -= force_;
    return needed_;
  }

 private:
  bool is_regular() const;
  std::string name_massless(const System& system, const MatX<double>& Z) const;

  DenseTerms terms_;
  MatX<double> rows_, mass_, MZ_, reduced_mass_;
  VecX<double> rhs_, force_, needed_, reduced_rhs_, y_;
  Eigen::LLT<MatX<double>> factor_;
};

}  // namespace linkwork
