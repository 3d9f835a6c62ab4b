#include "linkwork/transport/gram_schmidt_timing.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <random>

#include "linkwork/transport/block_gram_schmidt.h"
#include "linkwork/transport/row_gram_schmidt.h"
#include "linkwork/transport/thread_team.h"

namespace linkwork {

namespace {

/// One object for all repetitions: memory is allocated in the first.
class Runner {
 public:
  Runner(Transport& transport, GramSchmidt algorithm, const MatX<double>& rows)
      : transport_(transport), algorithm_(algorithm), rows_(rows) {
    for (Eigen::Index i = 0; i < rows.cols(); ++i) scale_.push_back(rows.col(i).squaredNorm());
  }

  void run() {
    switch (algorithm_) {
      case GramSchmidt::kSerial:
        return gigsp_.factor(rows_, scale_);
      case GramSchmidt::kRowsStrip:
        return row_gram_schmidt(transport_, rows_, scale_, kRankTolerance, RowPartition::kStrip, gigsp_.factors());
      case GramSchmidt::kRowsCyclic:
        return row_gram_schmidt(transport_, rows_, scale_, kRankTolerance, RowPartition::kCyclic, gigsp_.factors());
      case GramSchmidt::kBlocks:
        return blocks_.factor(transport_, rows_, scale_, kRankTolerance, gigsp_.factors());
    }
  }

 private:
  Transport& transport_;
  GramSchmidt algorithm_;
  const MatX<double>& rows_;
  std::vector<double> scale_;
  Gigsp gigsp_;
  BlockGramSchmidt blocks_;
};

}  // namespace

std::string_view name_of(GramSchmidt algorithm) {
  constexpr std::array<std::string_view, 4> kNames{"serial", "rows-strip", "rows-cyclic", "blocks"};
  return kNames.at(static_cast<std::size_t>(algorithm));
}

MatX<double> random_rows(int m, int n) {
  std::mt19937 random(1);
  return MatX<double>::NullaryExpr(n, m, [&] { return static_cast<double>(random()) / 2147483648.0 - 1.0; });
}

GramSchmidtTiming time_gram_schmidt(Transport& transport, GramSchmidt algorithm, const MatX<double>& rows, int repetitions) {
  using Clock = std::chrono::steady_clock;
  Runner runner(transport, algorithm, rows);
  double shortest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < repetitions; ++i) {
    transport.wait_for_all();
    const Clock::time_point start = Clock::now();
    runner.run();
    transport.wait_for_all();
    shortest = std::min(shortest, std::chrono::duration<double>(Clock::now() - start).count());
  }
  transport.broadcast({&shortest, 1}, 0);
  return {algorithm, static_cast<int>(rows.cols()), static_cast<int>(rows.rows()), transport.size(), shortest};
}

std::vector<GramSchmidtTiming> time_gram_schmidt_on_threads(int m, int n, std::span<const int> threads,
                                                            std::span<const GramSchmidt> algorithms, int repetitions) {
  const MatX<double> rows = random_rows(m, n);
  std::vector<GramSchmidtTiming> timings;
  for (GramSchmidt algorithm : algorithms) {
    if (algorithm == GramSchmidt::kSerial) {
      InProcess alone;
      timings.push_back(time_gram_schmidt(alone, algorithm, rows, repetitions));
      continue;
    }
    for (int size : threads) {
      ThreadTeam team(size);
      team.run([&](Transport& transport) {
        const GramSchmidtTiming timing = time_gram_schmidt(transport, algorithm, rows, repetitions);
        if (transport.rank() == 0) timings.push_back(timing);
      });
    }
  }
  return timings;
}

const GramSchmidtTiming* quickest(std::span<const GramSchmidtTiming> timings, GramSchmidt algorithm) {
  const GramSchmidtTiming* best = nullptr;
  for (const GramSchmidtTiming& timing : timings)
    if (timing.algorithm == algorithm && (!best || timing.seconds < best->seconds)) best = &timing;
  return best;
}

}  // namespace linkwork
