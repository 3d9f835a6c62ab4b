#include "linkwork/modules/placement.h"

#include <algorithm>
#include <numeric>

namespace linkwork {

namespace {

/// Shares none of which costs more than `most`, filled from the left as long as that leaves none of the ranks idle. Only where
/// leaves are fewer than ranks the last ones are.
Placement filled(const std::vector<double>& cost, int ranks, double most) {
  Placement placement;
  double sum = 0.0;
  for (std::size_t leaf = 0; leaf < cost.size(); ++leaf) {
    const auto leaves_left = std::ssize(cost) - static_cast<std::ptrdiff_t>(leaf),
               shares_left = ranks - 1 - std::ssize(placement.ends);
    if (sum > 0.0 && (sum + cost[leaf] > most || leaves_left <= shares_left)) {
      placement.ends.push_back(static_cast<int>(leaf));
      sum = 0.0;
    }
    sum += cost[leaf];
  }
  placement.ends.push_back(static_cast<int>(cost.size()));
  while (static_cast<int>(placement.ends.size()) < ranks) placement.ends.push_back(static_cast<int>(cost.size()));
  return placement;
}

}  // namespace

int Placement::rank_of(int leaf) const { return static_cast<int>(std::ranges::upper_bound(ends, leaf) - ends.begin()); }

Placement place(const std::vector<double>& cost, int ranks) {
  const double whole = std::accumulate(cost.begin(), cost.end(), 0.0);
  double low = whole / ranks, high = whole;
  for (int i = 0; i < 50; ++i) {
    const double middle = 0.5 * (low + high);
    (static_cast<int>(filled(cost, ranks, middle).ends.size()) <= ranks ? high : low) = middle;
  }
  return filled(cost, ranks, high * (1.0 + 1e-12));
}

double most_expensive(const Placement& placement, const std::vector<double>& cost) {
  double most = 0.0;
  for (int rank = 0; rank < static_cast<int>(placement.ends.size()); ++rank)
    most = std::max(most, std::accumulate(cost.begin() + placement.begin(rank), cost.begin() + placement.end(rank), 0.0));
  return most;
}

}  // namespace linkwork
