#pragma once

#include "linkwork/dynamics/system.h"
#include "studies/study.h"

namespace linkwork::studies::generalized_inverse {

/// The constant speed driver in an evaluation's three phases: its matrices are updated, accelerations solved for, and integrated.
class Driver {
 public:
  /// In the coordinates of its joints, or with every body free, as matrices of some size have it.
  Driver(const StudyContext& context, bool free_bodies);

  int n() const { return model_.tree.nv; }
  int m() const { return model_.row_count(); }
  /// M, A, b and f = tau - c of the present state, by rows.
  void update();
  const std::vector<double>& M() const { return M_; }
  const std::vector<double>& A() const { return A_; }
  const std::vector<double>& b() const { return b_; }
  const std::vector<double>& f() const { return f_; }
  /// The rows of A L^-T, M = L L', as columns.
  MatX<double> weighted_rows() const;
  /// A step of Euler's method.
  void integrate(const std::vector<double>& a, double h);

 private:
  Model model_;
  State state_;
  System system_;
  std::vector<double> M_, A_, b_, f_;
};

}  // namespace linkwork::studies::generalized_inverse
