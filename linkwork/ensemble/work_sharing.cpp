#include "linkwork/ensemble/work_sharing.h"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace linkwork {
namespace {

using Result = std::pair<long, std::string>;

/// How many tasks, for each that can be done at a time, may be done before the results of an earlier one are there.
constexpr long kAhead = 64;

/// The threads of this process: they take tasks from a list, and leave results in another.
class Crew {
 public:
  Crew(int threads, const SharedWork& work) : work_(work) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { run(); });
  }
  ~Crew() { stop(); }
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  void give(long task) {
    {
      const std::scoped_lock locked(lock_);
      tasks_.push_back(task);
    }
    wake_.notify_one();
  }

  /// The next result, or none after a while. Throws what a thread threw.
  std::optional<Result> wait(std::chrono::microseconds longest) {
    std::unique_lock locked(lock_);
    done_.wait_for(locked, longest, [this] { return !results_.empty() || trouble_; });
    if (trouble_) std::rethrow_exception(trouble_);
    if (results_.empty()) return {};
    Result result = std::move(results_.front());
    results_.pop_front();
    return result;
  }

  void stop() {
    {
      const std::scoped_lock locked(lock_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_)
      if (thread.joinable()) thread.join();
  }

 private:
  void run() {
    const std::function<bool()> go_on = [this] { return !stopping_; };
    for (;;) {
      std::unique_lock locked(lock_);
      wake_.wait(locked, [this] { return stopping_ || !tasks_.empty(); });
      if (stopping_) return;
      const long task = tasks_.front();
      tasks_.pop_front();
      locked.unlock();
      try {
        std::string result = work_.work(task, go_on);
        locked.lock();
        results_.emplace_back(task, std::move(result));
      } catch (...) {
        locked.lock();
        trouble_ = std::current_exception();
      }
      locked.unlock();
      done_.notify_one();
    }
  }

  const SharedWork& work_;
  std::mutex lock_;
  std::condition_variable wake_, done_;
  std::atomic<bool> stopping_ = false;
  std::deque<long> tasks_;
  std::deque<Result> results_;
  std::exception_ptr trouble_;
  std::vector<std::thread> threads_;
};

// Letters: "12" is a task; "12 ..." its result; "end": no more tasks; "stop": this rank was told to stop; "bye": the last letter.

std::string letter_of(const Result& result) { return std::to_string(result.first) + " " + result.second; }

long task_of(const std::string& bytes) {
  long task = 0;
  std::from_chars(bytes.data(), bytes.data() + bytes.size(), task);
  return task;
}

/// The first rank: hands out tasks to its own crew and to the other ranks, and puts results in order.
class Foreman {
 public:
  Foreman(const SharedWork& work, Mailbox* ranks)
      : work_(work), ranks_(ranks), next_(work.first), taken_(work.first), crew_(work.threads, work) {
    // One more than it can do at a time, so that nobody waits for the post.
    free_.assign(static_cast<std::size_t>(ranks ? ranks->size() : 1), work.threads + 1);
  }

  bool run() {
    // With other processes, the post is looked at between.
    const std::chrono::microseconds longest(ranks_ ? 500 : 20000);
    bool going = true;
    while (taken_ < work_.end && (going = going && (!work_.go_on || work_.go_on()))) {
      hand_out();
      if (auto result = crew_.wait(longest)) {
        ++free_.front();
        add(std::move(*result));
      }
      while (ranks_) {
        const auto letter = ranks_->receive();
        if (!letter) break;
        going = read(*letter) && going;
      }
      take();
    }
    dismiss();
    return taken_ == work_.end;
  }

 private:
  void hand_out() {
    const long ahead = kAhead * work_.threads * static_cast<long>(free_.size());
    const auto is_left = [&] { return next_ < work_.end && next_ < taken_ + ahead; };
    for (bool given = true; given && is_left();) {
      given = false;
      for (std::size_t rank = 0; rank < free_.size() && is_left(); ++rank) {
        if (free_[rank] == 0) continue;
        --free_[rank];
        given = true;
        if (rank == 0)
          crew_.give(next_++);
        else
          ranks_->send(static_cast<int>(rank), std::to_string(next_++));
      }
    }
  }

  /// Whether the work goes on.
  bool read(const Mailbox::Letter& letter) {
    if (letter.bytes == "stop") return false;
    const std::size_t blank = letter.bytes.find(' ');
    ++free_[static_cast<std::size_t>(letter.from)];
    add({task_of(letter.bytes), letter.bytes.substr(blank + 1)});
    return true;
  }

  void add(Result result) { results_.insert(std::move(result)); }

  void take() {
    while (!results_.empty() && results_.begin()->first == taken_) {
      std::string result = std::move(results_.begin()->second);
      results_.erase(results_.begin());
      work_.take(taken_++, std::move(result));
    }
  }

  void dismiss() {
    crew_.stop();
    if (!ranks_) return;
    for (int rank = 1; rank < ranks_->size(); ++rank) ranks_->send(rank, "end");
    for (int left = ranks_->size() - 1; left > 0;) {
      if (const auto letter = ranks_->receive())
        left -= letter->bytes == "bye" ? 1 : 0;
      else
        std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  }

  const SharedWork& work_;
  Mailbox* ranks_;
  long next_, taken_;
  std::vector<int> free_;  // by rank: how many tasks it can take
  std::map<long, std::string> results_;
  Crew crew_;
};

/// Another rank: does what it is given.
void follow(const SharedWork& work, Mailbox& ranks) {
  Crew crew(work.threads, work);
  for (bool told = false;;) {
    if (const auto letter = ranks.receive()) {
      if (letter->bytes == "end") break;
      crew.give(task_of(letter->bytes));
    }
    if (const auto result = crew.wait(std::chrono::microseconds(500)); result && !told) ranks.send(0, letter_of(*result));
    if (!told && work.go_on && !work.go_on()) {
      ranks.send(0, "stop");
      told = true;
    }
  }
  crew.stop();
  ranks.send(0, "bye");
}

}  // namespace

bool share_work(const SharedWork& work, Mailbox* ranks) {
  if (ranks == nullptr || ranks->rank() == 0) return Foreman(work, ranks).run();
  follow(work, *ranks);
  return true;
}

}  // namespace linkwork
