#include "studies/free_cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <thread>
#include <vector>

#include "linkwork/transport/metered.h"

namespace linkwork::studies {
namespace {

constexpr double kLook = 0.1;  // s: many turns of the scheduler
constexpr double kFree = 0.9;  // of a processor for each thread

double processors_of_threads(int threads) {
  std::vector<double> shares(static_cast<std::size_t>(threads));
  std::vector<std::thread> team;
  for (double& share : shares)
    team.emplace_back([&share] {
      const double begin = busy_seconds();
      const Stopwatch stopwatch;
      volatile double number = 2.0;  // not known to the compiler, or there would be nothing to do
      while (stopwatch.seconds() < kLook)
        for (int i = 0; i < 10'000; ++i) number = number * 0.999999 + 1e-6;
      share = (busy_seconds() - begin) / stopwatch.seconds();
    });
  for (std::thread& thread : team) thread.join();
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

}  // namespace

FreeCores::FreeCores(int threads) : threads_(threads), got_(processors_got()) {}
FreeCores::FreeCores(Transport& ranks) : threads_(ranks.size()), ranks_(&ranks), got_(processors_got()) {}

double FreeCores::processors_got() const {
  if (!ranks_) return processors_of_threads(threads_);
  std::vector<double> shares(static_cast<std::size_t>(threads_));
  std::vector<int> ends(shares.size());
  std::iota(ends.begin(), ends.end(), 1);
  ranks_->wait_for_all();
  shares[static_cast<std::size_t>(ranks_->rank())] = processors_of_threads(1);
  ranks_->gather(shares, ends);
  return std::accumulate(shares.begin(), shares.end(), 0.0);
}

void FreeCores::look() { got_ = std::min(got_, processors_got()); }

bool FreeCores::free() const { return got_ >= kFree * threads_; }

std::string FreeCores::in_words() const {
  return fmt::format("{} {} got {:.2f} processors of {}", threads_,
                     ranks_          ? "ranks"
                     : threads_ == 1 ? "thread"
                                     : "threads",
                     got_, std::max(1U, std::thread::hardware_concurrency()));
}

Claim FreeCores::judged(Claim claim) const {
  if (free()) return claim;
  claim.holds = Holds::kNotMeasured;
  claim.measured = "not measured: " + in_words();
  claim.why = "times tell of the methods only while no other program uses the processors";
  return claim;
}

}  // namespace linkwork::studies
