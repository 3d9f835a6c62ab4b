#include "linkwork/transport/mpi_world.h"

#include <mpi.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <exception>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

#include "linkwork/transport/mailbox.h"

namespace linkwork {

namespace {

// Errors of MPI itself end the program: that is MPI's default, and there is nothing to go on with.
class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(MPI_Comm group) : group_(group) {
    MPI_Comm_rank(group_, &rank_);
    MPI_Comm_size(group_, &size_);
    counts_.resize(static_cast<std::size_t>(size_));
    begins_.resize(static_cast<std::size_t>(size_));
  }
  ~MpiTransport() override {
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended) return;
    if (beside_ != MPI_COMM_NULL) MPI_Comm_free(&beside_);
    if (group_ != MPI_COMM_WORLD) MPI_Comm_free(&group_);
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void broadcast(std::span<double> data, int root) override {
    const auto count = static_cast<int>(data.size());
    if (blocks())
      MPI_Bcast(data.data(), count, MPI_DOUBLE, root, group_);
    else
      begin_and_wait([&](MPI_Request* request) { MPI_Ibcast(data.data(), count, MPI_DOUBLE, root, group_, request); });
  }

  void gather(std::span<double> data, std::span<const int> ends) override {
    count_shares(ends);
    if (blocks())
      MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), counts_.data(), begins_.data(), MPI_DOUBLE, group_);
    else
      begin_and_wait([&](MPI_Request* request) {
        MPI_Iallgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), counts_.data(), begins_.data(), MPI_DOUBLE, group_,
                        request);
      });
  }

  void wait_for_all() override {
    if (blocks())
      MPI_Barrier(group_);
    else
      begin_and_wait([&](MPI_Request* request) { MPI_Ibarrier(group_, request); });
  }

  void send(std::span<const double> data, int to, int channel) override {
    const auto count = static_cast<int>(data.size());
    if (blocks())
      MPI_Send(data.data(), count, MPI_DOUBLE, to, channel, group_);
    else
      begin_and_wait([&](MPI_Request* request) { MPI_Isend(data.data(), count, MPI_DOUBLE, to, channel, group_, request); });
  }

  void receive(std::span<double> data, int from, int channel) override {
    const auto count = static_cast<int>(data.size());
    if (blocks())
      MPI_Recv(data.data(), count, MPI_DOUBLE, from, channel, group_, MPI_STATUS_IGNORE);
    else
      begin_and_wait([&](MPI_Request* request) { MPI_Irecv(data.data(), count, MPI_DOUBLE, from, channel, group_, request); });
  }

  void exchange(std::span<const Outgoing> out, std::span<const Incoming> in) override {
    std::vector<MPI_Request> requests(out.size() + in.size(), MPI_REQUEST_NULL);
    auto next = requests.begin();
    {
      const std::unique_lock lock = threads_ ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
      for (const auto& [data, from, channel] : in)
        MPI_Irecv(data.data(), static_cast<int>(data.size()), MPI_DOUBLE, from, channel, group_, &*next++);
      for (const auto& [data, to, channel] : out)
        MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_DOUBLE, to, channel, group_, &*next++);
    }
    if (blocks())
      MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    else
      for (MPI_Request& request : requests) wait_patiently(request);
  }

  void collect(std::span<const double> own, std::span<double> all, std::span<const int> ends) override {
    if (!blocks()) return Transport::collect(own, all, ends);
    if (rank_ == 0) count_shares(ends);
    MPI_Gatherv(own.data(), static_cast<int>(own.size()), MPI_DOUBLE, all.data(), counts_.data(), begins_.data(), MPI_DOUBLE, 0,
                group_);
  }

  void admit_threads() override {
    int provided = MPI_THREAD_SINGLE;
    MPI_Query_thread(&provided);
    if (provided < MPI_THREAD_SERIALIZED) throw std::runtime_error("this MPI cannot be used by several threads of a process");
    threads_ = true;
  }
  double seconds() const override { return MPI_Wtime(); }

  void set_patience(double seconds, std::function<void(std::span<const int>)> tell) override {
    if (beside_ == MPI_COMM_NULL) MPI_Comm_dup(group_, &beside_);
    patience_ = std::chrono::duration<double>(seconds);
    tell_ = std::move(tell);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void count_shares(std::span<const int> ends) {
    int begin = 0;
    for (std::size_t r = 0; r < counts_.size(); ++r) {
      begins_[r] = begin;
      counts_[r] = ends[r] - begin;
      begin = ends[r];
    }
  }

  /// Whether MPI may be left to wait: nobody else in this process needs it, and nobody looks for the dead.
  bool blocks() const { return !tell_ && !threads_; }

  template <class Begin>
  void begin_and_wait(Begin begin) {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const std::lock_guard lock(mutex_);
      begin(&request);
    }
    wait_patiently(request);
  }

  /// To other threads of this process, which may have to come on before the message can.
  static void give_way(int tries) {
    constexpr int kBrief = 200;
    constexpr std::chrono::microseconds kNap(20);
    if (tries < kBrief)
      std::this_thread::yield();
    else
      std::this_thread::sleep_for(kNap);
  }

  void wait_patiently(MPI_Request& request) {
    constexpr int kTriesPerLook = 1000;
    auto since = Clock::now();
    for (int done = 0, tries = 1;; ++tries) {
      if (threads_) give_way(tries);
      const std::lock_guard lock(mutex_);
      MPI_Test(&request, &done, MPI_STATUS_IGNORE);
      if (done) return;
      if (!tell_ || tries % kTriesPerLook != 0 || (Clock::now() - std::max(since, looked_) < patience_ && !is_called())) continue;
      if (const std::vector<int> silent = silent_ranks(); !silent.empty()) end(silent);
      since = looked_ = Clock::now();
    }
  }

  bool is_called() const {
    int there = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, beside_, &there, MPI_STATUS_IGNORE);
    return there;
  }

  /// Who loses patience calls all others, and all who wait answer by calling too; who is stopped, or goes round in circles, does
  /// not.
  std::vector<int> silent_ranks() {
    constexpr std::chrono::seconds kAnswer(2);
    std::vector<char> heard(static_cast<std::size_t>(size_), 0);
    heard[static_cast<std::size_t>(rank_)] = 1;
    int missing = size_ - 1;
    static const int here = 1;
    for (int r = 0; r < size_; ++r) {
      if (r == rank_) continue;
      MPI_Request sent = MPI_REQUEST_NULL;
      MPI_Isend(&here, 1, MPI_INT, r, 0, beside_, &sent);
      MPI_Request_free(&sent);
    }
    for (const auto begun = Clock::now(); missing > 0 && Clock::now() - begun < kAnswer;) {
      if (!is_called()) continue;
      int word = 0;
      MPI_Status status;
      MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 0, beside_, &status);
      char& known = heard[static_cast<std::size_t>(status.MPI_SOURCE)];
      missing -= !known;
      known = 1;
    }
    std::vector<int> silent;
    for (int r = 0; r < size_; ++r)
      if (!heard[static_cast<std::size_t>(r)]) silent.push_back(r);
    return silent;
  }

  /// The first of those who answer speaks for all. The others leave it the time to: whoever aborts ends all.
  [[noreturn]] void end(const std::vector<int>& silent) {
    constexpr std::chrono::seconds kToSpeak(10);
    int first = 0;
    while (std::ranges::find(silent, first) != silent.end()) ++first;
    if (rank_ == first)
      tell_(silent);
    else
      std::this_thread::sleep_for(kToSpeak);
    MPI_Abort(MPI_COMM_WORLD, 1);
    std::abort();
  }

  std::mutex mutex_;                 // threads take turns in calling MPI
  bool threads_ = false;             // there may be some
  MPI_Comm beside_ = MPI_COMM_NULL;  // for words that are no part of the work
  std::chrono::duration<double> patience_{0.0};
  Clock::time_point looked_{};  // when one of the threads last found all others there
  std::function<void(std::span<const int>)> tell_;
  MPI_Comm group_;
  int rank_ = 0, size_ = 1;
  std::vector<int> counts_, begins_;
};

class MpiMailbox final : public Mailbox {
 public:
  MpiMailbox() {
    MPI_Comm_dup(MPI_COMM_WORLD, &group_);
    MPI_Comm_rank(group_, &rank_);
    MPI_Comm_size(group_, &size_);
  }
  ~MpiMailbox() override { MPI_Comm_free(&group_); }
  MpiMailbox(const MpiMailbox&) = delete;
  MpiMailbox& operator=(const MpiMailbox&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void send(int to, std::string_view bytes) override {
    if (bytes.size() > static_cast<std::size_t>(std::numeric_limits<int>::max()))
      throw std::length_error("the results of one run are too large for a message between processes");
    MPI_Send(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, to, 0, group_);
  }

  std::optional<Letter> receive() override {
    int there = 0, size = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, 0, group_, &there, &status);
    if (!there) return {};
    MPI_Get_count(&status, MPI_BYTE, &size);
    Letter letter{status.MPI_SOURCE, std::string(static_cast<std::size_t>(size), '\0')};
    MPI_Recv(letter.bytes.data(), size, MPI_BYTE, letter.from, 0, group_, MPI_STATUS_IGNORE);
    return letter;
  }

 private:
  MPI_Comm group_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
};

}  // namespace

std::unique_ptr<Mailbox> open_mailbox() {
  int started = 0, size = 1;
  MPI_Initialized(&started);
  if (started) MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size > 1 ? std::make_unique<MpiMailbox>() : nullptr;
}

MpiWorld::MpiWorld() : exceptions_(std::uncaught_exceptions()) {
  if (!under_mpirun()) {
    transport_ = std::make_unique<InProcess>();
    return;
  }
  int already = 0;
  MPI_Initialized(&already);
  if (already) throw std::logic_error("MPI is already running: a program has one MpiWorld");
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided);
  started_ = true;
  transport_ = std::make_unique<MpiTransport>(MPI_COMM_WORLD);
}

MpiWorld::~MpiWorld() {
  if (!started_) return;
  if (std::uncaught_exceptions() > exceptions_) MPI_Abort(MPI_COMM_WORLD, 1);
#if defined(__SANITIZE_ADDRESS__)
  // Later, Open MPI has unloaded its parts, and what they keep looks like leaks of nobody.
  __lsan_do_leak_check();
#endif
  MPI_Finalize();
}

std::unique_ptr<Transport> ranks_of(int communicator) {
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_Comm_f2c(static_cast<MPI_Fint>(communicator)), &group);
  return std::make_unique<MpiTransport>(group);
}

int world_communicator() { return static_cast<int>(MPI_Comm_c2f(MPI_COMM_WORLD)); }

std::unique_ptr<Transport> first_ranks(int count) {
  int started = 0, rank = 0;
  MPI_Initialized(&started);
  if (!started) return std::make_unique<InProcess>();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm group = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, rank < count ? 0 : MPI_UNDEFINED, rank, &group);
  return group == MPI_COMM_NULL ? nullptr : std::make_unique<MpiTransport>(group);
}

}  // namespace linkwork
