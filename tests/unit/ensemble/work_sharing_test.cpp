#include "linkwork/ensemble/work_sharing.h"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>
#include <vector>

namespace linkwork {
namespace {

TEST(WorkSharing, ResultsComeInOrderWhateverTheThreads) {
  for (const int threads : {1, 2, 7}) {
    std::vector<long> taken;
    SharedWork work{.first = 3, .end = 500, .threads = threads};
    work.work = [](long task, const std::function<bool()>&) { return std::to_string(task * task); };
    work.take = [&](long task, const std::string& result) {
      EXPECT_EQ(result, std::to_string(task * task));
      taken.push_back(task);
    };
    EXPECT_TRUE(share_work(work, nullptr));
    ASSERT_EQ(taken.size(), 497U);
    for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], static_cast<long>(i) + 3);
  }
}

TEST(WorkSharing, NobodyIsFarAheadOfOneThatTakesLong) {
  constexpr long kAhead = 64 * 3;  // that may be done before the first is taken
  std::atomic<long> done = 0, largest = 0;
  SharedWork work{.end = 5000, .threads = 3};
  work.work = [&](long task, const std::function<bool()>&) {
    if (task == 0) {
      while (done < kAhead - 1) std::this_thread::yield();
      EXPECT_EQ(largest, kAhead - 1);
      return std::string();
    }
    for (long seen = largest; task > seen && !largest.compare_exchange_weak(seen, task);) {
    }
    ++done;
    return std::string();
  };
  work.take = [](long, const std::string&) {};
  EXPECT_TRUE(share_work(work, nullptr));
}

TEST(WorkSharing, StopsWhenItIsToldTo) {
  long taken = 0;
  SharedWork work{.end = 1'000'000'000, .threads = 2};
  work.work = [](long, const std::function<bool()>&) { return std::string(); };
  work.take = [&](long, const std::string&) { ++taken; };
  work.go_on = [&] { return taken < 10; };
  EXPECT_FALSE(share_work(work, nullptr));
  EXPECT_GE(taken, 10);
}

TEST(WorkSharing, WhatIsThrownEndsIt) {
  SharedWork work{.end = 100000, .threads = 3};
  work.work = [](long task, const std::function<bool()>&) {
    if (task == 17) throw std::runtime_error("seventeen");
    return std::string();
  };
  work.take = [](long, const std::string&) {};
  EXPECT_THROW(share_work(work, nullptr), std::runtime_error);
  work.work = [](long, const std::function<bool()>&) { return std::string(); };
  work.take = [](long task, const std::string&) {
    if (task == 5) throw std::logic_error("the disk is full");
  };
  EXPECT_THROW(share_work(work, nullptr), std::logic_error);
}

TEST(WorkSharing, NothingToDoIsDone) {
  SharedWork work{.first = 4, .end = 4};
  EXPECT_TRUE(share_work(work, nullptr));
}

}  // namespace
}  // namespace linkwork
