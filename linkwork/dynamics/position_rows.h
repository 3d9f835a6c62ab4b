#pragma once

#include <vector>

#include "linkwork/dynamics/constraint_terms.h"

namespace linkwork {

/// The rows that constrain positions: those that stand at velocity level do not count where positions are corrected.
class PositionRows {
 public:
  explicit PositionRows(const Model& model) {
    for (int row = 0; row < model.row_count(); ++row)
      if (!model.rows[static_cast<std::size_t>(row)].holonomic) velocity_rows_.push_back(row);
  }

  const std::vector<int>& velocity_rows() const { return velocity_rows_; }

  /// The groups of the terms, with rows at velocity level cleared.
  const std::vector<ForceColumns>& groups(const ConstraintTerms& terms) {
    if (velocity_rows_.empty()) return terms.groups;
    groups_ = terms.groups;
    for (std::size_t g = 0; g < groups_.size(); ++g)
      for (const int row : velocity_rows_)
        if (const int c = row - terms.first_rows[g]; c >= 0 && c < groups_[g].columns()) groups_[g].clear(c);
    return groups_;
  }

 private:
  std::vector<int> velocity_rows_;
  std::vector<ForceColumns> groups_;
};

}  // namespace linkwork
