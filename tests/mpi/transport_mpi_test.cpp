#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "linkwork/transport/block_gram_schmidt.h"
#include "linkwork/transport/gram_schmidt_timing.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/row_gram_schmidt.h"
#include "tests/mpi/world.h"

namespace linkwork {
namespace {

using test::world;

TEST(MpiWorld, HasTheRanksThatTheTestDeclares) {
  const char* declared = std::getenv("LINKWORK_TEST_RANKS");
  EXPECT_EQ(world().size(), std::atoi(declared ? declared : ""));
}

TEST(MpiWorld, BroadcastsFromAnyRank) {
  for (int root = 0; root < world().size(); ++root) {
    std::vector<double> data(1000, world().rank());
    world().broadcast(data, root);
    EXPECT_EQ(data, std::vector<double>(1000, root));
  }
}

TEST(MpiWorld, GathersSharesOfUnequalLength) {
  const int count = 3 * world().size() + 1;
  std::vector<int> ends;
  for (int r = 0; r < world().size(); ++r) ends.push_back(share_of(count, r, world().size()).end);
  std::vector<double> data(static_cast<std::size_t>(count), -1.0), whole(static_cast<std::size_t>(count));
  std::iota(whole.begin(), whole.end(), 0.0);
  const Share mine = share_of(count, world().rank(), world().size());
  for (int i = mine.begin; i < mine.end; ++i) data[static_cast<std::size_t>(i)] = i;
  world().gather(data, ends);
  EXPECT_EQ(data, whole);
}

TEST(MpiWorld, SendsToOneRankAndCollectsOnTheFirst) {
  const int size = world().size(), rank = world().rank(), next = (rank + 1) % size, before = (rank + size - 1) % size;
  const std::unique_ptr<Transport> own = ranks_of(world_communicator());  // as a program that has a communicator of its own
  for (Transport* const transport : {&world(), own.get()}) {
    double number = -1.0;
    const double sent = rank;
    if (size > 1) {
      if (rank == 0) transport->send({&sent, 1}, next, 3);
      transport->receive({&number, 1}, before, 3);
      if (rank != 0) transport->send({&sent, 1}, next, 3);
      EXPECT_EQ(number, before);
    }
    std::vector<double> all(static_cast<std::size_t>(size));
    std::vector<int> ends;
    for (int r = 1; r <= size; ++r) ends.push_back(r);
    transport->collect({&sent, 1}, all, ends);
    for (int r = 0; rank == 0 && r < size; ++r) EXPECT_EQ(all[static_cast<std::size_t>(r)], r);
  }
}

TEST(MpiWorld, MakesAGroupOfItsFirstRanks) {
  for (int count = 1; count <= world().size(); ++count) {
    const std::unique_ptr<Transport> group = first_ranks(count);
    ASSERT_EQ(group != nullptr, world().rank() < count);
    if (!group) continue;
    EXPECT_EQ(group->size(), count);
    EXPECT_EQ(group->rank(), world().rank());
    std::vector<double> data(3, group->rank());
    group->broadcast(data, count - 1);
    EXPECT_EQ(data, std::vector<double>(3, count - 1));
  }
}

TEST(MpiWorld, AddsUpInTheOrderOfTermsWhateverTheNumberOfRanks) {
  constexpr int kTerms = 31;
  const auto term = [](int t) { return t % 3 == 0 ? 1e16 : t % 3 == 1 ? 1.0 / (t + 1) : -1e16 + t; };
  std::vector<double> terms(kTerms, 0.0), sum(1);
  const Share mine = share_of(kTerms, world().rank(), world().size());
  for (int t = mine.begin; t < mine.end; ++t) terms[static_cast<std::size_t>(t)] = term(t);
  ordered_sum(world(), terms, kTerms, sum);
  double expected = 0.0;
  for (int t = 0; t < kTerms; ++t) expected += term(t);
  EXPECT_EQ(sum[0], expected);
}

/// Rows with dependent ones within and across panels, as columns.
MatX<double> deficient_rows() {
  MatX<double> rows = random_rows(90, 120);
  rows.col(5) = rows.col(2) - 0.5 * rows.col(3);
  rows.col(40) = 2.0 * rows.col(1) + rows.col(39);
  rows.col(70).setZero();
  return rows;
}

std::vector<double> scales(const MatX<double>& rows) {
  std::vector<double> scale;
  for (Eigen::Index i = 0; i < rows.cols(); ++i) scale.push_back(rows.col(i).squaredNorm());
  return scale;
}

bool same_bits(const MatX<double>& a, const MatX<double>& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

TEST(BlockGramSchmidtOverMpi, GivesEveryRankTheBitsOfOneProcess) {
  for (const MatX<double>& rows : {random_rows(150, 240), deficient_rows(), random_rows(100, 45)}) {
    InProcess alone;
    Gigsp one, several;
    BlockGramSchmidt process;
    process.factor(alone, rows, scales(rows), kRankTolerance, one.factors());
    process.factor(world(), rows, scales(rows), kRankTolerance, several.factors());
    EXPECT_TRUE(same_bits(several.directions(), one.directions()));
    EXPECT_TRUE(same_bits(several.factors().R, one.factors().R));
    EXPECT_EQ(several.dependent(), one.dependent());
  }
}

TEST(BlockGramSchmidtOverMpi, FindsDependentAndInconsistentRows) {
  const MatX<double> rows = deficient_rows();
  VecX<double> b = rows.transpose() * VecX<double>::LinSpaced(120, -1.0, 1.0);
  b[40] += 0.25;
  Gigsp gigsp;
  BlockGramSchmidt process;
  process.factor(world(), rows, scales(rows), kRankTolerance, gigsp.factors());
  gigsp.carry(b);
  EXPECT_EQ(gigsp.rank().rank, 87);
  for (int i : {5, 40, 70}) EXPECT_EQ(gigsp.dependent()[static_cast<std::size_t>(i)], 1) << i;
  for (int i = 0; i < 90; ++i) EXPECT_EQ(gigsp.is_inconsistent(i), i == 40) << i;
  EXPECT_NEAR(gigsp.inconsistency()[40], 0.25, 1e-10);
}

TEST(RowGramSchmidtOverMpi, AgreesWithTheSerialProcess) {
  const MatX<double> rows = deficient_rows();
  Gigsp serial;
  serial.factor(rows, scales(rows));
  for (RowPartition partition : {RowPartition::kStrip, RowPartition::kCyclic}) {
    Gigsp::Factors factors;
    row_gram_schmidt(world(), rows, scales(rows), kRankTolerance, partition, factors);
    EXPECT_EQ(factors.dependent, serial.dependent());
    EXPECT_LE((factors.A1.leftCols(factors.rank.rank) - serial.directions()).norm(), 1e-10);
    EXPECT_LE((factors.R - serial.factors().R).norm(), 1e-10 * factors.R.norm());
  }
}

}  // namespace
}  // namespace linkwork
