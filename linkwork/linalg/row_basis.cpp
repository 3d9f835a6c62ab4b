#include "linkwork/linalg/row_basis.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

int RowBasis::choose_pivot(const VecX<double>& scale, double& remainder) const {
  int pivot = -1;
  remainder = kRankTolerance;
  for (int i = 0; i < static_cast<int>(rest_.cols()); ++i) {
    if (!dependent_[static_cast<std::size_t>(i)] || !(scale[i] > 0.0)) continue;
    const double ratio = rest_.col(i).squaredNorm() / scale[i];
    if (ratio > remainder) remainder = ratio, pivot = i;
  }
  return pivot;
}

void RowBasis::take_out(int pivot) {
  const int k = rank_.rank;
  // Once more against the basis: where much was taken out, rounding has spoiled the right angles.
  for (int j = 0; j < k; ++j) {
    const auto q = rest_.col(order_[static_cast<std::size_t>(j)]);
    const double along = q.dot(rest_.col(pivot));
    rest_.col(pivot) -= along * q;
    L_(pivot, j) += along;
  }
  L_(pivot, k) = rest_.col(pivot).norm();
  rest_.col(pivot) /= L_(pivot, k);
  dependent_[static_cast<std::size_t>(pivot)] = 0;
  order_[static_cast<std::size_t>(k)] = pivot;
  for (int i = 0; i < static_cast<int>(rest_.cols()); ++i) {
    if (!dependent_[static_cast<std::size_t>(i)]) continue;
    L_(i, k) = rest_.col(pivot).dot(rest_.col(i));
    rest_.col(i) -= L_(i, k) * rest_.col(pivot);
  }
}

const Rank& RowBasis::factor(const MatX<double>& A, const VecX<double>& scale) {
  rest_ = A.transpose();
  L_.setZero(A.rows(), A.rows());
  order_.resize(static_cast<std::size_t>(A.rows()));
  dependent_.assign(static_cast<std::size_t>(A.rows()), 1);
  y_.resize(A.rows());
  rank_ = {};
  double remainder = 0.0;
  for (int pivot = choose_pivot(scale, remainder); pivot >= 0; pivot = choose_pivot(scale, remainder)) {
    take_out(pivot);
    ++rank_.rank;
    rank_.weakest = std::min(rank_.weakest, remainder);
  }
  return rank_;
}

void RowBasis::factor(const MatX<double>& A, std::span<const char> dependent) {
  constexpr double kRounding = 1e-24;  // of a row's squared length
  scale_ = (kRounding / kRankTolerance) * A.rowwise().squaredNorm();
  for (Eigen::Index i = 0; i < A.rows(); ++i)
    if (dependent[static_cast<std::size_t>(i)] != 0) scale_[i] = 0.0;
  factor(A, scale_);
}

void RowBasis::shortest_solution(const VecX<double>& e, VecX<double>& x) {
  x.setZero(rest_.rows());
  for (int k = 0; k < rank_.rank; ++k) {
    const int row = order_[static_cast<std::size_t>(k)];
    y_[k] = (e[row] - L_.row(row).head(k).dot(y_.head(k))) / L_(row, k);
    x += y_[k] * rest_.col(row);
  }
}

void RowBasis::closest_multipliers(const VecX<double>& f, VecX<double>& lambda) {
  lambda.setZero(rest_.cols());
  for (int k = 0; k < rank_.rank; ++k) y_[k] = rest_.col(order_[static_cast<std::size_t>(k)]).dot(f);
  for (int k = rank_.rank - 1; k >= 0; --k) {
    const int row = order_[static_cast<std::size_t>(k)];
    lambda[row] = y_[k] / L_(row, k);
    for (int j = 0; j < k; ++j) y_[j] -= L_(row, j) * lambda[row];
  }
}

void squared_lengths(const MatX<double>& bounds, VecX<double>& scale) { scale = bounds.rowwise().squaredNorm(); }

}  // namespace linkwork
