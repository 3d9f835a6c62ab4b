#include "linkwork/modules/scheme.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace linkwork {

namespace {

constexpr int kNumbersUp = 150;            // of a group with two ports that are joined further up
constexpr int kNumbersDown = 20;           // on the way down
constexpr double kSecondsPerGroup = 2e-6;  // s, to solve one
constexpr int kTimings = 3;

double timed_exchange(Transport& transport, std::vector<double>& data, const std::vector<int>& ends) {
  const double before = transport.seconds();
  transport.gather(data, ends);
  return transport.seconds() - before;
}

/// Up to the first rank and down again, through neighbours, neighbours of pairs and so on.
double timed_tree(Transport& transport, std::vector<double>& data) {
  const int rank = transport.rank(), size = transport.size();
  const std::span up(data.data(), std::size_t{kNumbersUp}), down(data.data(), std::size_t{kNumbersDown});
  const double before = transport.seconds();
  int step = 1;
  for (; step < size && rank % (2 * step) == 0; step *= 2)
    if (rank + step < size) transport.receive(up, rank + step, 0);
  if (rank != 0) {
    transport.send(up, rank - step, 0);
    transport.receive(down, rank - step, 0);
  }
  for (step /= 2; step >= 1; step /= 2)
    if (rank + step < size) transport.send(down, rank + step, 0);
  return transport.seconds() - before;
}

/// Of ranks, from the bottom to the top and back, if so many levels are solved by the same one.
double cost_of_levels(int levels, int height, double hop) {
  double cost = 0.0;
  for (int left = height; left > 0; left -= levels)
    cost += 2.0 * hop + kSecondsPerGroup * static_cast<double>((1U << static_cast<unsigned>(std::min(left, levels))) - 1U);
  return cost;
}

}  // namespace

Way cheapest_way(Transport& transport, int modules, bool through_tree) {
  constexpr int kMostLevels = 5;
  // Up to two ranks with modules there is one group above them, and nothing to choose.
  const int busy = std::min(transport.size(), modules);
  if (busy <= 2) return {through_tree ? Scheme::kTree : Scheme::kOneExchange, 1};
  std::vector<double> data(static_cast<std::size_t>(kNumbersUp * (through_tree ? 1 : transport.size())), 0.0);
  std::vector<int> ends;
  for (int r = 1; r <= transport.size(); ++r) ends.push_back(kNumbersUp * r);
  const double never = std::numeric_limits<double>::infinity();
  double once = never, tree = never;
  for (int k = 0; k < kTimings; ++k) {
    transport.wait_for_all();
    if (!through_tree) once = std::min(once, timed_exchange(transport, data, ends));
    transport.wait_for_all();
    tree = std::min(tree, timed_tree(transport, data));
  }
  once += kSecondsPerGroup * (busy - 1);
  const int height = static_cast<int>(std::bit_width(static_cast<unsigned>(busy - 1)));
  const double hop = 0.5 * tree / height;
  int levels = 1;
  for (int more = 2; more <= std::min(height, kMostLevels); ++more)
    if (cost_of_levels(more, height, hop) < cost_of_levels(levels, height, hop)) levels = more;
  double chosen = through_tree || cost_of_levels(levels, height, hop) < once ? levels : 0;  // 0: one exchange
  transport.broadcast({&chosen, 1}, 0);
  return chosen == 0.0 ? Way{} : Way{Scheme::kTree, static_cast<int>(chosen)};
}

}  // namespace linkwork
