#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "studies/generalized_inverse/dense.h"

// [Wu1997] sections 2.4 and 2.5 on plain matrices of any scalar, so that operations can be counted.

namespace linkwork::studies {

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

/// What may be left of a row that depends on those before it, relative to the longest row. Not to the row itself: one that
/// vanishes at this instant is made of rounding errors.
inline constexpr double kRankTolerance = 1e-9;

/// The length of the longest row. Not counted: any program has an idea of its scales.
template <class S>
double row_scale(const MatrixOf<S>& A) {
  double longest = 0.0;
  for (Index i = 0; i < A.rows(); ++i) {
    double squares = 0.0;
    for (Index k = 0; k < A.cols(); ++k) squares += static_cast<double>(A(i, k)) * static_cast<double>(A(i, k));
    longest = std::max(longest, std::sqrt(squares));
  }
  return longest;
}

/// Gram-Schmidt on the rows of A, with b carried along: each row is subtracted from those below it as soon as it is normalized.
/// A row that vanishes is redundant if its b vanishes too, else it contradicts the rows above it.
template <class S>
Orthonormal<S> orthonormalized(MatrixOf<S> A, VectorOf<S> b) {
  using std::sqrt;
  const Index m = A.rows(), n = A.cols();
  const double scale = row_scale(A);
  double size_of_b = scale;  // where b vanishes: what accelerations of 1 would ask for
  for (Index i = 0; i < m; ++i) size_of_b = std::max(size_of_b, std::abs(static_cast<double>(b(i))));
  Orthonormal<S> result{std::move(A), std::move(b), std::vector<RowKind>(static_cast<std::size_t>(m), RowKind::kIndependent)};
  for (Index i = 0; i < m; ++i) {
    S* const own = row(result.A1, i);
    const S length = sqrt(dot(own, own, n));
    const auto at = static_cast<std::size_t>(i);
    if (static_cast<double>(length) <= kRankTolerance * scale) {
      const bool vanishes = std::abs(static_cast<double>(result.b1(i))) <= kRankTolerance * size_of_b;
      result.kinds[at] = vanishes ? RowKind::kRedundant : RowKind::kInconsistent;
      for (Index k = 0; k < n; ++k) own[k] = S(0.0);
      result.b1(i) = S(0.0);
      continue;
    }
    const S inverse = S(1.0) / length;
    for (Index k = 0; k < n; ++k) own[k] *= inverse;
    result.b1(i) *= inverse;
    for (Index j = i + 1; j < m; ++j) {
      const S share = dot(own, row(result.A1, j), n);
      add_scaled(row(result.A1, j), -share, own, n);
      result.b1(j) -= share * result.b1(i);
    }
  }
  return result;
}

/// Kinematics without masses (eq. 4.9): a = A1' b1, the smallest solution of A a = b.
template <class S>
VectorOf<S> smallest_solution(const MatrixOf<S>& A, const VectorOf<S>& b) {
  const Orthonormal<S> rows = orthonormalized<S>(A, b);
  return transposed_times(rows.A1, rows.b1);
}

}  // namespace linkwork::studies
