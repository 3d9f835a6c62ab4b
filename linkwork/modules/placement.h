#pragma once

#include <vector>

namespace linkwork {

/// Which rank runs which modules: rank r those at places ends[r - 1] ... ends[r] - 1 of the order of leaves (GroupTree).
struct Placement {
  std::vector<int> ends;

  int begin(int rank) const { return rank == 0 ? 0 : ends[static_cast<std::size_t>(rank) - 1]; }
  int end(int rank) const { return ends[static_cast<std::size_t>(rank)]; }
  int rank_of(int leaf) const;
};

/// Shares that are neighbours in the order of leaves, of which the most expensive is as cheap as can be. It never matters to the
/// results, only to the time they take.
Placement place(const std::vector<double>& cost, int ranks);

/// What the rank with the most to do has to do.
double most_expensive(const Placement& placement, const std::vector<double>& cost);

}  // namespace linkwork
