#include "linkwork/modules/scheme.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

namespace linkwork {

namespace {

constexpr int kNumbersUp = 150;            // of a group with two ports that are joined further up
constexpr int kNumbersDown = 20;           // on the way down
constexpr double kSecondsPerGroup = 5e-6;  // s, to solve one
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

}  // namespace

Scheme cheaper_scheme(Transport& transport, int modules) {
  // Up to two ranks with modules there is one group above them, and nothing to choose.
  const int busy = std::min(transport.size(), modules);
  if (busy <= 2) return Scheme::kOneExchange;
  std::vector<double> data(static_cast<std::size_t>(kNumbersUp * transport.size()), 0.0);
  std::vector<int> ends;
  for (int r = 1; r <= transport.size(); ++r) ends.push_back(kNumbersUp * r);
  double once = std::numeric_limits<double>::infinity(), tree = once;
  for (int k = 0; k < kTimings; ++k) {
    transport.wait_for_all();
    once = std::min(once, timed_exchange(transport, data, ends));
    transport.wait_for_all();
    tree = std::min(tree, timed_tree(transport, data));
  }
  once += kSecondsPerGroup * (busy - 1);
  tree += kSecondsPerGroup * std::bit_width(static_cast<unsigned>(busy - 1));
  double is_tree = tree < once ? 1.0 : 0.0;
  transport.broadcast({&is_tree, 1}, 0);
  return is_tree != 0.0 ? Scheme::kTree : Scheme::kOneExchange;
}

}  // namespace linkwork
