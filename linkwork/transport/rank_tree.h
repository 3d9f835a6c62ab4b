#pragma once

#include <vector>

#include "linkwork/transport/transport.h"

namespace linkwork {

/// Ranks as a tree with the first one at the top: neighbours meet, then neighbours of pairs and so on. What goes up it and down
/// again takes 2 log2(p) messages one after the other.

/// Calls receive(rank) for those that report to this rank, in rising order, then send(rank), unless this is the first.
template <class Receive, class Send>
void go_up_ranks(const Transport& transport, Receive receive, Send send) {
  const int rank = transport.rank(), size = transport.size();
  for (int step = 1; step < size; step *= 2) {
    if (rank % (2 * step) != 0) return send(rank - step);
    if (rank + step < size) receive(rank + step);
  }
}

/// The other way round: first receive(rank), unless this is the first, then send(rank) to those that wait.
template <class Receive, class Send>
void go_down_ranks(const Transport& transport, Receive receive, Send send) {
  const int rank = transport.rank(), size = transport.size();
  int step = 1;
  while (step < size && rank % (2 * step) == 0) step *= 2;
  if (rank != 0) receive(rank - step);
  for (step /= 2; step >= 1; step /= 2)
    if (rank + step < size) send(rank + step);
}

/// numbers = what becomes of them by add(into, from) over all ranks; all get the same. It must not matter in which order they are
/// added, as with the largest, or with sums of whole numbers.
template <class Add>
void combine(Transport& transport, std::span<double> numbers, Add add) {
  std::vector<double> other(numbers.size());
  const auto hear = [&](int rank) {
    transport.receive(other, rank, 0);
    add(numbers, std::span<const double>(other));
  };
  go_up_ranks(transport, hear, [&](int rank) { transport.send(numbers, rank, 0); });
  go_down_ranks(
      transport, [&](int rank) { transport.receive(numbers, rank, 0); }, [&](int rank) { transport.send(numbers, rank, 0); });
}

inline void add_each(std::span<double> into, std::span<const double> from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] += from[i];
}

/// numbers = the sums of those of all ranks, which are whole, so that any order gives the same.
inline void add_whole_numbers(Transport& transport, std::span<double> numbers) { combine(transport, numbers, add_each); }

}  // namespace linkwork
