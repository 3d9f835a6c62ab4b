#include "linkwork/transport/metered.h"

#include <chrono>
#include <ctime>

namespace linkwork {

double busy_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

MeteredTransport::Traffic& MeteredTransport::Traffic::operator+=(const Traffic& other) {
  messages += other.messages;
  bytes += other.bytes;
  seconds += other.seconds;
  busy_seconds += other.busy_seconds;
  return *this;
}

template <class Exchange>
void MeteredTransport::meter(std::size_t numbers, Exchange exchange, std::size_t messages) {
  if (size() == 1) return;
  const auto before = std::chrono::steady_clock::now();
  const double busy = counts_busy_ ? busy_seconds() : 0.0;
  exchange();
  if (counts_busy_) traffic_.busy_seconds += busy_seconds() - busy;
  traffic_.seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  traffic_.bytes += static_cast<double>(numbers * sizeof(double));
  traffic_.messages += static_cast<long>(messages);
}

void MeteredTransport::broadcast(std::span<double> data, int root) {
  meter(data.size(), [&] { inner_.broadcast(data, root); });
}

void MeteredTransport::gather(std::span<double> data, std::span<const int> ends) {
  meter(data.size(), [&] { inner_.gather(data, ends); });
}

void MeteredTransport::wait_for_all() {
  meter(0, [&] { inner_.wait_for_all(); });
}

void MeteredTransport::send(std::span<const double> data, int to, int channel) {
  meter(data.size(), [&] { inner_.send(data, to, channel); });
}

void MeteredTransport::receive(std::span<double> data, int from, int channel) {
  meter(data.size(), [&] { inner_.receive(data, from, channel); });
}

void MeteredTransport::exchange(std::span<const Outgoing> out, std::span<const Incoming> in) {
  std::size_t numbers = 0;
  for (const Outgoing& letter : out) numbers += letter.data.size();
  for (const Incoming& letter : in) numbers += letter.data.size();
  meter(
      numbers, [&] { inner_.exchange(out, in); }, out.size() + in.size());
}

void MeteredTransport::collect(std::span<const double> own, std::span<double> all, std::span<const int> ends) {
  if (size() == 1) inner_.collect(own, all, ends);
  meter(rank() == 0 ? all.size() : own.size(), [&] { inner_.collect(own, all, ends); });
}

}  // namespace linkwork
