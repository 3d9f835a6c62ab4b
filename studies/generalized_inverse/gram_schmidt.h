#pragma once

#include <Eigen/Core>
#include <cmath>
#include <vector>

// [Wu1997] sections 2.4 and 2.5 on plain matrices of any scalar, so that operations can be counted.

namespace linkwork::studies {

template <class S>
using MatrixOf = Eigen::Matrix<S, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class S>
using VectorOf = Eigen::Matrix<S, Eigen::Dynamic, 1>;

enum class RowKind { kIndependent, kRedundant, kInconsistent };

/// A1 a = b1, equivalent to A a = b: the rows of A1 are orthonormal or zero, so that its generalized inverse is its transpose.
template <class S>
struct Orthonormal {
  MatrixOf<S> A1;
  VectorOf<S> b1;
  std::vector<RowKind> kinds;

  bool is_consistent() const {
    for (const RowKind kind : kinds)
      if (kind == RowKind::kInconsistent) return false;
    return true;
  }
};

/// What is left of a row, relative to the row, when it depends on those before it.
inline constexpr double kRankTolerance = 1e-9;

/// Gram-Schmidt on the rows of A, with b carried along: each row is subtracted from those below it as soon as it is normalized.
template <class S>
Orthonormal<S> orthonormalized(MatrixOf<S> A, VectorOf<S> b) {
  using std::abs;
  using std::sqrt;
  const Eigen::Index m = A.rows(), n = A.cols();
  std::vector<double> scale(static_cast<std::size_t>(m)), size(static_cast<std::size_t>(m));
  for (Eigen::Index i = 0; i < m; ++i) {
    double squares = 0.0;
    for (Eigen::Index k = 0; k < n; ++k) squares += static_cast<double>(A(i, k)) * static_cast<double>(A(i, k));
    scale[static_cast<std::size_t>(i)] = std::sqrt(squares);
    size[static_cast<std::size_t>(i)] = std::abs(static_cast<double>(b(i)));
  }
  Orthonormal<S> result{std::move(A), std::move(b), std::vector<RowKind>(static_cast<std::size_t>(m), RowKind::kIndependent)};
  for (Eigen::Index i = 0; i < m; ++i) {
    S squares(0.0);
    for (Eigen::Index k = 0; k < n; ++k) squares += result.A1(i, k) * result.A1(i, k);
    const S norm = sqrt(squares);
    const auto at = static_cast<std::size_t>(i);
    if (static_cast<double>(norm) <= kRankTolerance * scale[at] || scale[at] == 0.0) {
      const double rest = std::abs(static_cast<double>(result.b1(i)));
      result.kinds[at] = rest > kRankTolerance * (1.0 + size[at]) ? RowKind::kInconsistent : RowKind::kRedundant;
      for (Eigen::Index k = 0; k < n; ++k) result.A1(i, k) = S(0.0);
      result.b1(i) = S(0.0);
      continue;
    }
    const S inverse = S(1.0) / norm;
    for (Eigen::Index k = 0; k < n; ++k) result.A1(i, k) *= inverse;
    result.b1(i) *= inverse;
    for (Eigen::Index j = i + 1; j < m; ++j) {
      S product(0.0);
      for (Eigen::Index k = 0; k < n; ++k) product += result.A1(i, k) * result.A1(j, k);
      for (Eigen::Index k = 0; k < n; ++k) result.A1(j, k) -= product * result.A1(i, k);
      result.b1(j) -= product * result.b1(i);
    }
  }
  return result;
}

/// Kinematics without masses (eq. 4.9): a = A1' b1, the smallest solution of A a = b.
template <class S>
VectorOf<S> smallest_solution(const MatrixOf<S>& A, const VectorOf<S>& b) {
  const Orthonormal<S> rows = orthonormalized<S>(A, b);
  return rows.A1.transpose() * rows.b1;
}

}  // namespace linkwork::studies
