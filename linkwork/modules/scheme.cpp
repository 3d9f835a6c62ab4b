#include "linkwork/modules/scheme.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace linkwork {

namespace {

constexpr int kNumbers = 160;                // of a group with two ports that are joined further up
constexpr double kSecondsPerGroup = 2e-6;    // s, to solve one
constexpr double kSecondsPerMessage = 5e-7;  // s, of each beside the first of a swap
constexpr int kTimings = 3;

double timed_exchange(Transport& transport, std::vector<double>& data, const std::vector<int>& ends) {
  const double before = transport.seconds();
  transport.gather(data, ends);
  return transport.seconds() - before;
}

/// Each rank with its neighbour, then with one of the next pair and so on.
double timed_swaps(Transport& transport, std::span<double> own, std::span<double> other) {
  const double before = transport.seconds();
  for (unsigned step = 1; step < static_cast<unsigned>(transport.size()); step *= 2) {
    const int partner = static_cast<int>(static_cast<unsigned>(transport.rank()) ^ step);
    if (partner >= transport.size()) continue;
    const Transport::Outgoing out{own, partner, 0};
    const Transport::Incoming in{other, partner, 0};
    transport.exchange({&out, 1}, {&in, 1});
  }
  return transport.seconds() - before;
}

/// Of ranks, from the bottom to the top, if so many levels are solved after each swap.
double cost_of_levels(int levels, int height, double swap) {
  double cost = 0.0;
  for (int left = height; left > 0; left -= levels) {
    const auto groups = static_cast<double>((1U << static_cast<unsigned>(std::min(left, levels))) - 1U);
    cost += swap + kSecondsPerMessage * (groups - 1.0) + kSecondsPerGroup * groups;
  }
  return cost;
}

}  // namespace

Way cheapest_way(Transport& transport, int modules, bool through_tree) {
  constexpr int kMostLevels = 5;
  // Up to two ranks with modules there is one group above them, and nothing to choose.
  const int busy = std::min(transport.size(), modules);
  if (busy <= 2) return {through_tree ? Scheme::kTree : Scheme::kOneExchange, 1};
  std::vector<double> data(static_cast<std::size_t>(kNumbers * (through_tree ? 1 : transport.size())), 0.0), other(kNumbers);
  std::vector<int> ends;
  for (int r = 1; r <= transport.size(); ++r) ends.push_back(kNumbers * r);
  const double never = std::numeric_limits<double>::infinity();
  double once = never, tree = never;
  for (int k = 0; k < kTimings; ++k) {
    transport.wait_for_all();
    if (!through_tree) once = std::min(once, timed_exchange(transport, data, ends));
    transport.wait_for_all();
    tree = std::min(tree, timed_swaps(transport, std::span(data).first(kNumbers), other));
  }
  once += kSecondsPerGroup * (busy - 1);
  const int height = static_cast<int>(std::bit_width(static_cast<unsigned>(busy - 1)));
  const double swap = tree / height;
  int levels = 1;
  for (int more = 2; more <= std::min(height, kMostLevels); ++more)
    if (cost_of_levels(more, height, swap) < cost_of_levels(levels, height, swap)) levels = more;
  double chosen = through_tree || cost_of_levels(levels, height, swap) < once ? levels : 0;  // 0: one exchange
  transport.broadcast({&chosen, 1}, 0);
  return chosen == 0.0 ? Way{} : Way{Scheme::kTree, static_cast<int>(chosen)};
}

}  // namespace linkwork
