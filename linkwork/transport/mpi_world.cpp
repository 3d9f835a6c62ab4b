#include "linkwork/transport/mpi_world.h"

#include <mpi.h>
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/lsan_interface.h>
#endif

#include <cstddef>
#include <exception>
#include <stdexcept>
#include <vector>

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
    if (group_ != MPI_COMM_WORLD) MPI_Comm_free(&group_);
  }
  MpiTransport(const MpiTransport&) = delete;
  MpiTransport& operator=(const MpiTransport&) = delete;

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  void broadcast(std::span<double> data, int root) override {
    MPI_Bcast(data.data(), static_cast<int>(data.size()), MPI_DOUBLE, root, group_);
  }

  void gather(std::span<double> data, std::span<const int> ends) override {
    int begin = 0;
    for (std::size_t r = 0; r < counts_.size(); ++r) {
      begins_[r] = begin;
      counts_[r] = ends[r] - begin;
      begin = ends[r];
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, data.data(), counts_.data(), begins_.data(), MPI_DOUBLE, group_);
  }

  void wait_for_all() override { MPI_Barrier(group_); }

 private:
  MPI_Comm group_;
  int rank_ = 0, size_ = 1;
  std::vector<int> counts_, begins_;
};

}  // namespace

MpiWorld::MpiWorld() : exceptions_(std::uncaught_exceptions()) {
  if (!under_mpirun()) {
    transport_ = std::make_unique<InProcess>();
    return;
  }
  int already = 0;
  MPI_Initialized(&already);
  if (already) throw std::logic_error("MPI is already running: a program has one MpiWorld");
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided);
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
