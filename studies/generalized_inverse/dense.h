#pragma once

#include <Eigen/Core>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

// Plain dense algebra on any scalar: every operation is written out, so that counting them is honest. Matrices are row by row.

namespace linkwork::studies {

using Index = Eigen::Index;
template <class S>
using MatrixOf = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class S>
using VectorOf = Eigen::Matrix<S, Eigen::Dynamic, 1>;

template <class S>
S dot(const S* a, const S* b, Index n) {
  S sum(0.0);
  if (n == 0) return sum;
  sum = a[0] * b[0];
  for (Index k = 1; k < n; ++k) sum += a[k] * b[k];
  return sum;
}

/// y += factor x
template <class S>
void add_scaled(S* y, S factor, const S* x, Index n) {
  for (Index k = 0; k < n; ++k) y[k] += factor * x[k];
}

template <class S>
const S* row(const MatrixOf<S>& matrix, Index i) {
  return matrix.data() + i * matrix.cols();
}
template <class S>
S* row(MatrixOf<S>& matrix, Index i) {
  return matrix.data() + i * matrix.cols();
}

/// A x
template <class S>
VectorOf<S> times(const MatrixOf<S>& A, const VectorOf<S>& x) {
  VectorOf<S> y(A.rows());
  for (Index i = 0; i < A.rows(); ++i) y(i) = dot(row(A, i), x.data(), A.cols());
  return y;
}

/// A' x
template <class S>
VectorOf<S> transposed_times(const MatrixOf<S>& A, const VectorOf<S>& x) {
  VectorOf<S> y(A.cols());
  for (Index k = 0; k < A.cols(); ++k) y(k) = S(0.0);
  for (Index i = 0; i < A.rows(); ++i) add_scaled(y.data(), x(i), row(A, i), A.cols());
  return y;
}

/// A B'
template <class S>
MatrixOf<S> times_transposed(const MatrixOf<S>& A, const MatrixOf<S>& B) {
  MatrixOf<S> C(A.rows(), B.rows());
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j < B.rows(); ++j) C(i, j) = dot(row(A, i), row(B, j), A.cols());
  return C;
}

/// A B', known to be symmetric: half of it is computed.
template <class S>
MatrixOf<S> symmetric_product(const MatrixOf<S>& A, const MatrixOf<S>& B) {
  MatrixOf<S> C(A.rows(), B.rows());
  for (Index i = 0; i < A.rows(); ++i)
    for (Index j = 0; j <= i; ++j) C(i, j) = C(j, i) = dot(row(A, i), row(B, j), A.cols());
  return C;
}

/// The lower factor of M = L L'. Nothing if a pivot is not positive.
template <class S>
std::optional<MatrixOf<S>> cholesky(MatrixOf<S> M) {
  using std::sqrt;
  for (Index i = 0; i < M.rows(); ++i) {
    for (Index j = 0; j < i; ++j) {
      if (j > 0) M(i, j) -= dot(row(M, i), row(M, j), j);
      M(i, j) /= M(j, j);
    }
    if (i > 0) M(i, i) -= dot(row(M, i), row(M, i), i);
    if (!(static_cast<double>(M(i, i)) > 0.0)) return std::nullopt;
    M(i, i) = sqrt(M(i, i));
  }
  return M;
}

/// L x = b, in place.
template <class S>
void solve_lower(const MatrixOf<S>& L, S* x) {
  for (Index i = 0; i < L.rows(); ++i) {
    if (i > 0) x[i] -= dot(row(L, i), x, i);
    x[i] /= L(i, i);
  }
}

/// L' x = b, in place.
template <class S>
void solve_lower_transposed(const MatrixOf<S>& L, S* x) {
  for (Index i = L.rows(); i-- > 0;) {
    x[i] /= L(i, i);
    for (Index k = 0; k < i; ++k) x[k] -= L(i, k) * x[i];
  }
}

/// Gaussian elimination with partial pivoting. Nothing if a pivot is zero.
template <class S>
class Lu {
 public:
  static std::optional<Lu> factor(MatrixOf<S> A) {
    Lu lu;
    lu.LU_ = std::move(A);
    return lu.eliminate() ? std::optional<Lu>(std::move(lu)) : std::nullopt;
  }

  /// A x = b, in place.
  void solve(S* x) const {
    const Index n = LU_.rows();
    for (Index i = 0; i < n; ++i) std::swap(x[i], x[swaps_[static_cast<std::size_t>(i)]]);
    for (Index i = 1; i < n; ++i) x[i] -= dot(row(LU_, i), x, i);
    for (Index i = n; i-- > 0;) {
      if (i + 1 < n) x[i] -= dot(row(LU_, i) + i + 1, x + i + 1, n - i - 1);
      x[i] /= LU_(i, i);
    }
  }

 private:
  bool eliminate() {
    const Index n = LU_.rows();
    for (Index k = 0; k < n; ++k) {
      Index best = k;
      for (Index i = k + 1; i < n; ++i)
        if (std::abs(static_cast<double>(LU_(i, k))) > std::abs(static_cast<double>(LU_(best, k)))) best = i;
      swaps_.push_back(best);
      LU_.row(k).swap(LU_.row(best));
      if (static_cast<double>(LU_(k, k)) == 0.0) return false;
      for (Index i = k + 1; i < n; ++i) {
        LU_(i, k) /= LU_(k, k);
        add_scaled(row(LU_, i) + k + 1, -LU_(i, k), row(LU_, k) + k + 1, n - k - 1);
      }
    }
    return true;
  }

  MatrixOf<S> LU_;
  std::vector<Index> swaps_;
};

/// The reflector H = 1 - beta v v' that maps x to a multiple of the first unit vector; v replaces x, the image's length is given.
template <class S>
struct Reflector {
  S beta{0.0};
  S image{0.0};
};

template <class S>
Reflector<S> make_reflector(S* x, Index n) {
  using std::sqrt;
  const S length = sqrt(dot(x, x, n));
  if (static_cast<double>(length) == 0.0) return {};
  const S image = static_cast<double>(x[0]) > 0.0 ? -length : length;
  x[0] -= image;
  return {S(-1.0) / (image * x[0]), image};
}

}  // namespace linkwork::studies
