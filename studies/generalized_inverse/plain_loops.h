#pragma once

#include <cmath>

// The thesis' program for one evaluation of GIGSP, in loops over arrays as one would have written it in C. It is compiled twice,
// with and without the compiler's optimizations, so nothing here may be shared with other files: no library but sqrt.

namespace linkwork::studies::generalized_inverse {

/// M a = f + A' lambda, A a = b: M n x n, A m x n, by rows. work has room for n n + m n + m numbers.
template <int Build>
void gigsp_in_loops(int n, int m, const double* M, const double* A, const double* b, const double* f, double* work, double* a) {
  double *const L = work, *const A1 = L + n * n, *const b1 = A1 + m * n;
  for (int i = 0; i < n; ++i)  // M = L L'
    for (int j = 0; j <= i; ++j) {
      double sum = M[i * n + j];
      for (int k = 0; k < j; ++k) sum -= L[i * n + k] * L[j * n + k];
      L[i * n + j] = i == j ? sqrt(sum) : sum / L[j * n + j];
    }
  for (int r = 0; r < m; ++r) {  // A1 = A L^-T
    b1[r] = b[r];
    for (int i = 0; i < n; ++i) {
      double sum = A[r * n + i];
      for (int k = 0; k < i; ++k) sum -= L[i * n + k] * A1[r * n + k];
      A1[r * n + i] = sum / L[i * n + i];
    }
  }
  for (int r = 0; r < m; ++r) {  // Gram-Schmidt, b carried along; rows that vanish stay zero
    double length = 0.0, left = 0.0;
    for (int i = 0; i < n; ++i) length += A1[r * n + i] * A1[r * n + i];
    for (int p = 0; p < r; ++p) {
      double share = 0.0;
      for (int i = 0; i < n; ++i) share += A1[p * n + i] * A1[r * n + i];
      for (int i = 0; i < n; ++i) A1[r * n + i] -= share * A1[p * n + i];
      b1[r] -= share * b1[p];
    }
    for (int i = 0; i < n; ++i) left += A1[r * n + i] * A1[r * n + i];
    const double factor = left > 1e-10 * length ? 1.0 / sqrt(left) : 0.0;
    for (int i = 0; i < n; ++i) A1[r * n + i] *= factor;
    b1[r] *= factor;
  }
  for (int i = 0; i < n; ++i) {  // a = L^-1 f + A1' (b1 - A1 L^-1 f), then a <- L^-T a
    double sum = f[i];
    for (int k = 0; k < i; ++k) sum -= L[i * n + k] * a[k];
    a[i] = sum / L[i * n + i];
  }
  for (int r = 0; r < m; ++r) {
    double missing = b1[r];
    for (int i = 0; i < n; ++i) missing -= A1[r * n + i] * a[i];
    for (int i = 0; i < n; ++i) a[i] += missing * A1[r * n + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) a[i] -= L[k * n + i] * a[k];
    a[i] /= L[i * n + i];
  }
}

using GigspInLoops = void(int n, int m, const double* M, const double* A, const double* b, const double* f, double* work,
                          double* a);
GigspInLoops gigsp_optimized, gigsp_unoptimized;

}  // namespace linkwork::studies::generalized_inverse
