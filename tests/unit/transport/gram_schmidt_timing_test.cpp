#include "linkwork/transport/gram_schmidt_timing.h"

#include <gtest/gtest.h>

#include <array>

#include "linkwork/transport/row_gram_schmidt.h"
#include "linkwork/transport/thread_team.h"

namespace linkwork {
namespace {

TEST(GramSchmidtTiming, MeasuresEveryAlgorithmOnEveryNumberOfThreads) {
  const std::array threads{1, 2};
  const std::array algorithms{GramSchmidt::kSerial, GramSchmidt::kRowsStrip, GramSchmidt::kRowsCyclic, GramSchmidt::kBlocks};
  const std::vector<GramSchmidtTiming> timings = time_gram_schmidt_on_threads(20, 30, threads, algorithms, 2);
  ASSERT_EQ(timings.size(), 7u);  // serial once, the others on both
  for (const GramSchmidtTiming& timing : timings) {
    EXPECT_EQ(timing.m, 20);
    EXPECT_EQ(timing.n, 30);
    EXPECT_GT(timing.seconds, 0.0);
    EXPECT_LT(timing.seconds, 60.0);
  }
  const GramSchmidtTiming* best = quickest(timings, GramSchmidt::kBlocks);
  ASSERT_NE(best, nullptr);
  EXPECT_LE(best->seconds, timings[5].seconds);
  EXPECT_LE(best->seconds, timings[6].seconds);
  EXPECT_EQ(quickest(std::span(timings).first(1), GramSchmidt::kBlocks), nullptr);
}

TEST(RowGramSchmidt, AgreesWithTheSerialProcessForEveryPartition) {
  MatX<double> rows = random_rows(30, 40);
  rows.col(7) = rows.col(1) - rows.col(3);
  rows.col(29) = 3.0 * rows.col(28);
  std::vector<double> scale;
  for (Eigen::Index i = 0; i < rows.cols(); ++i) scale.push_back(rows.col(i).squaredNorm());
  Gigsp serial;
  serial.factor(rows, scale);
  EXPECT_EQ(serial.rank().rank, 28);
  for (RowPartition partition : {RowPartition::kStrip, RowPartition::kCyclic}) {
    std::vector<Gigsp::Factors> factors(3);
    ThreadTeam team(3);
    team.run([&](Transport& transport) {
      row_gram_schmidt(transport, rows, scale, kRankTolerance, partition, factors[static_cast<std::size_t>(transport.rank())]);
    });
    for (const Gigsp::Factors& each : factors) {
      EXPECT_EQ(each.dependent, serial.dependent());
      EXPECT_LE((each.A1.leftCols(each.rank.rank) - serial.directions()).norm(), 1e-11);
      EXPECT_LE((each.R - serial.factors().R).norm(), 1e-11 * each.R.norm());
    }
  }
}

}  // namespace
}  // namespace linkwork
