#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "studies/generalized_inverse/dense.h"

namespace linkwork::studies {

/// Singular values and vectors after Golub and Reinsch: a matrix of p rows and q <= p columns is made bidiagonal by reflections,
/// then diagonal by implicit QR steps with shifts. A = U diag(d) V'.
template <class S>
class Svd {
 public:
  /// full: all p columns of U, else the first q.
  Svd(const MatrixOf<S>& A, bool full) : p_(A.rows()), q_(A.cols()), work_(A) {
    bidiagonalize();
    accumulate(full ? p_ : q_);
    diagonalize();
  }

  const std::vector<S>& values() const { return d_; }
  /// Row k is the k-th left (right) singular vector.
  const MatrixOf<S>& left() const { return Ut_; }
  const MatrixOf<S>& right() const { return Vt_; }

  /// By the size of the values, relative to the largest.
  bool is_null(Index k, double tolerance = 1e-10) const {
    double largest = 0.0;
    for (const S& value : d_) largest = std::max(largest, std::abs(static_cast<double>(value)));
    return std::abs(static_cast<double>(d_[static_cast<std::size_t>(k)])) <= tolerance * largest;
  }

 private:
  S& d(Index k) { return d_[static_cast<std::size_t>(k)]; }
  S& e(Index k) { return e_[static_cast<std::size_t>(k)]; }

  void bidiagonalize() {
    d_.assign(static_cast<std::size_t>(q_), S(0.0));
    e_.assign(static_cast<std::size_t>(q_), S(0.0));
    left_beta_.assign(static_cast<std::size_t>(q_), S(0.0));
    right_beta_.assign(static_cast<std::size_t>(q_), S(0.0));
    std::vector<S> column(static_cast<std::size_t>(p_)), product(static_cast<std::size_t>(std::max(p_, q_)));
    for (Index k = 0; k < q_; ++k) {
      reflect_column(k, column, product);
      if (k + 1 < q_) reflect_row(k);
    }
  }

  void reflect_column(Index k, std::vector<S>& column, std::vector<S>& product) {
    const Index length = p_ - k;
    for (Index i = 0; i < length; ++i) column[static_cast<std::size_t>(i)] = work_(k + i, k);
    const Reflector<S> reflector = make_reflector(column.data(), length);
    d(k) = reflector.image;
    left_beta_[static_cast<std::size_t>(k)] = reflector.beta;
    for (Index i = 0; i < length; ++i) work_(k + i, k) = column[static_cast<std::size_t>(i)];
    if (static_cast<double>(reflector.beta) == 0.0) return;
    const Index rest = q_ - k - 1;
    std::fill_n(product.begin(), rest, S(0.0));
    for (Index i = 0; i < length; ++i)
      add_scaled(product.data(), column[static_cast<std::size_t>(i)], row(work_, k + i) + k + 1, rest);
    for (Index i = 0; i < length; ++i)
      add_scaled(row(work_, k + i) + k + 1, -(reflector.beta * column[static_cast<std::size_t>(i)]), product.data(), rest);
  }

  void reflect_row(Index k) {
    const Index length = q_ - k - 1;
    S* const own = row(work_, k) + k + 1;
    const Reflector<S> reflector = make_reflector(own, length);
    e(k) = reflector.image;
    right_beta_[static_cast<std::size_t>(k)] = reflector.beta;
    if (static_cast<double>(reflector.beta) == 0.0) return;
    for (Index i = k + 1; i < p_; ++i) {
      S* const other = row(work_, i) + k + 1;
      add_scaled(other, -(reflector.beta * dot(own, other, length)), own, length);
    }
  }

  /// The products of the reflections, from the last to the first: each then touches only what is not yet trivial.
  void accumulate(Index columns) {
    Ut_ = identity(columns, p_);
    std::vector<S> vector(static_cast<std::size_t>(p_));
    for (Index k = q_; k-- > 0;) {
      const S beta = left_beta_[static_cast<std::size_t>(k)];
      if (static_cast<double>(beta) == 0.0) continue;
      for (Index i = k; i < p_; ++i) vector[static_cast<std::size_t>(i - k)] = work_(i, k);
      for (Index c = k; c < columns; ++c) {
        S* const other = row(Ut_, c) + k;
        add_scaled(other, -(beta * dot(vector.data(), other, p_ - k)), vector.data(), p_ - k);
      }
    }
    Vt_ = identity(q_, q_);
    for (Index k = q_ - 1; k-- > 0;) {
      const S beta = right_beta_[static_cast<std::size_t>(k)];
      if (static_cast<double>(beta) == 0.0) continue;
      const S* const own = row(work_, k) + k + 1;
      for (Index c = k + 1; c < q_; ++c) {
        S* const other = row(Vt_, c) + k + 1;
        add_scaled(other, -(beta * dot(own, other, q_ - k - 1)), own, q_ - k - 1);
      }
    }
  }

  static MatrixOf<S> identity(Index rows, Index columns) {
    MatrixOf<S> one(rows, columns);
    for (Index i = 0; i < rows; ++i)
      for (Index k = 0; k < columns; ++k) one(i, k) = S(i == k ? 1.0 : 0.0);
    return one;
  }

  struct Rotation {
    S cosine, sine, length;
  };

  /// Turns (a, b) into (length, 0).
  static Rotation rotation(S a, S b) {
    using std::sqrt;
    const S length = sqrt(a * a + b * b);
    if (static_cast<double>(length) == 0.0) return {S(1.0), S(0.0), S(0.0)};
    return {a / length, b / length, length};
  }

  static void rotate(MatrixOf<S>& vectors, Index i, Index j, const Rotation& r) {
    S* const a = row(vectors, i);
    S* const b = row(vectors, j);
    for (Index k = 0; k < vectors.cols(); ++k) {
      const S old = a[k];
      a[k] = r.cosine * old + r.sine * b[k];
      b[k] = r.cosine * b[k] - r.sine * old;
    }
  }

  bool negligible(Index k) const {
    const auto at = static_cast<std::size_t>(k);
    const double size = std::abs(static_cast<double>(d_[at])) + std::abs(static_cast<double>(d_[at + 1]));
    return std::abs(static_cast<double>(e_[at])) <= std::numeric_limits<double>::epsilon() * (size + floor_);
  }

  void diagonalize() {
    double largest = 0.0;
    for (Index k = 0; k < q_; ++k)
      largest = std::max({largest, std::abs(static_cast<double>(d(k))), std::abs(static_cast<double>(e(k)))});
    floor_ = largest * 1e-3;
    Index high = q_ - 1;
    for (long step = 0; high > 0 && step < 60 * q_; ++step) {
      for (Index k = 0; k < high; ++k)
        if (negligible(k)) e(k) = S(0.0);
      if (static_cast<double>(e(high - 1)) == 0.0) {
        --high;
        continue;
      }
      Index low = high;
      while (low > 0 && static_cast<double>(e(low - 1)) != 0.0) --low;
      if (!cleared_zero(low, high, largest)) qr_step(low, high);
    }
  }

  /// A vanishing value on the diagonal splits the block: its row, or the last column, is rotated away.
  bool cleared_zero(Index low, Index high, double largest) {
    const double tiny = std::numeric_limits<double>::epsilon() * largest;
    for (Index k = low; k <= high; ++k) {
      if (std::abs(static_cast<double>(d(k))) > tiny) continue;
      d(k) = S(0.0);
      if (k < high)
        clear_row(k, high);
      else
        clear_last_column(low, high);
      return true;
    }
    return false;
  }

  void clear_row(Index k, Index high) {
    S bulge = e(k);
    e(k) = S(0.0);
    for (Index i = k + 1; i <= high; ++i) {
      const Rotation r = rotation(d(i), bulge);
      d(i) = r.length;
      rotate(Ut_, i, k, r);
      if (i == high) break;
      bulge = -(r.sine * e(i));
      e(i) = r.cosine * e(i);
    }
  }

  void clear_last_column(Index low, Index high) {
    S bulge = e(high - 1);
    e(high - 1) = S(0.0);
    for (Index i = high; i-- > low;) {
      const Rotation r = rotation(d(i), bulge);
      d(i) = r.length;
      rotate(Vt_, i, high, r);
      if (i == low) break;
      bulge = -(r.sine * e(i - 1));
      e(i - 1) = r.cosine * e(i - 1);
    }
  }

  /// The eigenvalue of the last 2 x 2 block of B'B that is closer to its last element.
  S shift(Index low, Index high) {
    using std::sqrt;
    S a = d(high - 1) * d(high - 1);
    if (high - 1 > low) a += e(high - 2) * e(high - 2);
    const S b = d(high - 1) * e(high - 1);
    const S c = d(high) * d(high) + e(high - 1) * e(high - 1);
    const S half = (a - c) / S(2.0);
    const S root = sqrt(half * half + b * b);
    const S away = static_cast<double>(half) < 0.0 ? half - root : half + root;
    return static_cast<double>(away) == 0.0 ? c : c - b * b / away;
  }

  void qr_step(Index low, Index high) {
    S y = d(low) * d(low) - shift(low, high);
    S z = d(low) * e(low);
    for (Index k = low; k < high; ++k) {
      const Rotation right = rotation(y, z);
      if (k > low) e(k - 1) = right.length;
      y = right.cosine * d(k) + right.sine * e(k);
      e(k) = right.cosine * e(k) - right.sine * d(k);
      z = right.sine * d(k + 1);
      d(k + 1) = right.cosine * d(k + 1);
      rotate(Vt_, k, k + 1, right);
      const Rotation left = rotation(y, z);
      d(k) = left.length;
      y = left.cosine * e(k) + left.sine * d(k + 1);
      d(k + 1) = left.cosine * d(k + 1) - left.sine * e(k);
      e(k) = y;
      rotate(Ut_, k, k + 1, left);
      if (k + 1 == high) break;
      z = left.sine * e(k + 1);
      e(k + 1) = left.cosine * e(k + 1);
    }
  }

  Index p_, q_;
  MatrixOf<S> work_;  // reflection vectors, below the diagonal and right of the superdiagonal
  MatrixOf<S> Ut_, Vt_;
  std::vector<S> d_, e_, left_beta_, right_beta_;
  double floor_ = 0.0;
};

}  // namespace linkwork::studies
