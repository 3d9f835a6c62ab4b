#include "linkwork/linalg/gigsp.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

void Gigsp::Factors::clear(Eigen::Index n, Eigen::Index m) {
  A1.resize(n, std::min(n, m));
  R.setZero(m, std::min(n, m));
  kept.clear();
  kept.reserve(static_cast<std::size_t>(std::min(n, m)));
  dependent.assign(static_cast<std::size_t>(m), 1);
  rank = {};
}

void Gigsp::factor(const MatX<double>& rows, std::span<const double> scale, double tolerance) {
  const Eigen::Index n = rows.rows(), m = rows.cols();
  factors_.clear(n, m);
  share_.resize(std::min(n, m));
  auto& [A1, R, kept, dependent, rank] = factors_;

  for (Eigen::Index i = 0; i < m && rank.rank < n; ++i) {
    const double full = scale[static_cast<std::size_t>(i)];
    if (!(full > 0.0)) continue;
    row_ = rows.col(i);
    const auto earlier = A1.leftCols(rank.rank);
    auto share = share_.head(rank.rank);
    // Once is not enough for orthogonality to rounding when a row nearly depends on the earlier ones; twice is.
    double before = row_.squaredNorm(), after = before;
    for (int pass = 0; pass < 2; ++pass) {
      share.noalias() = earlier.transpose() * row_;
      row_.noalias() -= earlier * share;
      R.row(i).head(rank.rank) += share.transpose();
      after = row_.squaredNorm();
      if (after > 0.5 * before) break;
      before = after;
    }
    if (!is_independent(after, full, tolerance)) continue;
    const double length = std::sqrt(after);
    A1.col(rank.rank) = row_ / length;
    R(i, rank.rank) = length;
    kept.push_back(static_cast<int>(i));
    dependent[static_cast<std::size_t>(i)] = 0;
    rank.weakest = std::min(rank.weakest, after / full);
    ++rank.rank;
  }
  // With all of space spanned, the rest depends on what there is.
  if (rank.rank == n && n > 0)
    for (Eigen::Index i = kept.back() + 1; i < m; ++i) R.row(i).noalias() = rows.col(i).transpose() * A1.leftCols(n);
}

void Gigsp::carry(const VecX<double>& b) {
  b1_.resize(factors_.R.cols());
  inconsistency_.resize(b.size());
  carried_size_.resize(b.size());
  int k = 0;
  for (Eigen::Index i = 0; i < b.size(); ++i) {
    const auto row = factors_.R.row(i).head(k);
    const auto earlier = b1_.head(k);
    const double left = b[i] - row.dot(earlier);
    carried_size_[i] = std::abs(b[i]) + row.cwiseAbs().dot(earlier.cwiseAbs());
    inconsistency_[i] = 0.0;
    if (factors_.dependent[static_cast<std::size_t>(i)] != 0)
      inconsistency_[i] = left;
    else
      b1_[k] = left / factors_.R(i, k), ++k;
  }
}

bool Gigsp::is_inconsistent(int row, double usual, double tolerance) const {
  return std::abs(inconsistency_[row]) > tolerance * std::max(usual, carried_size_[row]);
}

void Gigsp::add_solution(VecX<double>& y) const { y.noalias() += directions() * b1_.head(factors_.rank.rank); }

void Gigsp::solve_transposed(VecX<double>& x) const {
  for (int k = factors_.rank.rank - 1; k >= 0; --k) {
    double sum = x[k];
    for (int l = k + 1; l < factors_.rank.rank; ++l) sum -= factors_.R(factors_.kept[static_cast<std::size_t>(l)], k) * x[l];
    x[k] = sum / factors_.R(factors_.kept[static_cast<std::size_t>(k)], k);
  }
}

void Gigsp::multipliers(VecX<double>& lambda) const {
  lambda.setZero(rows());
  by_position_ = b1_;
  solve_transposed(by_position_);
  for (int k = 0; k < factors_.rank.rank; ++k) lambda[factors_.kept[static_cast<std::size_t>(k)]] = by_position_[k];
}

void Gigsp::dependency(int row, VecX<double>& coefficients) const {
  coefficients.setZero(rows());
  by_position_ = factors_.R.row(row).transpose();
  solve_transposed(by_position_);
  for (int k = 0; k < factors_.rank.rank; ++k) coefficients[factors_.kept[static_cast<std::size_t>(k)]] = by_position_[k];
}

}  // namespace linkwork
