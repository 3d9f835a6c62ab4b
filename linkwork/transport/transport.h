#pragma once

#include <functional>
#include <span>

namespace linkwork {

/// A group of ranks that work on one problem, and the messages between them. Every rank calls the same functions in the same
/// order with arrays of the same length, apart from messages between two of them.
///
/// None of the messages adds numbers up: a sum over ranks would depend on how many there are. What is added is collected first
/// and added in an order fixed by the problem, see ordered_sum(), so that any number of ranks gives the same bits.
class Transport {
 public:
  virtual ~Transport() = default;

  virtual int rank() const = 0;
  virtual int size() const = 0;

  /// All get what `root` has.
  virtual void broadcast(std::span<double> data, int root) = 0;

  /// Rank r brings data[ends[r - 1], ends[r]), with ends[-1] = 0 and ends[size - 1] = data.size(); all get the whole.
  virtual void gather(std::span<double> data, std::span<const int> ends) = 0;

  /// Returns when all have called it.
  virtual void wait_for_all() = 0;

  /// To one other rank. The data may be changed when it returns; it may wait until the other receives it. Messages from one rank
  /// to another on the same channel arrive in the order in which they were sent.
  virtual void send(std::span<const double> data, int to, int channel) = 0;
  /// What `from` sends to this rank: as many numbers as it sends.
  virtual void receive(std::span<double> data, int from, int channel) = 0;

  struct Outgoing {
    std::span<const double> data;
    int to, channel;
  };
  struct Incoming {
    std::span<double> data;
    int from, channel;
  };
  /// Several of both at the same time, so that ranks can swap what they have: returns when all have arrived.
  virtual void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) = 0;

  /// Like gather(), but only the first rank gets the whole: `all` and `ends` are not looked at on the others.
  virtual void collect(std::span<const double> own, std::span<double> all, std::span<const int> ends);

  /// From here on several threads of this process may call send() and receive() at the same time, each on channels of its own.
  virtual void admit_threads() {}

  /// The time that messages take is measured by this clock, which simulated networks have of their own.
  virtual double seconds() const;

  /// From here on a rank that has waited so long for others looks for those that do not answer: if there are any, tell(ranks) is
  /// called and all processes end. All ranks call it. Only processes can be lost: others do nothing.
  virtual void set_patience(double /*seconds*/, std::function<void(std::span<const int>)> /*tell*/) {}
};

/// Transport of a program that works alone.
class InProcess final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void broadcast(std::span<double>, int) override {}
  void gather(std::span<double>, std::span<const int>) override {}
  void wait_for_all() override {}
  void send(std::span<const double>, int, int) override {}
  void receive(std::span<double>, int, int) override {}
  void exchange(std::span<const Outgoing>, std::span<const Incoming>) override {}
};

/// Tasks begin, ..., end - 1 out of `count`, those of one rank: as equal shares as possible, in order of rank.
struct Share {
  int begin = 0;
  int end = 0;
};
Share share_of(int count, int rank, int size);

/// sum = the sum of the columns of the column-major sum.size() x count matrix `terms`, from first to last. Each rank brings the
/// columns that share_of(count, rank, size) assigns to it. The result is the same for any number of ranks, to the last bit.
void ordered_sum(Transport& transport, std::span<double> terms, int count, std::span<double> sum);

}  // namespace linkwork
