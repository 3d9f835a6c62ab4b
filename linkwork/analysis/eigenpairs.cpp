#include "linkwork/analysis/eigenpairs.h"

#include <Eigen/Eigenvalues>

namespace linkwork {

Eigenpairs all_eigenpairs(const MatX<double>& A) {
  const Eigen::EigenSolver<MatX<double>> solver(A);
  return {solver.eigenvalues(), solver.eigenvectors(), solver.eigenvalues().cwiseAbs().maxCoeff()};
}

}  // namespace linkwork
