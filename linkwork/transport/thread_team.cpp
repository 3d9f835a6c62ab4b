#include "linkwork/transport/thread_team.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <list>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <thread>
#include <vector>

namespace linkwork {

namespace {

/// Thrown on ranks that wait for one that has failed.
struct Stopped {};

/// Tells the processor that it waits for another core.
void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

/// Where the ranks of one task meet. When one fails, the others find out at their next meeting.
class MeetingPoint {
 public:
  explicit MeetingPoint(int size)
      : data_(static_cast<std::size_t>(size)),
        boxes_(static_cast<std::size_t>(size) * static_cast<std::size_t>(size)),
        size_(size),
        can_spin_(static_cast<unsigned>(size) <= std::thread::hardware_concurrency()) {}

  void meet() {
    const int round = round_;  // before looking at failed_: leave() sets them the other way round
    if (failed_) throw Stopped{};
    if (arrived_.fetch_add(1) + 1 == size_) {
      arrived_ = 0;
      next_round();
    } else {
      wait_past(round);
    }
    if (failed_) throw Stopped{};
  }

  void leave() {
    failed_ = true;
    next_round();
    for (Box& box : boxes_) {
      const std::lock_guard lock(box.mutex);
      box.arrival.notify_all();
    }
  }

  void send(std::span<const double> data, int from, int to, int channel) {
    if (failed_) throw Stopped{};
    Box& box = box_of(from, to);
    const std::lock_guard lock(box.mutex);
    if (box.spare.empty()) box.spare.emplace_back();
    box.letters.splice(box.letters.end(), box.spare, box.spare.begin());
    box.letters.back().channel = channel;
    box.letters.back().data.assign(data.begin(), data.end());
    ++box.count;
    box.arrival.notify_all();
  }

  void receive(std::span<double> data, int from, int to, int channel) {
    Box& box = box_of(from, to);
    for (int i = 0; can_spin_ && i < kSpins && box.count == 0; ++i) relax();
    std::unique_lock lock(box.mutex);
    auto letter = box.letters.end();
    box.arrival.wait(lock, [&] {
      letter = std::ranges::find(box.letters, channel, &Letter::channel);
      return letter != box.letters.end() || failed_;
    });
    if (letter == box.letters.end()) throw Stopped{};
    std::ranges::copy(letter->data, data.begin());
    box.spare.splice(box.spare.end(), box.letters, letter);
    --box.count;
  }

  void show(int rank, double* data) { data_[static_cast<std::size_t>(rank)] = data; }
  const double* shown_by(int rank) const { return data_[static_cast<std::size_t>(rank)]; }

 private:
  void next_round() {
    round_.fetch_add(1);
    round_.notify_all();
  }

  /// Between messages there often are only microseconds of work: falling asleep and being woken takes longer.
  void wait_past(int round) const {
    for (int i = 0; can_spin_ && i < kSpins && round_ == round; ++i) relax();
    while (round_ == round) round_.wait(round);
  }

  static constexpr int kSpins = 2000;

  struct Letter {
    int channel = 0;
    std::vector<double> data;
  };
  /// Messages on their way from one rank to another.
  struct Box {
    std::mutex mutex;
    std::condition_variable arrival;
    std::list<Letter> letters, spare;  // the latter were read, and will be written again
    std::atomic<int> count = 0;        // of letters
  };
  Box& box_of(int from, int to) { return boxes_[static_cast<std::size_t>(from * size_ + to)]; }

  std::vector<double*> data_;  // by rank: the array of the message under way
  std::vector<Box> boxes_;
  int size_;
  bool can_spin_;  // with more threads than cores it would keep others from working
  std::atomic<int> arrived_ = 0, round_ = 0;
  std::atomic<bool> failed_ = false;
};

class ThreadTransport final : public Transport {
 public:
  ThreadTransport(MeetingPoint& point, int rank, int size) : point_(point), rank_(rank), size_(size) {}

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void broadcast(std::span<double> data, int root) override {
    exchange(data, [&] {
      if (rank_ != root) std::copy_n(point_.shown_by(root), data.size(), data.data());
    });
  }

  void gather(std::span<double> data, std::span<const int> ends) override {
    exchange(data, [&] {
      std::size_t begin = 0;
      for (int r = 0; r < size_; ++r) {
        const auto end = static_cast<std::size_t>(ends[static_cast<std::size_t>(r)]);
        if (r != rank_) std::copy(point_.shown_by(r) + begin, point_.shown_by(r) + end, data.data() + begin);
        begin = end;
      }
    });
  }

  void wait_for_all() override { point_.meet(); }

  void send(std::span<const double> data, int to, int channel) override { point_.send(data, rank_, to, channel); }
  void receive(std::span<double> data, int from, int channel) override { point_.receive(data, from, rank_, channel); }
  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override {  // who sends does not wait
    for (const Outgoing& letter : out) send(letter.data, letter.to, letter.channel);
    for (const Incoming& letter : in) receive(letter.data, letter.from, letter.channel);
  }

 private:
  /// Copies while the arrays of all ranks hold still.
  template <class Copy>
  void exchange(std::span<double> data, Copy copy) {
    point_.show(rank_, data.data());
    point_.meet();
    copy();
    point_.meet();
  }

  MeetingPoint& point_;
  int rank_, size_;
};

}  // namespace

class ThreadTeam::Shared {
 public:
  explicit Shared(int size) : size_(size), errors_(static_cast<std::size_t>(size)) {
    for (int rank = 1; rank < size; ++rank) threads_.emplace_back([this, rank] { serve(rank); });
  }

  ~Shared() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    start_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  int size() const { return size_; }

  void run(const std::function<void(Transport&)>& task) {
    {
      const std::lock_guard lock(mutex_);
      task_ = &task;
      point_.emplace(size_);
      std::ranges::fill(errors_, nullptr);
      working_ = size_ - 1;
      ++round_;
    }
    start_.notify_all();
    work(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return working_ == 0; });
    for (const std::exception_ptr& error : errors_)
      if (error) std::rethrow_exception(error);
  }

 private:
  void serve(int rank) {
    int served = 0;
    while (true) {
      {
        std::unique_lock lock(mutex_);
        start_.wait(lock, [&] { return closing_ || round_ != served; });
        if (closing_) return;
        served = round_;
      }
      work(rank);
      const std::lock_guard lock(mutex_);
      if (--working_ == 0) done_.notify_one();
    }
  }

  void work(int rank) {
    ThreadTransport transport(*point_, rank, size_);
    try {
      (*task_)(transport);
    } catch (const Stopped&) {
      point_->leave();
    } catch (...) {
      errors_[static_cast<std::size_t>(rank)] = std::current_exception();
      point_->leave();
    }
  }

  int size_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  std::optional<MeetingPoint> point_;
  const std::function<void(Transport&)>* task_ = nullptr;
  std::vector<std::exception_ptr> errors_;
  int round_ = 0;
  int working_ = 0;
  bool closing_ = false;
  std::vector<std::thread> threads_;  // last: they use the rest
};

ThreadTeam::ThreadTeam(int size) {
  if (size < 1) throw std::invalid_argument("a team has at least one thread");
  shared_ = std::make_unique<Shared>(size);
}
ThreadTeam::~ThreadTeam() = default;

int ThreadTeam::size() const { return shared_->size(); }
void ThreadTeam::run(const std::function<void(Transport&)>& task) { shared_->run(task); }

}  // namespace linkwork
