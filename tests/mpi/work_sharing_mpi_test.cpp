#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "linkwork/ensemble/work_sharing.h"

namespace linkwork {
namespace {

TEST(WorkSharingMpi, ResultsComeInOrderToTheFirstRank) {
  const std::unique_ptr<Mailbox> ranks = open_mailbox();
  for (const int threads : {1, 2}) {
    std::vector<long> taken;
    SharedWork work{.first = 2, .end = 400, .threads = threads};
    work.work = [](long task, const std::function<bool()>&) {
      return std::string(static_cast<std::size_t>(task % 7) * 40000, 'a') + std::to_string(task);
    };
    work.take = [&](long task, const std::string& result) {
      EXPECT_EQ(result, std::string(static_cast<std::size_t>(task % 7) * 40000, 'a') + std::to_string(task));
      taken.push_back(task);
    };
    EXPECT_TRUE(share_work(work, ranks.get()));
    if (ranks && ranks->rank() != 0) {
      EXPECT_TRUE(taken.empty());
      continue;
    }
    EXPECT_EQ(taken.size(), 398U);
    for (std::size_t i = 0; i < taken.size(); ++i) EXPECT_EQ(taken[i], static_cast<long>(i) + 2);
  }
}

TEST(WorkSharingMpi, ARankThatIsToldToStopEndsItForAll) {
  const std::unique_ptr<Mailbox> ranks = open_mailbox();
  const int last = ranks ? ranks->size() - 1 : 0;
  long asked = 0;
  SharedWork work{.end = 1'000'000'000, .threads = 1};
  work.work = [](long, const std::function<bool()>&) { return std::string(); };
  work.take = [](long, const std::string&) {};
  work.go_on = [&] { return (ranks ? ranks->rank() : 0) != last || ++asked < 10; };
  const bool whole = share_work(work, ranks.get());
  if (!ranks || ranks->rank() == 0) {
    EXPECT_FALSE(whole);
  }
}

}  // namespace
}  // namespace linkwork
