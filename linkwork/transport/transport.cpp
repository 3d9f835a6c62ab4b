#include "linkwork/transport/transport.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace linkwork {

void Transport::collect(std::span<const double> own, std::span<double> all, std::span<const int> ends) {
  if (rank() != 0) {
    if (!own.empty()) send(own, 0, 0);
    return;
  }
  std::ranges::copy(own, all.begin());
  for (std::size_t r = 1; r < ends.size(); ++r)
    if (const auto begin = static_cast<std::size_t>(ends[r - 1]), end = static_cast<std::size_t>(ends[r]); begin < end)
      receive(all.subspan(begin, end - begin), static_cast<int>(r), 0);
}

double Transport::seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

Share share_of(int count, int rank, int size) {
  const auto edge = [&](int r) { return static_cast<int>(std::int64_t{count} * r / size); };
  return {edge(rank), edge(rank + 1)};
}

void ordered_sum(Transport& transport, std::span<double> terms, int count, std::span<double> sum) {
  const int size = transport.size();
  std::vector<int> ends(static_cast<std::size_t>(size));
  for (int r = 0; r < size; ++r) ends[static_cast<std::size_t>(r)] = share_of(count, r, size).end * static_cast<int>(sum.size());
  transport.gather(terms, ends);
  std::ranges::fill(sum, 0.0);
  for (std::size_t at = 0; at < terms.size(); at += sum.size())
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += terms[at + i];
}

}  // namespace linkwork
