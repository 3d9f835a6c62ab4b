#pragma once

#include <span>
#include <vector>

#include "linkwork/linalg/rank.h"

namespace linkwork {

/// Generalized inverse by the Gram-Schmidt process, with rank decisions [Arabyan1998].
///
/// The rows of B are made orthonormal one after the other, in the order given:
///   (1)  B = R A1        R lower triangular, rows of A1 orthonormal, or zero where a row of B depends on earlier ones
///   (2)  R b1 = b        the right-hand side is carried along; what is left of it on a zero row says whether that row is
///                        redundant (nothing) or inconsistent with the earlier ones (something)
///   (3)  y = A1' b1      the smallest y with B y = b; rows that contradict earlier ones are left unmet
///   (4)  R' lambda = b1  y = B' lambda, with lambda = 0 on dependent rows
/// R and b1 replace the transformation T = R^-1 of the literature: it is never formed, and b may change while R and A1 are kept.
class Gigsp {
 public:
  /// What (1) makes of the rows.
  struct Factors {
    MatX<double> A1;        // transposed; its first rank.rank columns are the non-zero rows of A1
    MatX<double> R;         // by row, and position in kept
    std::vector<int> kept;  // independent rows, in their order
    std::vector<char> dependent;
    Rank rank;

    /// For m rows of length n, before the first: all dependent.
    void clear(Eigen::Index n, Eigen::Index m);
  };

  /// (1). Column i of `rows` is row i of B, so that rows are contiguous. scale: squared lengths, see rank.h. A row depends on
  /// earlier ones when what remains of its squared length is at most `tolerance` times its scale.
  void factor(const MatX<double>& rows, std::span<const double> scale, double tolerance = kRankTolerance);

  /// For a process that makes the factors in another way (transport/block_gram_schmidt.h); carry() comes next.
  Factors& factors() { return factors_; }

  int rows() const { return static_cast<int>(factors_.dependent.size()); }
  const Rank& rank() const { return factors_.rank; }
  const std::vector<char>& dependent() const { return factors_.dependent; }
  /// The independent rows, in their order; column k of directions() is the non-zero row of A1 that belongs to kept()[k].
  std::span<const int> kept() const { return factors_.kept; }
  auto directions() const { return factors_.A1.leftCols(factors_.rank.rank); }

  /// (2). Not normalised: inconsistency()[i] is what a dependent row i asks for beyond the earlier ones, in its own units; 0 on
  /// the others.
  void carry(const VecX<double>& b);
  const VecX<double>& inconsistency() const { return inconsistency_; }
  /// Whether that is more than rounding, or the given tolerance, of what went into it, or of what usually does.
  bool is_inconsistent(int row, double usual = 1.0, double tolerance = 1e-9) const;
  /// (3) and (4), after carry().
  void add_solution(VecX<double>& y) const;
  void multipliers(VecX<double>& lambda) const;

  /// By row: the coefficients with which the others make up a dependent row; 0 where they have no share.
  void dependency(int row, VecX<double>& coefficients) const;

 private:
  void solve_transposed(VecX<double>& x) const;  // R' on the kept rows, x by position in factors_.kept

  Factors factors_;
  VecX<double> b1_, inconsistency_, carried_size_;
  VecX<double> row_, share_;
  mutable VecX<double> by_position_;
};

}  // namespace linkwork
