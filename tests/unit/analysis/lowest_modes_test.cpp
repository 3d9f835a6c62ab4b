// The lowest modes of large models, by iteration, against all of them from the dense problem.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "linkwork/analysis/eigenpairs.h"
#include "linkwork/analysis/linear_model.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

constexpr double kMass = 0.5, kStiffness = 400.0;

/// Rows of equal masses on equal springs, each behind the other, held at one end or free to drift away; all rows alike.
std::shared_ptr<const Model> trains(int rows, int cars, bool held, double damping) {
  std::string toml = "settings.gravity = [0, 0, 0]\n";
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < cars; ++i)
      toml += fmt::format(R"(
[[body]]
name = "car{0}_{1}"
mass = {2}
inertia = [1, 1, 1]
[[joint]]
name = "x{0}_{1}"
type = "prismatic"
axis = [1, 0, 0]
parent = {{ body = "{3}" }}
child = {{ body = "car{0}_{1}" }}
stiffness = {4}
damping = {5}
)",
                          row, i, kMass, i == 0 ? "ground" : fmt::format("car{}_{}", row, i - 1),
                          i == 0 && !held ? 0.0 : kStiffness, i == 0 && !held ? 0.0 : damping);
  return std::make_shared<const Model>(build_model(test::spec_of(toml)));
}

std::vector<Mode> modes_of(const std::shared_ptr<const Model>& model, int count) {
  ReducedMotion motion(model);
  motion.begin(test::start_state(*model));
  return find_modes(motion, linear_terms(motion), count);
}

TEST(LowestModes, OfARowOfMassesHaveTheirClosedFormAndItsDamping) {
  constexpr int kCars = 150, kCount = 8;
  constexpr double kDamping = 0.3;
  const std::vector<Mode> few = modes_of(trains(1, kCars, true, kDamping), kCount);
  ASSERT_EQ(few.size(), static_cast<std::size_t>(kCount));
  for (int k = 1; k <= kCount; ++k) {
    const double omega =
        2.0 * std::sqrt(kStiffness / kMass) * std::sin((2 * k - 1) * std::numbers::pi / (2.0 * (2.0 * kCars + 1.0)));
    const Mode& mode = few[static_cast<std::size_t>(k - 1)];
    EXPECT_NEAR(mode.frequency_hz, omega / (2.0 * std::numbers::pi), 1e-8 * omega) << k;
    EXPECT_NEAR(mode.damping_ratio, kDamping * omega / (2.0 * kStiffness), 1e-8) << k;
  }
}

TEST(LowestModes, ComeAsOftenAsTheyAreThere) {
  constexpr int kCars = 50;
  const std::vector<Mode> few = modes_of(trains(3, kCars, true, 0.0), 9);
  ASSERT_EQ(few.size(), 9U);
  for (int i = 0; i < 9; ++i) {
    const int k = i / 3 + 1;
    const double omega =
        2.0 * std::sqrt(kStiffness / kMass) * std::sin((2 * k - 1) * std::numbers::pi / (2.0 * (2.0 * kCars + 1.0)));
    EXPECT_NEAR(few[static_cast<std::size_t>(i)].frequency_hz, omega / (2.0 * std::numbers::pi), 1e-8 * omega) << i;
  }
}

TEST(LowestModes, BeginWithMotionsThatNothingHolds) {
  constexpr int kCars = 120, kCount = 6;
  const std::vector<Mode> few = modes_of(trains(1, kCars, false, 0.0), kCount);
  ASSERT_EQ(few.size(), static_cast<std::size_t>(kCount));
  for (int k = 0; k < kCount; ++k) {
    const double omega = 2.0 * std::sqrt(kStiffness / kMass) * std::sin(k * std::numbers::pi / (2.0 * kCars));
    EXPECT_NEAR(few[static_cast<std::size_t>(k)].frequency_hz, omega / (2.0 * std::numbers::pi), 1e-8 * omega) << k;
  }
}

TEST(LowestModes, AreThoseOfTheDenseProblemWithTheirShapes) {
  const auto model = trains(1, 120, true, 0.2);
  const std::vector<Mode> all = modes_of(model, 0), few = modes_of(model, 5);
  ASSERT_EQ(all.size(), 120U);
  ASSERT_EQ(few.size(), 5U);
  for (std::size_t i = 0; i < few.size(); ++i) {
    EXPECT_NEAR(few[i].frequency_hz, all[i].frequency_hz, 1e-8 * all[i].frequency_hz) << i;
    EXPECT_NEAR(few[i].damping_ratio, all[i].damping_ratio, 1e-8) << i;
    std::complex<double> overlap = 0.0;
    double one = 0.0, other = 0.0;
    for (std::size_t c = 0; c < few[i].shape.size(); ++c) {
      overlap += std::conj(few[i].shape[c].second) * all[i].shape[c].second;
      one += std::norm(few[i].shape[c].second), other += std::norm(all[i].shape[c].second);
    }
    EXPECT_NEAR(std::abs(overlap), std::sqrt(one * other), 1e-8 * std::sqrt(one * other)) << i;
  }
}

TEST(LowestModes, OfAMatrixWithEqualEigenvaluesAreComplete) {
  constexpr int kSize = 300;
  MatX<double> A = MatX<double>::Zero(kSize, kSize);
  for (int i = 0; i < kSize; i += 2) {  // pairs +-i w, the lowest of them five times
    const double w = i < 10 ? 1.0 : 1.0 + 0.1 * i;
    A(i, i + 1) = 1.0, A(i + 1, i) = -w * w;
  }
  const Eigenpairs pairs = lowest_eigenpairs(A, 16);
  int lowest = 0, second = 0;
  for (const std::complex<double>& value : pairs.values) {
    if (std::abs(std::abs(value) - 1.0) < 1e-8) ++lowest;
    if (std::abs(std::abs(value) - 2.0) < 1e-8) ++second;
  }
  EXPECT_EQ(lowest, 10);
  EXPECT_EQ(second, 2);
}

}  // namespace
}  // namespace linkwork
