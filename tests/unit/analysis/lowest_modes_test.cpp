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

std::shared_ptr<const Model> shared_model(const std::string& toml) {
  return std::make_shared<const Model>(build_model(test::spec_of(toml)));
}

/// A hanging chain of links that swing about axes in turn or, with balls, in all directions: each frequency then comes twice.
std::shared_ptr<const Model> chain(int links, bool balls, double damping) {
  std::string toml = "settings.gravity = [0, 0, -9.81]\n";
  for (int i = 0; i < links; ++i)
    toml += fmt::format(R"(
[[body]]
name = "link{0}"
mass = 0.3
com = [0, 0, -0.05]
inertia = [1e-3, 1e-3, 5e-4]
[[joint]]
name = "j{0}"
type = "{1}"
parent = {{ body = "{2}", at = [0, 0, {3}] }}
child = {{ body = "link{0}" }}
damping = {4}
{5}
)",
                        i, balls ? "spherical" : "revolute", i == 0 ? "ground" : fmt::format("link{}", i - 1),
                        i == 0 ? 0.0 : -0.1, damping,
                        balls        ? ""
                        : i % 2 == 0 ? "axis = [1, 0, 0]"
                                     : "axis = [0, 1, 0]");
  return shared_model(toml);
}

void expect_same(const std::shared_ptr<const Model>& model, int count) {
  ReducedMotion motion(model);
  motion.begin(test::start_state(*model));
  const LinearModel linear = linear_terms(motion);
  const std::vector<Mode> all = find_modes(motion, linear), few = find_modes(motion, linear, count);
  ASSERT_EQ(std::ssize(few), count);
  ASSERT_GE(std::ssize(all), 10 * count) << "else they are not few";
  for (int i = 0; i < count; ++i) {
    const Mode &one = few[static_cast<std::size_t>(i)], &other = all[static_cast<std::size_t>(i)];
    EXPECT_NEAR(one.frequency_hz, other.frequency_hz, 1e-8 * other.frequency_hz) << i;
    EXPECT_NEAR(one.damping_ratio, other.damping_ratio, 1e-8) << i;
  }
}

TEST(LowestModes, AreThoseOfTheDenseProblem) { expect_same(chain(160, false, 0.0), 8); }
TEST(LowestModes, AreThoseOfTheDenseProblemWithDamping) { expect_same(chain(160, false, 2e-3), 8); }
TEST(LowestModes, ComeAsOftenAsTheyAreThere) { expect_same(chain(80, true, 0.0), 8); }

TEST(LowestModes, HaveTheShapesOfTheDenseProblem) {
  const auto model = chain(120, false, 0.0);
  ReducedMotion motion(model);
  motion.begin(test::start_state(*model));
  const LinearModel linear = linear_terms(motion);
  const std::vector<Mode> all = find_modes(motion, linear), few = find_modes(motion, linear, 3);
  for (std::size_t i = 0; i < few.size(); ++i) {
    std::complex<double> overlap = 0.0;
    double one = 0.0, other = 0.0;
    for (std::size_t c = 0; c < few[i].shape.size(); ++c) {
      overlap += std::conj(few[i].shape[c].second) * all[i].shape[c].second;
      one += std::norm(few[i].shape[c].second), other += std::norm(all[i].shape[c].second);
    }
    EXPECT_NEAR(std::abs(overlap), std::sqrt(one * other), 1e-8 * std::sqrt(one * other)) << i;
  }
}

/// Links in a row on springs, free to drift away and to turn as a whole.
TEST(LowestModes, BeginWithMotionsThatNothingHolds) {
  constexpr int kCount = 120;
  constexpr double kMass = 0.5, kStiffness = 400.0;
  std::string toml = "settings.gravity = [0, 0, 0]\n";
  for (int i = 0; i < kCount; ++i)
    toml += fmt::format(R"(
[[body]]
name = "car{0}"
mass = {1}
inertia = [1, 1, 1]
[[joint]]
name = "x{0}"
type = "prismatic"
axis = [1, 0, 0]
parent = {{ body = "{2}" }}
child = {{ body = "car{0}" }}
stiffness = {3}
)",
                        i, kMass, i == 0 ? "ground" : fmt::format("car{}", i - 1), i == 0 ? 0.0 : kStiffness);
  const auto model = shared_model(toml);
  ReducedMotion motion(model);
  motion.begin(test::start_state(*model));
  const std::vector<Mode> few = find_modes(motion, linear_terms(motion), 6);
  ASSERT_EQ(few.size(), 6U);
  for (int k = 0; k < 6; ++k) {
    // Of a row of equal masses with free ends.
    const double omega = 2.0 * std::sqrt(kStiffness / kMass) * std::sin(k * std::numbers::pi / (2.0 * kCount));
    EXPECT_NEAR(few[static_cast<std::size_t>(k)].frequency_hz, omega / (2.0 * std::numbers::pi), 1e-8 * omega) << k;
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
