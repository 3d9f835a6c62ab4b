#include "linkwork/linalg/gigsp.h"

#include <gtest/gtest.h>

#include <Eigen/SVD>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

MatX<double> random_matrix(std::mt19937& random, int rows, int columns) {
  MatX<double> x(rows, columns);
  for (int i = 0; i < rows; ++i) x.row(i) = test::uniform_vector(random, columns).transpose();
  return x;
}

std::vector<double> row_scales_of(const MatX<double>& B) {
  std::vector<double> scale;
  for (Eigen::Index i = 0; i < B.rows(); ++i) scale.push_back(std::max(1.0, B.row(i).squaredNorm()));
  return scale;
}

Gigsp factored(const MatX<double>& B) {
  Gigsp gigsp;
  gigsp.factor(B.transpose(), row_scales_of(B));
  return gigsp;
}

TEST(Gigsp, GivesThePseudoinverseSolutionOfConsistentRowsOfAnyRankAndShape) {
  std::mt19937 random(3);
  for (const auto& [m, n, r] : {std::array{3, 7, 3}, {6, 7, 4}, {9, 5, 3}, {9, 5, 5}, {1, 1, 1}, {4, 4, 4}, {5, 8, 0}}) {
    const MatX<double> B = random_matrix(random, m, r) * random_matrix(random, r, n);
    const VecX<double> b = B * test::uniform_vector(random, n);
    Gigsp gigsp = factored(B);
    EXPECT_EQ(gigsp.rank().rank, r);
    EXPECT_EQ(std::ranges::count(gigsp.dependent(), 1), m - r);
    gigsp.carry(b);
    VecX<double> y = VecX<double>::Zero(n), lambda;
    gigsp.add_solution(y);
    gigsp.multipliers(lambda);
    Eigen::JacobiSVD<MatX<double>> svd(B, Eigen::ComputeThinU | Eigen::ComputeThinV);
    const VecX<double> expected = r == 0 ? VecX<double>::Zero(n) : VecX<double>(svd.setThreshold(1e-10).solve(b));
    EXPECT_LT(test::relative_difference(y, expected), 1e-11);
    EXPECT_LT(test::relative_difference(B.transpose() * lambda, expected), 1e-11);
    for (int i = 0; i < m; ++i) EXPECT_FALSE(gigsp.is_inconsistent(i));
  }
}

TEST(Gigsp, DirectionsAreOrthonormalToRoundingAlsoWhenRowsNearlyDepend) {
  std::mt19937 random(4);
  MatX<double> B = random_matrix(random, 6, 9);
  for (int i = 1; i < 6; ++i) B.row(i) = B.row(0) + 1e-4 * B.row(i);
  const Gigsp gigsp = factored(B);
  ASSERT_EQ(gigsp.rank().rank, 6);
  EXPECT_LT(gigsp.rank().weakest, 1e-7);
  const MatX<double> Q = gigsp.directions();
  EXPECT_LT((Q.transpose() * Q - MatX<double>::Identity(6, 6)).cwiseAbs().maxCoeff(), 1e-14);
}

TEST(Gigsp, TellsWhichRowsADependentRowIsMadeOf) {
  std::mt19937 random(5);
  MatX<double> B = random_matrix(random, 5, 8);
  B.row(3) = 2.0 * B.row(0) - 3.0 * B.row(2);
  const Gigsp gigsp = factored(B);
  EXPECT_EQ(gigsp.dependent(), (std::vector<char>{0, 0, 0, 1, 0}));
  VecX<double> made_of;
  gigsp.dependency(3, made_of);
  EXPECT_LT(test::relative_difference(made_of, (VecX<double>(5) << 2, 0, -3, 0, 0).finished()), 1e-12);
}

TEST(Gigsp, AnInconsistentRowIsFoundWithItsShareAndTheEarlierRowsAreMet) {
  std::mt19937 random(6);
  MatX<double> B = random_matrix(random, 4, 6);
  B.row(2) = B.row(0) + B.row(1);
  VecX<double> b = B * test::uniform_vector(random, 6);
  b[2] += 0.25;
  Gigsp gigsp = factored(B);
  gigsp.carry(b);
  EXPECT_TRUE(gigsp.is_inconsistent(2));
  EXPECT_NEAR(gigsp.inconsistency()[2], 0.25, 1e-12);
  for (int i : {0, 1, 3}) EXPECT_FALSE(gigsp.is_inconsistent(i));
  VecX<double> y = VecX<double>::Zero(6);
  gigsp.add_solution(y);
  const VecX<double> left = B * y - b;
  for (int i : {0, 1, 3}) EXPECT_NEAR(left[i], 0.0, 1e-12);
  EXPECT_NEAR(left[2], -0.25, 1e-12);
}

TEST(Gigsp, AVanishingRowDependsOnNothing) {
  MatX<double> B(2, 3);
  B << 1, 2, 3, 0, 0, 0;
  const Gigsp gigsp = factored(B);
  EXPECT_EQ(gigsp.dependent(), (std::vector<char>{0, 1}));
  VecX<double> made_of;
  gigsp.dependency(1, made_of);
  EXPECT_EQ(made_of.cwiseAbs().maxCoeff(), 0.0);
}

}  // namespace
}  // namespace linkwork
