#pragma once

#include <span>
#include <string>
#include <vector>

#include "linkwork/dynamics/system.h"
#include "linkwork/linalg/rank.h"

namespace linkwork {

/// Rank and dependent rows of A at the system's state: see rank.h. Rows that are not in force are marked dependent.
class RowRank {
 public:
  Rank decide(System& system, std::span<char> dependent);
  /// By row, of the last decision: the squared length a row could have, with coordinates in Model::units.
  const VecX<double>& scale() const { return test_.scale; }

 private:
  VecX<double> weights_;
  RankTest test_;
};

/// So many rows are ranked all together, at the start and in checks; of more, loop by loop.
inline constexpr int kMostRowsToRank = 400;

/// Names of the rows marked dependent.
std::vector<std::string> dependent_row_names(const Model& model, std::span<const char> dependent);
/// "rows cut.z, cut.rx add nothing to the others".
std::string describe_redundancy(const Model& model, std::span<const char> dependent);

}  // namespace linkwork
