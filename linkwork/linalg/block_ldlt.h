#pragma once

#include <span>
#include <utility>
#include <vector>

#include "linkwork/linalg/rank.h"

namespace linkwork {

/// Block-sparse factorization of a symmetric positive semidefinite matrix with small diagonal blocks (the rows of one closure
/// each), with rank decisions: rows that depend on others get the solution 0. The pattern and its fill are worked out once.
class BlockLdlt {
 public:
  BlockLdlt() = default;
  /// coupled: pairs of blocks that are not zero, beside the diagonal ones.
  BlockLdlt(std::vector<int> block_sizes, std::span<const std::pair<int, int>> coupled);

  void set_zero();
  /// Block (i, j) of the matrix, row-major, i's rows by j's columns. One of (i, j), (j, i) is enough.
  void set_block(int i, int j, const double* values);

  /// scale: see rank.h.
  Rank factor(std::span<const double> scale);

  /// x may be rhs. The part of rhs that dependent rows cannot meet goes to inconsistency() (0 on the other rows).
  void solve(const double* rhs, double* x);

  const std::vector<char>& dependent() const { return dependent_; }
  const std::vector<double>& inconsistency() const { return inconsistency_; }
  int rows() const { return static_cast<int>(dependent_.size()); }

 private:
  struct Below {
    int row;             // position in the elimination order
    std::size_t values;  // of the block, in off_diagonal_
  };
  struct Column {
    int block;
    int size;
    int first_row;         // in the caller's order
    std::size_t diagonal;  // in diagonal_, inverse_
    std::vector<Below> below;
  };
  const Below* find(int row, int column) const;
  void order_and_fill(std::span<const std::pair<int, int>> coupled);

  std::vector<Column> columns_;  // in elimination order
  std::vector<int> position_;    // of a block in that order
  std::vector<double> diagonal_, inverse_;
  std::vector<double> off_diagonal_, scaled_;  // A_ik, and A_ik P_k
  std::vector<char> dependent_;
  std::vector<double> inconsistency_;
};

}  // namespace linkwork
