#include "linkwork/transport/transport.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "linkwork/transport/hybrid.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/rank_tree.h"
#include "linkwork/transport/text.h"
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

TEST(ThreadTeam, DeliversMessagesOfAChannelInOrderToTheRankTheyAreFor) {
  ThreadTeam team(3);
  std::vector<std::vector<double>> seen(3);
  team.run([&](Transport& transport) {
    const int rank = transport.rank(), next = (rank + 1) % 3, before = (rank + 2) % 3;
    for (int k = 0; k < 100; ++k)
      for (const int channel : {0, 1}) {
        std::vector<double> data(static_cast<std::size_t>(1 + k % 4), 1000.0 * rank + 2.0 * k + channel);
        transport.send(data, next, channel);
        data[0] = -1.0;  // it was sent already
      }
    for (const int channel : {1, 0})
      for (int k = 0; k < 100; ++k) {
        std::vector<double> data(static_cast<std::size_t>(1 + k % 4));
        transport.receive(data, before, channel);
        EXPECT_EQ(data, std::vector<double>(data.size(), 1000.0 * before + 2.0 * k + channel));
      }
  });
}

TEST(ThreadTeam, StopsThoseWhoWaitForAMessageOfOneThatFails) {
  ThreadTeam team(2);
  EXPECT_THROW(team.run([](Transport& transport) {
    double number = 0.0;
    if (transport.rank() == 1) throw std::domain_error("rank 1");
    transport.receive({&number, 1}, 1, 0);
  }),
               std::domain_error);
}

TEST(Transport, CollectsOnTheFirstRank) {
  ThreadTeam team(4);
  const std::vector<int> ends{2, 2, 5, 6};
  std::vector<double> whole(6);
  team.run([&](Transport& transport) {
    const auto rank = static_cast<std::size_t>(transport.rank());
    std::vector<double> own;
    for (int i = rank == 0 ? 0 : ends[rank - 1]; i < ends[rank]; ++i) own.push_back(i);
    if (rank == 0)
      transport.collect(own, whole, ends);
    else
      transport.collect(own, {}, {});
  });
  EXPECT_EQ(whole, (std::vector<double>{0, 1, 2, 3, 4, 5}));
}

TEST(Transport, TellsTextsToAllOrToTheFirst) {
  ThreadTeam team(3);
  const std::vector<std::string> texts{"", "a text", "of twenty-one letters"};
  team.run([&](Transport& transport) {
    const std::string& own = texts[static_cast<std::size_t>(transport.rank())];
    EXPECT_EQ(gather_texts(transport, own), texts);
    EXPECT_EQ(collect_texts(transport, own), transport.rank() == 0 ? texts : std::vector<std::string>{});
    EXPECT_EQ(gather_texts(transport, ""), std::vector<std::string>(3));
    const std::vector<Said> said = all_said(transport, own);
    ASSERT_EQ(said.size(), 2U);
    EXPECT_EQ(said[0].rank, 1);
    EXPECT_EQ(said[1].text, texts[2]);
    EXPECT_TRUE(all_said(transport, "").empty());
    EXPECT_EQ(said_by_first(transport, own + "."), ".");
  });
}

/// On any number of ranks: all are heard, in their order, and added once.
TEST(Transport, GoesThroughTheTreeOfRanks) {
  for (const int size : {1, 2, 3, 4, 6, 7, 9}) {
    ThreadTeam team(size);
    team.run([&](Transport& transport) {
      const int rank = transport.rank();
      std::array<double, 2> numbers{1.0, rank * 10.0};
      add_whole_numbers(transport, numbers);
      EXPECT_EQ(numbers[0], size);
      EXPECT_EQ(numbers[1], 5.0 * size * (size - 1));
      const std::vector<Said> said = all_said(transport, rank % 2 == 1 ? "12 3\n" + std::to_string(rank) : "");
      ASSERT_EQ(said.size(), static_cast<std::size_t>(size / 2));
      for (std::size_t k = 0; k < said.size(); ++k) {
        EXPECT_EQ(said[k].rank, 2 * static_cast<int>(k) + 1);
        EXPECT_EQ(said[k].text, "12 3\n" + std::to_string(said[k].rank));
      }
    });
  }
}

/// More than an eager message, from all to all at once.
TEST(Transport, SwapsLongMessages) {
  constexpr int kSize = 5, kLength = 100'000;
  ThreadTeam team(kSize);
  team.run([&](Transport& transport) {
    const std::vector<double> own(kLength, transport.rank());
    std::vector<std::vector<double>> others(kSize, std::vector<double>(kLength));
    std::vector<Transport::Outgoing> out;
    std::vector<Transport::Incoming> in;
    for (int other = 0; other < kSize; ++other) {
      if (other == transport.rank()) continue;
      out.push_back({own, other, 3});
      in.push_back({others[static_cast<std::size_t>(other)], other, 3});
    }
    transport.exchange(out, in);
    for (const auto& [data, from, channel] : in) EXPECT_EQ(data.back(), from);
  });
}

/// Teams within a team: the outer one stands for processes.
TEST(HybridTransport, IsOneGroupOfRanks) {
  ThreadTeam processes(2);
  std::vector<std::vector<double>> seen(6);
  processes.run([&](Transport& between) {
    ThreadTeam threads(3);
    threads.run([&](Transport& within) {
      HybridTransport transport(between, within);
      const int rank = transport.rank();
      EXPECT_EQ(transport.size(), 6);
      const std::vector<int> ends{1, 1, 4, 5, 5, 8};
      std::vector<double> data(8, -1.0);
      for (int i = rank == 0 ? 0 : ends[static_cast<std::size_t>(rank - 1)]; i < ends[static_cast<std::size_t>(rank)]; ++i)
        data[static_cast<std::size_t>(i)] = i;
      transport.gather(data, ends);
      for (int root = 0; root < 6; ++root) {
        double told = rank;
        transport.broadcast({&told, 1}, root);
        data.push_back(told);
      }
      transport.wait_for_all();
      for (int to = 0; to < 6; ++to) {
        const double number = 10.0 * rank + to;
        if (to != rank) transport.send({&number, 1}, to, 0);
      }
      for (int from = 0; from < 6; ++from) {
        double number = 0.0;
        if (from == rank) continue;
        transport.receive({&number, 1}, from, 0);
        EXPECT_EQ(number, 10.0 * from + rank);
      }
      seen[static_cast<std::size_t>(rank)] = data;
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
