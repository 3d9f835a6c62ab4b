#pragma once

#include <Eigen/QR>
#include <vector>

#include "linkwork/linalg/rank.h"

namespace linkwork {

/// The equations A x = rhs with dependent rows, dense. The largest independent set of rows that rank.h picks is solved for the
/// smallest x in given units, which is the pseudo-inverse's if the other rows agree with them. Allocates nothing after the first
/// call.
class RankedRows {
 public:
  /// `bounds` on the entries of A give every row its scale; `unit`, by column, is what a large x is.
  void factor(const MatX<double>& A, const MatX<double>& bounds, const VecX<double>& unit);

  const Rank& rank() const { return rank_; }
  const std::vector<char>& dependent() const { return dependent_; }
  void solve(const VecX<double>& rhs, VecX<double>& x);

  /// The independent rows that a dependent one is a combination of, and itself. For messages: allocates.
  std::vector<int> combination(int row) const;
  /// The rows that are closest to being dependent. For messages: allocates.
  std::vector<int> weakest_combination() const;
  /// A basis, in columns, of what no row forbids, orthonormal in the units. For messages: allocates.
  MatX<double> free_directions() const;

 private:
  MatX<double> A_, transposed_;  // all rows, of x in its unit; the independent ones in columns
  VecX<double> unit_, weights_, reduced_;
  RankTest test_;
  Rank rank_;
  std::vector<char> dependent_;
  std::vector<int> kept_;
  Eigen::HouseholderQR<MatX<double>> qr_;
};

}  // namespace linkwork
