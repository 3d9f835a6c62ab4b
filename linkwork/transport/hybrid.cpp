#include "linkwork/transport/hybrid.h"

#include <vector>

#include "linkwork/linalg/index.h"

namespace linkwork {

void HybridTransport::broadcast(std::span<double> data, int root) {
  if (root / count() == processes_.rank() && root % count() != 0) threads_.broadcast(data, root % count());
  if (speaks()) processes_.broadcast(data, root / count());
  threads_.broadcast(data, 0);
}

void HybridTransport::gather(std::span<double> data, std::span<const int> ends) {
  const int first = processes_.rank() * count();
  const int begin = first == 0 ? 0 : ends[at(first - 1)];
  std::vector<int> own_ends, process_ends;
  for (int t = 0; t < count(); ++t) own_ends.push_back(ends[at(first + t)] - begin);
  threads_.gather(data.subspan(at(begin), at(own_ends.back())), own_ends);
  if (speaks()) {
    for (int p = 1; p <= processes_.size(); ++p) process_ends.push_back(ends[at(p * count() - 1)]);
    processes_.gather(data, process_ends);
  }
  threads_.broadcast(data, 0);
}

void HybridTransport::wait_for_all() {
  threads_.wait_for_all();
  if (speaks()) processes_.wait_for_all();
  threads_.wait_for_all();
}

void HybridTransport::send(std::span<const double> data, int to, int channel) {
  if (to / count() == processes_.rank())
    threads_.send(data, to % count(), channel);
  else
    processes_.send(data, to / count(), channel_of(rank(), to, channel));
}

void HybridTransport::receive(std::span<double> data, int from, int channel) {
  if (from / count() == processes_.rank())
    threads_.receive(data, from % count(), channel);
  else
    processes_.receive(data, from / count(), channel_of(from, rank(), channel));
}

void HybridTransport::exchange(std::span<const Outgoing> out, std::span<const Incoming> in) {
  std::vector<Outgoing> out_here, out_there;
  std::vector<Incoming> in_here, in_there;
  for (const auto& [data, to, channel] : out)
    if (to / count() == processes_.rank())
      out_here.push_back({data, to % count(), channel});
    else
      out_there.push_back({data, to / count(), channel_of(rank(), to, channel)});
  for (const auto& [data, from, channel] : in)
    if (from / count() == processes_.rank())
      in_here.push_back({data, from % count(), channel});
    else
      in_there.push_back({data, from / count(), channel_of(from, rank(), channel)});
  threads_.exchange(out_here, {});  // between threads who sends does not wait
  processes_.exchange(out_there, in_there);
  threads_.exchange({}, in_here);
}

void HybridTransport::set_patience(double seconds, std::function<void(std::span<const int>)> tell) {
  threads_.wait_for_all();  // nobody waits for a message of another process meanwhile
  if (speaks())
    processes_.set_patience(seconds, [tell = std::move(tell), threads = count()](std::span<const int> silent) {
      std::vector<int> ranks;
      for (const int process : silent)
        for (int t = 0; t < threads; ++t) ranks.push_back(process * threads + t);
      tell(ranks);
    });
  threads_.wait_for_all();
}

}  // namespace linkwork
