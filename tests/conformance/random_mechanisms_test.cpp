#include <gtest/gtest.h>

#include "tests/attack/judge.h"
#include "tests/attack/random_mechanism.h"
#include "tests/support/tries.h"

namespace linkwork {
namespace {

constexpr std::uint64_t kFirstSeed = 1;
constexpr int kMechanisms = test::tries(300);
/// Which some way once solved wrongly: light bodies that carry heavy ones, motions without any acceleration, redundant loops.
constexpr std::uint64_t kOnceWrong[] = {6765,  8258,  20099, 20248, 20394, 21838, 22840, 24290,
                                        26722, 30163, 31445, 31466, 31903, 31989, 33071};

std::vector<std::uint64_t> seeds() {
  std::vector<std::uint64_t> all(std::begin(kOnceWrong), std::end(kOnceWrong));
  for (std::uint64_t seed = kFirstSeed; seed < kFirstSeed + kMechanisms; ++seed) all.push_back(seed);
  return all;
}

/// A way to solve, and whether every mechanism comes in units of its own.
struct Attack {
  std::string mode;
  bool units = false;
};
void PrintTo(const Attack& attack, std::ostream* out) { *out << attack.mode; }

std::string name_of(const testing::TestParamInfo<Attack>& p) {
  std::string name = p.param.mode + (p.param.units ? "_in_any_units" : "");
  std::ranges::replace(name, '-', '_');
  return name;
}

class OnRandomMechanisms : public testing::TestWithParam<Attack> {};

std::vector<Attack> attacks() {
  std::vector<Attack> all;
  for (bool units : {false, true})
    for (const std::string& mode : test::attack_modes()) all.push_back({mode, units});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Modes, OnRandomMechanisms, testing::ValuesIn(attacks()), name_of);

/// ./dev attack does the same for as long as one likes.
TEST_P(OnRandomMechanisms, IsRightOrRefusesInWords) {
  constexpr int kShown = 3;
  const Attack& attack = GetParam();
  int judged = 0, right = 0, wrong = 0;
  for (std::uint64_t seed : seeds()) {
    Spec spec = test::random_mechanism(seed);
    if (attack.units) spec = test::in_units(spec, test::random_units(seed));
    const test::Judgement judgement = test::judge(spec, {attack.mode});
    if (!judgement.left_out.empty()) continue;
    ++judged;
    const test::Verdict& verdict = judgement.verdicts.front();
    if (verdict.kind == test::Verdict::Kind::kRight) ++right;
    const bool refused = verdict.kind == test::Verdict::Kind::kRefused;
    EXPECT_TRUE(!refused || !verdict.words.empty()) << "seed " << seed;
    if (verdict.kind != test::Verdict::Kind::kWrong) continue;
    if (++wrong > kShown) continue;
    ADD_FAILURE() << "seed " << seed << (attack.units ? " --units" : "") << ": off by " << verdict.error << ' ' << verdict.words
                  << '\n'
                  << test::to_toml(spec);
  }
  EXPECT_EQ(wrong, 0) << "of " << judged;
  EXPECT_GT(judged, kMechanisms * 8 / 10);
  // lagrange takes no redundant rows, CE none at velocity level; the others refuse little.
  const double least = attack.mode == "lagrange" ? 0.2 : attack.mode == "CE" ? 0.6 : 0.9;
  EXPECT_GT(right, least * judged);
}

TEST(RandomMechanism, IsTheSameForASeedAndReadBackFromItsText) {
  for (std::uint64_t seed : {3u, 14u, 159u}) {
    const Spec spec = test::random_mechanism(seed);
    EXPECT_EQ(test::to_toml(spec), test::to_toml(test::random_mechanism(seed)));
    EXPECT_NE(test::to_toml(spec), test::to_toml(test::random_mechanism(seed + 1)));
  }
}

}  // namespace
}  // namespace linkwork
