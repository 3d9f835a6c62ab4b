#pragma once

#include "linkwork/transport/transport.h"

namespace linkwork {

/// Processes, each with the same number of threads, as one group of ranks: thread t of process p is rank p threads + t. Every
/// thread has one of its own, made of the transport between processes, which all of them share, and of that between the threads.
class HybridTransport final : public Transport {
 public:
  HybridTransport(Transport& processes, Transport& threads) : processes_(processes), threads_(threads) {}

  int rank() const override { return processes_.rank() * count() + threads_.rank(); }
  int size() const override { return processes_.size() * count(); }
  void broadcast(std::span<double> data, int root) override;
  void gather(std::span<double> data, std::span<const int> ends) override;
  void wait_for_all() override;
  void send(std::span<const double> data, int to, int channel) override;
  void receive(std::span<double> data, int from, int channel) override;
  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override;
  void set_patience(double seconds, std::function<void(std::span<const int>)> tell) override;
  double seconds() const override { return processes_.seconds(); }

 private:
  int count() const { return threads_.size(); }  // of threads in a process
  bool speaks() const { return threads_.rank() == 0; }
  /// One for each pair of threads, and channel of the caller.
  int channel_of(int from, int to, int channel) const { return (channel * count() + from % count()) * count() + to % count(); }

  Transport& processes_;
  Transport& threads_;
};

}  // namespace linkwork
