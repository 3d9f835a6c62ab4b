#pragma once

#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/system.h"
#include "linkwork/linalg/rank.h"

namespace linkwork {

/// By velocity coordinate, the unit in which rank measures it: 1 where it turns; where it slides the longest arm of the rows it
/// is in, so that a large body elsewhere does not make the loops of small ones look singular.
void rank_units(System& system, VecX<double>& units);

/// Rank and dependent rows of A at the system's state: see rank.h. Rows that are not in force are marked dependent.
class RowRank {
 public:
  Rank decide(System& system, std::span<char> dependent);
  /// The same of `A` in the place of the system's rows: some entries of theirs, the others zero.
  Rank decide(System& system, const MatX<double>& A, std::span<char> dependent);
  /// By row, of the last decision: the squared length a row could have, with coordinates in units().
  const VecX<double>& scale() const { return test_.scale; }
  const VecX<double>& units() const { return units_; }

 private:
  VecX<double> units_, weights_;
  RankTest test_;
};

/// So many rows are ranked all together, at the start and in checks; of more, loop by loop.
inline constexpr int kMostRowsToRank = 400;

/// Names of the rows marked dependent.
std::vector<std::string> dependent_row_names(const Model& model, std::span<const char> dependent);
/// "rows cut.z, cut.rx add nothing to the others".
std::string describe_redundancy(const Model& model, std::span<const char> dependent);

}  // namespace linkwork
