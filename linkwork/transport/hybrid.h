#pragma once

#include "linkwork/transport/transport.h"

namespace linkwork {

/// Processes, each with the same number of threads, as one group of ranks: thread t of process p is rank p threads + t. Every
/// thread has one of its own, made of the transport between processes, which the first thread of each uses for all, and of that
/// between the threads.
class HybridTransport final : public Transport {
 public:
  HybridTransport(Transport& processes, Transport& threads) : processes_(processes), threads_(threads) {}

  int rank() const override { return processes_.rank() * count() + threads_.rank(); }
  int size() const override { return processes_.size() * count(); }
  void broadcast(std::span<double> data, int root) override;
  void gather(std::span<double> data, std::span<const int> ends) override;
  void wait_for_all() override;
  void set_patience(double seconds, std::function<void(std::span<const int>)> tell) override;

 private:
  int count() const { return threads_.size(); }  // of threads in a process
  bool speaks() const { return threads_.rank() == 0; }

  Transport& processes_;
  Transport& threads_;
};

}  // namespace linkwork
