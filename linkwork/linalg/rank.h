#pragma once

#include <span>
#include <vector>

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// The one place where rank is decided.
///
/// A constraint row counts as dependent on others when what remains of its squared length, after the others are taken out, is
/// below kRankTolerance times the row's scale: the squared length it could have if it were not degenerate, never the one it
/// happens to have, or rounding would count as a constraint. So 1e-10 is an angle of 1e-5.
///
/// Rank is a property of the geometry: rank_of_rows() (dynamics/redundancy.h) measures coordinates in units of the mechanism's
/// size, whatever the masses. What eliminates rows one by one measures them by A M^-1 A', which comes to the same unless masses
/// differ by many decades; there its result is held against the former.
inline constexpr double kRankTolerance = 1e-10;

/// Lever arms below this share of the mechanism's size may be rounding: a row's scale counts no shorter ones.
inline constexpr double kShortestArm = 1e-4;

/// What remains of a row's squared length is enough to count.
inline bool is_independent(double remainder, double scale, double tolerance = kRankTolerance) {
  return scale > 0.0 && remainder > tolerance * scale;
}

struct Rank {
  int rank = 0;
  double weakest = 1.0;  // of the kept rows: the smallest remainder relative to its scale; near 0 close to a singular position
};

/// Replaces the symmetric positive semidefinite n x n row-major `gram` by the inverse over a largest independent set of rows,
/// chosen by diagonal pivoting; rows and columns of the others become 0 and are marked in `dependent` (1). Returns the rank. n is
/// small, or speed does not matter: it is a Gauss-Jordan sweep.
Rank ranked_inverse(std::span<double> gram, int n, std::span<const double> scale, std::span<char> dependent);

/// Scales of the rows of a dense matrix: squared lengths by bounds of its entries, with columns measured by weights (1/M_jj,
/// say).
void row_scales(const MatX<double>& bounds, const VecX<double>& weights, VecX<double>& scale);

/// Scratch of dependent_rows().
struct RankTest {
  MatX<double> gram;
  VecX<double> scale;
};

/// Only the decision, for a dense matrix with bounds on its entries, measured like row_scales().
Rank dependent_rows(const MatX<double>& A, const MatX<double>& bounds, const VecX<double>& weights, RankTest& test,
                    std::span<char> dependent);

}  // namespace linkwork
