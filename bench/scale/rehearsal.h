#pragma once

#include <smpi/smpi.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "linkwork/transport/transport.h"

namespace linkwork::bench {

/// What a rank computes between its messages takes as long on a simulated cluster as it takes here by itself, again and again:
/// the others share this machine's processor and its caches, and so does whatever else runs, which they would not there. A
/// stretch of work is therefore rehearsed: its messages are kept, and it is repeated with them while the others wait. The
/// shortest time of each piece between two messages counts from then on, whenever the stretch is performed.
class RehearsedTransport final : public Transport {
 public:
  explicit RehearsedTransport(Transport& inner) : inner_(inner) {}

  int rank() const override { return inner_.rank(); }
  int size() const override { return inner_.size(); }
  void broadcast(std::span<double> data, int root) override {
    pass(data, [&] { inner_.broadcast(data, root); });
  }
  void gather(std::span<double> data, std::span<const int> ends) override {
    pass(data, [&] { inner_.gather(data, ends); });
  }
  void wait_for_all() override {
    pass({}, [&] { inner_.wait_for_all(); });
  }
  void send(std::span<const double> data, int to, int channel) override {
    pass({}, [&] { inner_.send(data, to, channel); });
  }
  void receive(std::span<double> data, int from, int channel) override {
    pass(data, [&] { inner_.receive(data, from, channel); });
  }
  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    std::vector<std::span<double>> received;
    for (const Incoming& letter : in) received.push_back(letter.data);
    pass_all(received, [&] { inner_.exchange(out, in); });
  }
  void collect(std::span<const double> own, std::span<double> all, std::span<const int> ends) override {
    pass(all, [&] { inner_.collect(own, all, ends); });
  }
  double seconds() const override { return inner_.seconds(); }

  /// Once with the others, then `times` alone.
  template <class Work>
  void rehearse(int times, Work work) {
    letters_.clear();
    costs_.clear();
    for (int k = 0; k <= times; ++k) {
      part_ = k == 0 ? Part::kListen : Part::kRehearse;
      begin();
      work();
      note();
    }
    part_ = Part::kNone;
    inner_.wait_for_all();
  }

  /// Calls work(), which takes the time that was found, so many times.
  template <class Work>
  auto perform(double slowness, Work work) {
    part_ = Part::kPerform;
    slowness_ = slowness;
    begin();
    auto result = work();
    note();
    part_ = Part::kNone;
    return result;
  }

 private:
  using Clock = std::chrono::steady_clock;  // of this machine
  enum class Part { kNone, kListen, kRehearse, kPerform };

  void begin() {
    place_ = 0;
    since_ = Clock::now();
  }

  /// A piece is over.
  void note() {
    const double spent = std::chrono::duration<double>(Clock::now() - since_).count();
    if (part_ == Part::kListen) costs_.push_back(std::numeric_limits<double>::infinity());
    if (part_ == Part::kRehearse && place_ < costs_.size()) costs_[place_] = std::min(costs_[place_], spent);
    if (part_ == Part::kPerform)
      smpi_execute(slowness_ * costs_[place_ % costs_.size()]);  // more of them than were rehearsed: as those
    ++place_;
  }

  template <class Message>
  void pass(std::span<double> received, Message message) {
    pass_all({&received, 1}, message);
  }
  template <class Message>
  void pass_all(std::span<const std::span<double>> received, Message message) {
    if (part_ == Part::kNone) return message();
    note();
    if (part_ == Part::kRehearse) {
      auto from = letters_.at(place_ - 1).begin();
      for (const std::span<double>& part : received)
        for (double& number : part) number = *from++;
    } else {
      message();
      if (part_ == Part::kListen) {
        letters_.emplace_back();
        for (const std::span<double>& part : received) letters_.back().insert(letters_.back().end(), part.begin(), part.end());
      }
    }
    since_ = Clock::now();
  }

  Transport& inner_;
  Part part_ = Part::kNone;
  double slowness_ = 1.0;
  std::size_t place_ = 0;
  Clock::time_point since_;
  std::vector<std::vector<double>> letters_;  // by message: what came with it
  std::vector<double> costs_;                 // s, of the pieces before each message, and behind the last
};

}  // namespace linkwork::bench
