#pragma once

#include "linkwork/transport/transport.h"

namespace linkwork {

/// Time this thread has computed: other work on the machine does not count.
double busy_seconds();

/// Counts what goes through another transport, and the time spent in it: mostly waiting for others.
class MeteredTransport final : public Transport {
 public:
  struct Traffic {
    long messages = 0;
    double bytes = 0.0;  // sent and received
    double seconds = 0.0;
    double busy_seconds = 0.0;  // of them, if asked for, those in which the processor worked, or waited without sleeping

    Traffic& operator+=(const Traffic& other);
  };

  explicit MeteredTransport(Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  void broadcast(std::span<double> data, int root) override;
  void gather(std::span<double> data, std::span<const int> ends) override;
  void wait_for_all() override;
  void send(std::span<const double> data, int to, int channel) override;
  void receive(std::span<double> data, int from, int channel) override;
  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override;
  void collect(std::span<const double> own, std::span<double> all, std::span<const int> ends) override;
  double seconds() const override { return inner_.seconds(); }

  const Traffic& traffic() const { return traffic_; }
  /// To ask for busy seconds costs as much as a short message.
  void count_busy_seconds() { counts_busy_ = true; }

 private:
  template <class Exchange>
  void meter(std::size_t numbers, Exchange exchange, std::size_t messages = 1);

  Transport& inner_;
  Traffic traffic_;
  bool counts_busy_ = false;
};

}  // namespace linkwork
