#include "linkwork/ensemble/random_numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace linkwork {
namespace {

TEST(RandomNumbers, AreThoseOfTheirDefinitionToTheLastBit) {
  // Computed from the definition with whole numbers in Python.
  EXPECT_EQ(uniform_number(1, 0, 0), 0x1.631405e8db1b1p-1);
  EXPECT_EQ(uniform_number(1, 0, 1), 0x1.b15e57852cedep-2);
  EXPECT_EQ(uniform_number(1, 3, 7), 0x1.ac6371fd40142p-2);
  EXPECT_EQ(uniform_number(12345, 2, 999999), 0x1.07aa9d29d1a9bp-1);
}

TEST(RandomNumbers, AreEvenAndIndependentOfNeighbours) {
  constexpr int kCount = 100000;
  for (const std::uint64_t stream : {0U, 1U, 20U}) {
    double mean = 0.0, product = 0.0, across = 0.0;
    for (std::uint64_t i = 0; i < kCount; ++i) {
      const double x = uniform_number(7, stream, i) - 0.5;
      ASSERT_LT(std::abs(x), 0.5);
      mean += x, product += x * (uniform_number(7, stream, i + 1) - 0.5), across += x * (uniform_number(7, stream + 1, i) - 0.5);
    }
    EXPECT_LT(std::abs(mean) / kCount, 4.0 / std::sqrt(12.0 * kCount));
    EXPECT_LT(std::abs(product) / kCount, 4.0 / 12.0 / std::sqrt(kCount));
    EXPECT_LT(std::abs(across) / kCount, 4.0 / 12.0 / std::sqrt(kCount));
  }
}

TEST(RandomNumbers, AShuffledOrderHasEveryPlaceOnce) {
  for (std::uint64_t count = 1; count < 300; count += count < 20 ? 1 : 37) {
    std::set<std::uint64_t> places;
    for (std::uint64_t i = 0; i < count; ++i) places.insert(shuffled(3, 5, i, count));
    EXPECT_EQ(places.size(), count);
    EXPECT_LT(*places.rbegin(), count);
  }
  int fixed = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) fixed += shuffled(3, 5, i, 1000) == i ? 1 : 0;
  EXPECT_LT(fixed, 8);  // one is to be expected
}

TEST(RandomNumbers, SobolPointsAreThoseOfAnotherProgram) {
  // scipy.stats.qmc.Sobol(d=21, scramble=False, bits=32)
  struct Point {
    std::uint64_t index;
    std::vector<double> values;
  };
  const std::vector<int> dimensions{0, 1, 4, 9, 14, 20};
  for (const Point& point : {Point{5, {0.875, 0.875, 0.875, 0.125, 0.875, 0.625}},
                             Point{100, {0.4140625, 0.2578125, 0.8828125, 0.6953125, 0.3203125, 0.7578125}},
                             Point{777, {0.6923828125, 0.9365234375, 0.6357421875, 0.3232421875, 0.5693359375, 0.2373046875}}})
    for (std::size_t k = 0; k < dimensions.size(); ++k)
      EXPECT_EQ(sobol_number(0, dimensions[k], point.index), point.values[k] + 0x1p-33) << point.index << " " << dimensions[k];
}

TEST(RandomNumbers, SobolPointsHaveOneInEachLayerWhateverTheSeed) {
  for (const std::uint64_t seed : {0U, 1U, 99U})
    for (int dimension = 0; dimension < kSobolDimensions; ++dimension) {
      std::set<int> layers;
      for (std::uint64_t i = 0; i < 256; ++i) layers.insert(static_cast<int>(256.0 * sobol_number(seed, dimension, i)));
      EXPECT_EQ(layers.size(), 256U) << seed << " " << dimension;
    }
}

TEST(RandomNumbers, NormalQuantilesAreThoseOfAnotherProgram) {
  // scipy.stats.norm.ppf
  const std::vector<std::pair<double, double>> known{{1e-300, -37.0470962993612}, {1e-20, -9.262340089798409},
                                                     {1e-6, -4.753424308822899},  {0.01, -2.3263478740408408},
                                                     {0.3, -0.5244005127080409},  {0.5, 0.0},
                                                     {0.9, 1.2815515655446004},   {0.99999, 4.264890793923841}};
  for (const auto& [p, x] : known) EXPECT_NEAR(normal_quantile(p), x, 1e-14 * std::max(1.0, std::abs(x))) << p;
  for (double p = 0.001; p < 1.0; p += 0.001) EXPECT_NEAR(0.5 * std::erfc(-normal_quantile(p) / std::sqrt(2.0)), p, 4e-15);
}

TEST(RandomNumbers, ExponentialsAreThoseOfTheStandardLibraryToRounding) {
  for (double x = -700.0; x < 700.0; x += 0.37) EXPECT_NEAR(portable_exp(x) / std::exp(x), 1.0, 3e-15) << x;
  EXPECT_EQ(portable_exp(-1e4), 0.0);
  EXPECT_EQ(portable_exp(1e4), HUGE_VAL);
  EXPECT_TRUE(std::isnan(portable_exp(NAN)));
}

}  // namespace
}  // namespace linkwork
