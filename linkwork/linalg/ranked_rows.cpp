#include "linkwork/linalg/ranked_rows.h"

#include <Eigen/SVD>
#include <cmath>

namespace linkwork {

void RankedRows::factor(const MatX<double>& A, const MatX<double>& bounds, const VecX<double>& unit) {
  unit_ = unit;
  A_.noalias() = A * unit.asDiagonal();
  weights_ = unit.cwiseAbs2();
  dependent_.resize(static_cast<std::size_t>(A.rows()));
  rank_ = dependent_rows(A, bounds, weights_, test_, dependent_);
  kept_.clear();
  for (std::size_t i = 0; i < dependent_.size(); ++i)
    if (!dependent_[i]) kept_.push_back(static_cast<int>(i));
  transposed_.resize(A.cols(), rank_.rank);
  for (int k = 0; k < rank_.rank; ++k) transposed_.col(k) = A_.row(kept_[static_cast<std::size_t>(k)]).transpose();
  if (rank_.rank > 0) qr_.compute(transposed_);
}

/// With A' = Q R over the kept rows: x = Q R^-T rhs.
void RankedRows::solve(const VecX<double>& rhs, VecX<double>& x) {
  const int r = rank_.rank;
  x.setZero(A_.cols());
  if (r == 0) return;
  reduced_.resize(r);
  for (int k = 0; k < r; ++k) reduced_[k] = rhs[kept_[static_cast<std::size_t>(k)]];
  qr_.matrixQR().topRows(r).triangularView<Eigen::Upper>().transpose().solveInPlace(reduced_);
  x.head(r) = reduced_;
  x.applyOnTheLeft(qr_.householderQ());
  x.array() *= unit_.array();
}

std::vector<int> RankedRows::combination(int row) const {
  constexpr double kRounding = 1e-6;
  const int r = rank_.rank;
  std::vector<int> rows;
  if (r > 0) {
    VecX<double> factors = (qr_.householderQ().transpose() * A_.row(row).transpose()).head(r);
    qr_.matrixQR().topRows(r).triangularView<Eigen::Upper>().solveInPlace(factors);
    const double size = A_.row(row).norm();
    for (int k = 0; k < r; ++k)
      if (std::abs(factors[k]) * transposed_.col(k).norm() > kRounding * size) rows.push_back(kept_[static_cast<std::size_t>(k)]);
  }
  rows.push_back(row);
  return rows;
}

std::vector<int> RankedRows::weakest_combination() const {
  constexpr double kNoticeable = 1e-3;
  std::vector<int> rows;
  if (A_.size() == 0) return rows;
  const Eigen::JacobiSVD<MatX<double>> svd(A_, Eigen::ComputeThinU);
  const auto weakest = svd.matrixU().col(svd.matrixU().cols() - 1);
  for (Eigen::Index i = 0; i < weakest.size(); ++i)
    if (std::abs(weakest[i]) > kNoticeable) rows.push_back(static_cast<int>(i));
  return rows;
}

MatX<double> RankedRows::free_directions() const {
  const Eigen::Index n = A_.cols();
  if (rank_.rank == 0) return MatX<double>::Identity(n, n);
  const MatX<double> Q = qr_.householderQ() * MatX<double>::Identity(n, n);
  return unit_.asDiagonal() * Q.rightCols(n - rank_.rank);
}

}  // namespace linkwork
