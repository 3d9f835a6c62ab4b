#include "linkwork/linalg/gigsp.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

void Gigsp::factor(const MatX<double>& rows, std::span<const double> scale, double tolerance) {
  const Eigen::Index n = rows.rows(), m = rows.cols();
  A1_.resize(n, std::min(n, m));
  R_.setZero(m, std::min(n, m));
  kept_.resize(static_cast<std::size_t>(std::min(n, m)));
  dependent_.assign(static_cast<std::size_t>(m), 1);
  b1_.resize(std::min(n, m));
  inconsistency_.resize(m);
  carried_size_.resize(m);
  share_.resize(std::min(n, m));
  by_position_.resize(std::min(n, m));
  rank_ = {};

  for (Eigen::Index i = 0; i < m && rank_.rank < n; ++i) {
    const double full = scale[static_cast<std::size_t>(i)];
    if (!(full > 0.0)) continue;
    row_ = rows.col(i);
    const auto earlier = A1_.leftCols(rank_.rank);
    auto share = share_.head(rank_.rank);
    // Once is not enough for orthogonality to rounding when a row nearly depends on the earlier ones; twice is.
    double before = row_.squaredNorm(), after = before;
    for (int pass = 0; pass < 2; ++pass) {
      share.noalias() = earlier.transpose() * row_;
      row_.noalias() -= earlier * share;
      R_.row(i).head(rank_.rank) += share.transpose();
      after = row_.squaredNorm();
      if (after > 0.5 * before) break;
      before = after;
    }
    if (!is_independent(after, full, tolerance)) continue;
    const double length = std::sqrt(after);
    A1_.col(rank_.rank) = row_ / length;
    R_(i, rank_.rank) = length;
    kept_[static_cast<std::size_t>(rank_.rank)] = static_cast<int>(i);
    dependent_[static_cast<std::size_t>(i)] = 0;
    rank_.weakest = std::min(rank_.weakest, after / full);
    ++rank_.rank;
  }
  // With all of space spanned, the rest depends on what there is.
  if (rank_.rank == n && n > 0)
    for (Eigen::Index i = kept_.back() + 1; i < m; ++i) R_.row(i).noalias() = rows.col(i).transpose() * A1_.leftCols(n);
}

void Gigsp::carry(const VecX<double>& b) {
  int k = 0;
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    const auto row = R_.row(i).head(k);
    const auto earlier = b1_.head(k);
    const double left = b[i] - row.dot(earlier);
    carried_size_[i] = std::abs(b[i]) + row.cwiseAbs().dot(earlier.cwiseAbs());
    inconsistency_[i] = 0.0;
    if (dependent_[static_cast<std::size_t>(i)] != 0)
      inconsistency_[i] = left;
    else
      b1_[k] = left / R_(i, k), ++k;
  }
}

bool Gigsp::is_inconsistent(int row) const {
  constexpr double kRounding = 1e-9;
  return std::abs(inconsistency_[row]) > kRounding * std::max(1.0, carried_size_[row]);
}

void Gigsp::add_solution(VecX<double>& y) const { y.noalias() += directions() * b1_.head(rank_.rank); }

void Gigsp::solve_transposed(VecX<double>& x) const {
  for (int k = rank_.rank - 1; k >= 0; --k) {
    double sum = x[k];
    for (int l = k + 1; l < rank_.rank; ++l) sum -= R_(kept_[static_cast<std::size_t>(l)], k) * x[l];
    x[k] = sum / R_(kept_[static_cast<std::size_t>(k)], k);
  }
}

void Gigsp::multipliers(VecX<double>& lambda) const {
  lambda.setZero(rows());
  by_position_.head(rank_.rank) = b1_.head(rank_.rank);
  solve_transposed(by_position_);
  for (int k = 0; k < rank_.rank; ++k) lambda[kept_[static_cast<std::size_t>(k)]] = by_position_[k];
}

void Gigsp::dependency(int row, VecX<double>& coefficients) const {
  coefficients.setZero(rows());
  by_position_ = R_.row(row).transpose();
  solve_transposed(by_position_);
  for (int k = 0; k < rank_.rank; ++k) coefficients[kept_[static_cast<std::size_t>(k)]] = by_position_[k];
}

}  // namespace linkwork
