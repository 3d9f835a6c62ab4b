#pragma once

#include <complex>

#include "linkwork/spatial/vector.h"

namespace linkwork {

struct Eigenpairs {
  Eigen::VectorXcd values;
  Eigen::MatrixXcd vectors;  // columns
  double largest = 0.0;      // of the moduli of all eigenvalues of the matrix; about
};

Eigenpairs all_eigenpairs(const MatX<double>& A);

/// At least the `count` eigenvalues of least modulus, some more, and both of each conjugate pair, by Arnoldi's method on the
/// inverse of A - sigma [Lehoucq1998], with a real sigma where A itself is singular, as of machines that can drift away: O(n^3 /
/// 3) for one factorization, and the rest O(n^2) per vector. Where the iteration does not converge, all eigenpairs are computed.
Eigenpairs lowest_eigenpairs(const MatX<double>& A, int count);

}  // namespace linkwork
