#include "linkwork/ensemble/parameter_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace linkwork {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

ParameterPlan plan(const std::vector<std::string>& grids, const std::vector<std::string>& samples = {}, long runs = 0,
                   Sampling sampling = Sampling::kRandom, std::uint64_t seed = 1) {
  return {grids, samples, runs, sampling, seed};
}

std::string refusal(const std::vector<std::string>& grids, const std::vector<std::string>& samples = {}, long runs = 10) {
  try {
    plan(grids, samples, runs);
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(ParameterPlan, SeveralGridsAreAllCombinationsTheLastFastest) {
  const ParameterPlan all = plan({"a=0:1:3", "b=10:20:2"});
  ASSERT_EQ(all.runs(), 6);
  EXPECT_THAT(all.values(0), ElementsAre(0.0, 10.0));
  EXPECT_THAT(all.values(1), ElementsAre(0.0, 20.0));
  EXPECT_THAT(all.values(2), ElementsAre(0.5, 10.0));
  EXPECT_THAT(all.values(5), ElementsAre(1.0, 20.0));
}

TEST(ParameterPlan, EndsOfAGridAreExact) {
  const ParameterPlan all = plan({"a=0.1:0.7:7"});
  EXPECT_EQ(all.values(0)[0], 0.1);
  EXPECT_EQ(all.values(6)[0], 0.7);
  EXPECT_EQ(plan({"a=3:3:1"}).values(0)[0], 3.0);
  EXPECT_NEAR(plan({"a=-90*deg:90*deg:3"}).values(0)[0], -M_PI / 2, 1e-15);
}

TEST(ParameterPlan, EachPointOfAGridHasTheSameSamples) {
  const ParameterPlan all = plan({"a=0:1:2"}, {"x=normal(5,2)", "y=uniform(-1,1)"}, 7);
  ASSERT_EQ(all.runs(), 14);
  EXPECT_THAT(all.names(), ElementsAre("a", "x", "y"));
  for (long i = 0; i < 7; ++i)
    for (std::size_t k : {1U, 2U}) EXPECT_EQ(all.values(i)[k], all.values(i + 7)[k]);
}

TEST(ParameterPlan, SamplesHaveTheMomentsOfTheirDistributions) {
  for (const Sampling sampling : {Sampling::kRandom, Sampling::kSobol, Sampling::kLatin}) {
    const ParameterPlan all = plan({}, {"x=normal(5,2)", "y=uniform(-1,3)", "z=lognormal(0.5,0.25)"}, 4096, sampling);
    double x = 0.0, xx = 0.0, y = 0.0, z = 0.0;
    for (long i = 0; i < all.runs(); ++i) {
      const std::vector<double> v = all.values(i);
      EXPECT_TRUE(v[1] >= -1.0 && v[1] <= 3.0 && v[2] > 0.0);
      x += v[0], xx += (v[0] - 5.0) * (v[0] - 5.0), y += v[1], z += v[2];
    }
    const double n = 4096.0, close = sampling == Sampling::kRandom ? 0.1 : 0.005;
    EXPECT_NEAR(x / n, 5.0, close);
    EXPECT_NEAR(std::sqrt(xx / n), 2.0, close * 2);
    EXPECT_NEAR(y / n, 1.0, close);
    EXPECT_NEAR(z / n, std::exp(0.5 + 0.5 * 0.0625), close);
  }
}

TEST(ParameterPlan, ALatinSampleHasOneValueInEachLayer) {
  const ParameterPlan all = plan({}, {"x=uniform(0,1)", "y=uniform(0,1)"}, 50, Sampling::kLatin, 3);
  for (const std::size_t k : {0U, 1U}) {
    std::vector<int> layers;
    for (long i = 0; i < 50; ++i) layers.push_back(static_cast<int>(50.0 * all.values(i)[k]));
    std::ranges::sort(layers);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(layers[static_cast<std::size_t>(i)], i);
  }
}

TEST(ParameterPlan, ASeedGivesTheSameSamplesAndAnotherOthers) {
  for (const Sampling sampling : {Sampling::kRandom, Sampling::kSobol, Sampling::kLatin}) {
    const auto with = [&](std::uint64_t seed) { return plan({}, {"x=normal(0,1)"}, 10, sampling, seed).values(3)[0]; };
    EXPECT_EQ(with(4), with(4));
    EXPECT_NE(with(4), with(5));
  }
}

TEST(ParameterPlan, RefusesWhatMakesNoSense) {
  EXPECT_THAT(refusal({}), HasSubstr("nothing to vary"));
  EXPECT_THAT(refusal({"a"}), HasSubstr("NAME=FROM:TO:COUNT"));
  EXPECT_THAT(refusal({"a=1:2"}), HasSubstr("is no range"));
  EXPECT_THAT(refusal({"a=1:2:0"}), HasSubstr("the count is '0'"));
  EXPECT_THAT(refusal({"a=1:2:-3"}), HasSubstr("the count is '-3'"));
  EXPECT_THAT(refusal({"a=1:2:2.5"}), HasSubstr("the count is '2.5'"));
  EXPECT_THAT(refusal({"a=1:2:99999999999999999999"}), HasSubstr("a whole number"));
  EXPECT_THAT(refusal({"a=nan:2:3"}), HasSubstr("FROM is 'nan'"));
  EXPECT_THAT(refusal({"a=0/0:2:3"}), HasSubstr("FROM"));
  EXPECT_THAT(refusal({"a=0:1e999:3"}), HasSubstr("TO"));
  EXPECT_THAT(refusal({"a=-1e308:1e308:3"}), HasSubstr("too wide"));
  EXPECT_THAT(refusal({"a=1:1:3"}), HasSubstr("all 3 values are 1"));
  EXPECT_THAT(refusal({"a=0:1:1000000000"}), HasSubstr("1e+09 runs; expected at most 10000000"));
  EXPECT_THAT(refusal({"a=0:1:100000", "b=0:1:100000"}), HasSubstr("1e+10 runs"));
  EXPECT_THAT(refusal({"a=0:1:2", "a=0:1:2"}), HasSubstr("varied twice"));
  EXPECT_THAT(refusal({}, {"a=gauss(0,1)"}), HasSubstr("unknown distribution 'gauss'"));
  EXPECT_THAT(refusal({}, {"a=norml(0,1)"}), HasSubstr("did you mean 'normal'?"));
  EXPECT_THAT(refusal({}, {"a=normal(0)"}), HasSubstr("two, with a comma between"));
  EXPECT_THAT(refusal({}, {"a=normal(0,0)"}), HasSubstr("the deviation is 0"));
  EXPECT_THAT(refusal({}, {"a=uniform(1,0)"}), HasSubstr("1 is not below 0"));
  EXPECT_THAT(refusal({}, {"a=normal(0,1"}), HasSubstr("is no distribution"));
  EXPECT_THAT(refusal({}, {"a=normal(0,1)"}, 0), HasSubstr("--runs"));
  EXPECT_THAT(refusal({}, {"a=normal(0,1)"}, 1000000000), HasSubstr("at most 10000000"));
}

}  // namespace
}  // namespace linkwork
