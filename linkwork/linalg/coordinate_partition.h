#pragma once

#include <Eigen/LU>
#include <span>
#include <vector>

#include "linkwork/linalg/rank.h"

namespace linkwork {

/// Splits coordinates into dependent and independent ones by the constraints A v = u: v_d = A_d^-1 (u - A_i v_i), so that
/// v = S v_i + [A_d^-1 u; 0] with S = [-A_d^-1 A_i; 1]. Rows that add nothing to the others are left out. A choice is kept as
/// long as it is a good one.
class CoordinatePartition {
 public:
  CoordinatePartition(int coordinates, int rows);

  /// At a new A. `bounds` are bounds of its entries, for rank decisions; coordinates are measured by the root of 1 / weight.
  void update(const MatX<double>& A, const MatX<double>& bounds, const VecX<double>& weights);

  /// The next choice is a new one.
  void forget() { picked_ = false; }

  const Rank& rank() const { return rank_; }
  int free() const { return n_ - rank_.rank; }
  /// The independent rows, in the order of the pivots.
  const std::vector<int>& rows() const { return rows_; }
  /// All coordinates: as many dependent ones first.
  const std::vector<int>& columns() const { return columns_; }
  const MatX<double>& S() const { return S_; }
  const std::vector<char>& dependent_rows() const { return dependent_; }

  /// x <- A_d^-1 x for its first rank() entries, rows in the order of rows(), result in the order of columns().
  void solve(VecX<double>& x);
  /// x <- A_d'^-1 x.
  void solve_transposed(VecX<double>& x);

 private:
  void pick(const MatX<double>& A);
  void factor(const MatX<double>& A);
  double largest_ratio() const;

  int n_, m_;
  bool picked_ = false;
  std::vector<int> rows_, columns_;
  std::vector<char> dependent_, found_dependent_;
  Rank rank_;
  RankTest rank_test_;
  VecX<double> weights_, x_;
  MatX<double> work_, A_d_, A_i_, ratios_, S_;
  Eigen::PartialPivLU<MatX<double>> lu_;
};

}  // namespace linkwork
