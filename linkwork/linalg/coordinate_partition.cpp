#include "linkwork/linalg/coordinate_partition.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "linkwork/linalg/index.h"

namespace linkwork {

namespace {

/// How fast a dependent coordinate may move with an independent one before another choice is made.
constexpr double kWorstRatio = 3.0;

}  // namespace

CoordinatePartition::CoordinatePartition(int coordinates, int rows)
    : n_(coordinates), m_(rows), dependent_(at(rows), 0), found_dependent_(at(rows), 0) {
  for (int j = 0; j < n_; ++j) columns_.push_back(j);
  if (m_ == 0) S_ = MatX<double>::Identity(n_, n_);
}

void CoordinatePartition::update(const MatX<double>& A, const MatX<double>& bounds, const VecX<double>& weights) {
  if (m_ == 0) return;
  weights_ = weights;
  const Rank before = rank_;
  rank_ = linkwork::dependent_rows(A, bounds, weights_, rank_test_, found_dependent_);
  if (picked_ && rank_.rank == before.rank) {
    factor(A);
    if (largest_ratio() <= kWorstRatio) return;
  }
  pick(A);
  factor(A);
}

/// Gauss elimination with complete pivoting on the independent rows, in units of their scale, the columns scaled by the root of
/// their weight.
void CoordinatePartition::pick(const MatX<double>& A) {
  picked_ = true;
  dependent_ = found_dependent_;
  rows_.clear();
  for (int i = 0; i < m_; ++i)
    if (!dependent_[at(i)]) rows_.push_back(i);
  const int r = rank_.rank;
  work_.resize(r, n_);
  for (int k = 0; k < r; ++k)
    work_.row(k) = A.row(rows_[at(k)]).cwiseProduct(weights_.cwiseSqrt().transpose()) / std::sqrt(rank_test_.scale[rows_[at(k)]]);
  for (int j = 0; j < n_; ++j) columns_[at(j)] = j;
  for (int k = 0; k < r; ++k) {
    Eigen::Index i = 0, j = 0;
    work_.bottomRightCorner(r - k, n_ - k).cwiseAbs().maxCoeff(&i, &j);
    work_.row(k).swap(work_.row(k + i));
    work_.col(k).swap(work_.col(k + j));
    std::swap(rows_[at(k)], rows_[static_cast<std::size_t>(k + i)]);
    std::swap(columns_[at(k)], columns_[static_cast<std::size_t>(k + j)]);
    for (int below = k + 1; below < r; ++below)
      work_.row(below).tail(n_ - k) -= work_(below, k) / work_(k, k) * work_.row(k).tail(n_ - k);
  }
}

void CoordinatePartition::factor(const MatX<double>& A) {
  const int r = rank_.rank;
  A_d_.resize(r, r);
  A_i_.resize(r, n_ - r);
  for (int k = 0; k < r; ++k) {
    const int row = rows_[at(k)];
    for (int j = 0; j < r; ++j) A_d_(k, j) = A(row, columns_[at(j)]);
    for (int j = r; j < n_; ++j) A_i_(k, j - r) = A(row, columns_[at(j)]);
  }
  S_.setZero(n_, n_ - r);
  for (int j = r; j < n_; ++j) S_(columns_[at(j)], j - r) = 1.0;
  if (r == 0) return;
  lu_.compute(A_d_);
  ratios_.resize(r, n_ - r);
  if (r == n_) return;  // Eigen refers to the first of no columns
  ratios_ = lu_.solve(A_i_);
  for (int k = 0; k < r; ++k) S_.row(columns_[at(k)]) = -ratios_.row(k);
}

double CoordinatePartition::largest_ratio() const {
  double largest = 0.0;
  const int r = rank_.rank;
  for (int k = 0; k < r; ++k)
    for (int j = r; j < n_; ++j)
      largest = std::max(largest, std::abs(ratios_(k, j - r)) * std::sqrt(weights_[columns_[at(j)]] / weights_[columns_[at(k)]]));
  return std::isfinite(largest) ? largest : kWorstRatio + 1.0;
}

void CoordinatePartition::solve(VecX<double>& x) {
  if (rank_.rank == 0) return;
  x_ = lu_.solve(x.head(rank_.rank));
  x.head(rank_.rank) = x_;
}

void CoordinatePartition::solve_transposed(VecX<double>& x) {
  if (rank_.rank == 0) return;
  // (P' L U)' = U' L' P, step by step: Eigen's own transposed solution allocates.
  x_ = x.head(rank_.rank);
  lu_.matrixLU().triangularView<Eigen::Upper>().transpose().solveInPlace(x_);
  lu_.matrixLU().triangularView<Eigen::UnitLower>().transpose().solveInPlace(x_);
  x.head(rank_.rank) = lu_.permutationP().transpose() * x_;
}

}  // namespace linkwork
