#include "linkwork/linalg/genetic_algorithm.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace linkwork {
namespace {

/// 1/2 (a - a_f)' M (a - a_f) + w |A a - b|^2 of the double pendulum of [Wu1997] section 5.4, with M = 1: hanging straight down,
/// the masses pass the bottom with pi and 2 pi m/s.
struct DoublePendulum {
  double weight = 1e6;
  Eigen::Vector4d a_f{0.0, 9.8, 0.0, 9.8};
  Eigen::Matrix<double, 2, 4> A{{0.0, 1.0, 0.0, 0.0}, {0.0, -1.0, 0.0, 1.0}};
  Eigen::Vector2d b = Eigen::Vector2d::Constant(-std::numbers::pi * std::numbers::pi);

  double operator()(std::span<const double> x) const {
    const Eigen::Map<const Eigen::Vector4d> a(x.data());
    return 0.5 * (a - a_f).squaredNorm() + weight * (A * a - b).squaredNorm();
  }
  Eigen::Vector4d exact() const {
    const Eigen::Matrix4d H = Eigen::Matrix4d::Identity() + 2.0 * weight * A.transpose() * A;
    return H.ldlt().solve(a_f + 2.0 * weight * A.transpose() * b);
  }
};

TEST(GeneticAlgorithm, FindsTheAccelerationsOfTheDoublePendulumInFiveRuns) {
  const DoublePendulum objective;
  GeneticAlgorithm algorithm(4, {});
  VecX<double> centre = VecX<double>::Zero(4), range = VecX<double>::Constant(4, 50.0);
  std::vector<double> values;
  shrinking_search(algorithm, objective, 5, 5.0, centre, range,
                   [&](const GeneticAlgorithm& run) { values.push_back(run.best_value()); });
  ASSERT_EQ(values.size(), 5u);
  EXPECT_TRUE(std::ranges::is_sorted(values, std::greater()));
  EXPECT_LT((centre - objective.exact()).cwiseAbs().maxCoeff(), 1e-3);
  EXPECT_LT((range.array() - 50.0 / std::pow(5.0, 5)).abs().maxCoeff(), 1e-12);
}

TEST(GeneticAlgorithm, GivesTheSameOnAnyNumberOfThreads) {
  const DoublePendulum objective;
  std::vector<VecX<double>> best;
  std::vector<std::size_t> generations;
  for (int threads : {1, 2, 3}) {
    GeneticOptions options;
    options.trials = 600;
    options.threads = threads;
    GeneticAlgorithm algorithm(4, options);
    algorithm.run(objective, VecX<double>::Zero(4), VecX<double>::Constant(4, 50.0));
    algorithm.run(objective, algorithm.best(), VecX<double>::Constant(4, 10.0));
    best.push_back(algorithm.best());
    generations.push_back(algorithm.history().size());
  }
  for (std::size_t i = 1; i < best.size(); ++i) {
    EXPECT_EQ(best[i], best[0]);
    EXPECT_EQ(generations[i], generations[0]);
  }
}

TEST(GeneticAlgorithm, DependsOnItsSeed) {
  const DoublePendulum objective;
  std::vector<VecX<double>> best;
  for (std::uint64_t seed : {1u, 2u}) {
    GeneticOptions options;
    options.trials = 600;
    options.seed = seed;
    GeneticAlgorithm algorithm(4, options);
    algorithm.run(objective, VecX<double>::Zero(4), VecX<double>::Constant(4, 50.0));
    best.push_back(algorithm.best());
  }
  EXPECT_NE(best[0], best[1]);
}

TEST(GeneticAlgorithm, KeepsARecordOfTheBestSoFar) {
  const DoublePendulum objective;
  GeneticAlgorithm algorithm(4, {});
  algorithm.run(objective, VecX<double>::Zero(4), VecX<double>::Constant(4, 50.0));
  const auto history = algorithm.history();
  EXPECT_EQ(history.front().trials, 100);
  EXPECT_GE(history.back().trials, 6400);
  EXPECT_LT(history.back().trials, 6500);
  for (std::size_t i = 0; i < history.size(); ++i) {
    EXPECT_DOUBLE_EQ(history[i].value, objective({history[i].x.data(), 4}));
    if (i == 0) continue;
    EXPECT_LE(history[i].value, history[i - 1].value);
    EXPECT_GE(history[i].trials, history[i - 1].trials);
  }
}

TEST(GeneticAlgorithm, IsNeverWorseThanTheCentre) {
  const DoublePendulum objective;
  const VecX<double> centre = objective.exact();
  GeneticAlgorithm algorithm(4, {});
  algorithm.run(objective, centre, VecX<double>::Constant(4, 1e-3));
  EXPECT_LE(algorithm.best_value(), objective({centre.data(), 4}) * (1.0 + 1e-12));
}

TEST(GeneticAlgorithm, MovesTowardsAnOptimumOutsideTheBox) {
  const auto bowl = [](std::span<const double> x) { return std::pow(x[0] - 100.0, 2) + std::pow(x[1] + 3.0, 2); };
  GeneticAlgorithm algorithm(2, {});
  VecX<double> centre = VecX<double>::Zero(2), range = VecX<double>::Constant(2, 10.0);
  shrinking_search(algorithm, bowl, 14, 5.0, centre, range);
  EXPECT_NEAR(centre[0], 100.0, 1e-2);
  EXPECT_NEAR(centre[1], -3.0, 1e-2);
}

}  // namespace
}  // namespace linkwork
