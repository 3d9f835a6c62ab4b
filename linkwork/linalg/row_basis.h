#pragma once

#include <vector>

#include "linkwork/linalg/rank.h"

namespace linkwork {

/// An orthonormal basis of the rows of a matrix A, by Gram-Schmidt with pivoting and rank decisions (rank.h): A = L Q. Gives
/// products with the generalized inverse A' (A A')^+ and its transpose without squaring the condition number.
class RowBasis {
 public:
  /// `scale`, by row: the squared length the row could have if it were not degenerate.
  const Rank& factor(const MatX<double>& A, const VecX<double>& scale);
  /// Of the rows that are not marked in `dependent`, decided upon elsewhere.
  void factor(const MatX<double>& A, std::span<const char> dependent);
  const Rank& rank() const { return rank_; }
  /// By row: 1 if it adds nothing to the others.
  const std::vector<char>& dependent() const { return dependent_; }

  /// The shortest x with A x = e; dependent rows are left out.
  void shortest_solution(const VecX<double>& e, VecX<double>& x);
  /// lambda with A' lambda as close to f as may be; 0 for dependent rows.
  void closest_multipliers(const VecX<double>& f, VecX<double>& lambda);

 private:
  int choose_pivot(const VecX<double>& scale, double& remainder) const;
  void take_out(int pivot);

  MatX<double> rest_;       // A' less its components along the basis: a column a row of A, basis vectors where taken
  MatX<double> L_;          // by row of A and basis vector
  std::vector<int> order_;  // rows of A that gave the basis vectors
  std::vector<char> dependent_;
  VecX<double> y_, scale_;
  Rank rank_;
};

/// By row: the sum of squares of bounds on its entries.
void squared_lengths(const MatX<double>& bounds, VecX<double>& scale);

}  // namespace linkwork
