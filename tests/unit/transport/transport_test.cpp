#include "linkwork/transport/transport.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "linkwork/transport/hybrid.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/thread_team.h"

namespace linkwork {
namespace {

TEST(Share, CoversAllTasksInOrderAndEvenly) {
  for (int size : {1, 2, 3, 4, 7})
    for (int count : {0, 1, 5, 12, 1000}) {
      int next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Share share = share_of(count, rank, size);
        EXPECT_EQ(share.begin, next);
        EXPECT_GE(share.end - share.begin, count / size);
        EXPECT_LE(share.end - share.begin, count / size + 1);
        next = share.end;
      }
      EXPECT_EQ(next, count);
    }
}

TEST(ThreadTeam, BroadcastsFromAnyRank) {
  ThreadTeam team(3);
  for (int root = 0; root < 3; ++root) {
    std::vector<std::vector<double>> seen(3);
    team.run([&](Transport& transport) {
      std::vector<double> data(5, transport.rank());
      transport.broadcast(data, root);
      seen[static_cast<std::size_t>(transport.rank())] = data;
    });
    for (const std::vector<double>& data : seen) EXPECT_EQ(data, std::vector<double>(5, root));
  }
}

TEST(ThreadTeam, GathersSharesOfUnequalLength) {
  ThreadTeam team(4);
  const std::vector<int> ends{3, 3, 4, 10};
  std::vector<std::vector<double>> seen(4);
  team.run([&](Transport& transport) {
    std::vector<double> data(10, -1.0);
    const auto rank = static_cast<std::size_t>(transport.rank());
    for (int i = rank == 0 ? 0 : ends[rank - 1]; i < ends[rank]; ++i) data[static_cast<std::size_t>(i)] = i;
    transport.gather(data, ends);
    seen[rank] = data;
  });
  std::vector<double> whole(10);
  std::iota(whole.begin(), whole.end(), 0.0);
  for (const std::vector<double>& data : seen) EXPECT_EQ(data, whole);
}

/// Terms of which the sum depends on the order in which they are added.
std::vector<double> sum_on(ThreadTeam& team, int terms, int length) {
  std::vector<double> result;
  team.run([&](Transport& transport) {
    std::vector<double> data(static_cast<std::size_t>(terms * length)), sum(static_cast<std::size_t>(length));
    const Share share = share_of(terms, transport.rank(), transport.size());
    for (int t = share.begin; t < share.end; ++t)
      for (int i = 0; i < length; ++i)
        data[static_cast<std::size_t>(t * length + i)] = (t % 3 == 0 ? 1e16 : t % 3 == 1 ? 1.0 / (t + i + 1) : -1e16 + t);
    ordered_sum(transport, data, terms, sum);
    if (transport.rank() == 0) result = sum;
  });
  return result;
}

TEST(OrderedSum, IsTheSameToTheLastBitForAnyNumberOfRanks) {
  ThreadTeam one(1);
  const std::vector<double> alone = sum_on(one, 31, 4);
  for (int size : {2, 3, 4, 5}) {
    ThreadTeam team(size);
    const std::vector<double> together = sum_on(team, 31, 4);
    EXPECT_EQ(std::memcmp(alone.data(), together.data(), 4 * sizeof(double)), 0) << size << " ranks";
  }
}

TEST(ThreadTeam, PassesOnTheExceptionOfOneRankAndStopsTheOthers) {
  ThreadTeam team(3);
  const auto failing = [](Transport& transport) {
    for (int i = 0; i < 100; ++i) {
      if (transport.rank() == 1 && i == 50) throw std::domain_error("rank 1");
      transport.wait_for_all();
    }
  };
  EXPECT_THROW(team.run(failing), std::domain_error);
  std::vector<int> ran(3);
  team.run([&](Transport& transport) {
    transport.wait_for_all();
    ran[static_cast<std::size_t>(transport.rank())] = 1;
  });
  EXPECT_EQ(ran, std::vector<int>(3, 1)) << "the team is usable after a failure";
}

/// Teams within a team: the outer one stands for processes.
TEST(HybridTransport, IsOneGroupOfRanks) {
  ThreadTeam processes(2);
  std::vector<std::vector<double>> seen(6);
  processes.run([&](Transport& between) {
    ThreadTeam threads(3);
    threads.run([&](Transport& within) {
      HybridTransport transport(between, within);
      const auto rank = static_cast<std::size_t>(transport.rank());
      EXPECT_EQ(transport.size(), 6);
      const std::vector<int> ends{1, 1, 4, 5, 5, 8};
      std::vector<double> data(8, -1.0);
      for (int i = rank == 0 ? 0 : ends[rank - 1]; i < ends[rank]; ++i) data[static_cast<std::size_t>(i)] = i;
      transport.gather(data, ends);
      for (int root = 0; root < 6; ++root) {
        double told = transport.rank();
        transport.broadcast({&told, 1}, root);
        data.push_back(told);
      }
      transport.wait_for_all();
      seen[rank] = data;
    });
  });
  for (const std::vector<double>& data : seen) EXPECT_EQ(data, (std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5}));
}

TEST(ThreadTeam, RefusesToBeEmpty) { EXPECT_THROW(ThreadTeam(0), std::invalid_argument); }

TEST(MpiWorld, HasOneRankOutsideMpirun) {
  if (under_mpirun()) GTEST_SKIP() << "started by mpirun";
  MpiWorld world;
  EXPECT_EQ(world.transport().size(), 1);
  EXPECT_EQ(world.transport().rank(), 0);
}

}  // namespace
}  // namespace linkwork
