#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/attack/judge.h"
#include "tests/attack/random_mechanism.h"
#include "tests/support/random_block.h"
#include "tests/support/tries.h"

namespace linkwork {
namespace {

using test::RandomNumbers;
using test::text;
using test::V3;

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

/// A light body that swings on a pin of a heavy one, which is held, and which the tree carries over the light one from far away:
/// the weight of the heavy body, of which the swing feels nothing, is nearly all of the forces on joints.
Spec carried_weight(RandomNumbers& r) {
  const V3 axis = r.direction(), far = r(5.0, 20.0) * r.direction(), arm = r(0.02, 0.05) * r.direction();
  const double heavy = std::pow(10.0, r(2.5, 3.5)), light = std::pow(10.0, r(-2.5, -1.6)),
               inertia = 0.3 * light * arm.squaredNorm();
  return test::spec_of(fmt::format(R"toml(
[settings]
gravity = {}
[[body]]
name = "light"
mass = {}
com = {}
inertia = [{}, {}, {}]
[[body]]
name = "heavy"
mass = {}
inertia = [1, 1, 1]
[[joint]]
name = "slides"
type = "planar"
parent = {{ body = "ground", at = {} }}
child = {{ body = "light", at = {} }}
axis = {}
[[joint]]
name = "pin"
type = "revolute"
parent = {{ body = "light" }}
child = {{ body = "heavy" }}
axis = {}
[[closure]]
name = "held"
type = "weld"
a = {{ body = "ground" }}
b = {{ body = "heavy" }}
)toml",
                                   text(9.81 * r.direction()), light, text(arm), inertia, 1.1 * inertia, 1.2 * inertia, heavy,
                                   text(far), text(far), text(axis), text(axis)));
}

TEST(Judge, AsksForNoDigitsThatLoadsTakeWhichTheMotionDoesNotFeel) {
  RandomNumbers r(31);
  for (int trial = 0; trial < 16; ++trial) {
    const test::Judgement judgement = test::judge(carried_weight(r), {"TA", "FA", "CE", "auto"});
    EXPECT_EQ(judgement.left_out, "");
    EXPECT_EQ(judgement.dof, 1);
    for (const test::Verdict& verdict : judgement.verdicts) {
      EXPECT_EQ(verdict.kind, test::Verdict::Kind::kRight)
          << trial << ' ' << verdict.mode << ' ' << verdict.error << verdict.words;
      EXPECT_LT(verdict.error, 1e-5) << trial << ' ' << verdict.mode;
    }
  }
}

}  // namespace
}  // namespace linkwork
