#include "linkwork/linalg/row_basis.h"

#include <gtest/gtest.h>

#include <Eigen/QR>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

MatX<double> random_rows(std::mt19937& random, int rows, int columns) {
  MatX<double> A(rows, columns);
  for (int i = 0; i < rows; ++i) A.row(i) = test::uniform_vector(random, columns).transpose();
  return A;
}

TEST(RowBasis, GivesTheShortestSolutionAlsoWhereRowsAreDependent) {
  std::mt19937 random(61);
  MatX<double> A = random_rows(random, 6, 9);
  A.row(3) = 2.0 * A.row(0) - A.row(1);
  A.row(5) = A.row(2);
  const VecX<double> e = A * test::uniform_vector(random, 9);
  VecX<double> scale, x;
  squared_lengths(A, scale);
  RowBasis basis;
  EXPECT_EQ(basis.factor(A, scale).rank, 4);
  EXPECT_EQ(std::ranges::count(basis.dependent(), 1), 2);
  basis.shortest_solution(e, x);
  EXPECT_LT((A * x - e).norm(), 1e-13);
  EXPECT_LT((x - A.completeOrthogonalDecomposition().solve(e)).norm(), 1e-13);
}

TEST(RowBasis, GivesMultipliersWithTheForceClosestToAGivenOne) {
  std::mt19937 random(62);
  MatX<double> A = random_rows(random, 5, 8);
  A.row(4) = A.row(1) + A.row(2);
  const VecX<double> f = test::uniform_vector(random, 8);
  VecX<double> scale, lambda;
  squared_lengths(A, scale);
  RowBasis basis;
  basis.factor(A, scale);
  basis.closest_multipliers(f, lambda);
  EXPECT_LT((A * (A.transpose() * lambda - f)).norm(), 1e-13);  // the rest is at right angles to all rows
}

TEST(RowBasis, KeepsItsAccuracyUpToTheRankDecision) {
  std::mt19937 random(63);
  MatX<double> A = random_rows(random, 2, 5);
  VecX<double> scale, x;
  for (double angle : {1e-2, 1e-3, 1e-4}) {
    MatX<double> B = A;
    B.row(1) = A.row(0) + angle * A.row(1);
    const VecX<double> e = B * test::uniform_vector(random, 5);
    squared_lengths(B, scale);
    RowBasis basis;
    EXPECT_EQ(basis.factor(B, scale).rank, 2) << angle;
    basis.shortest_solution(e, x);
    EXPECT_LT((B * x - e).norm(), 1e-14) << angle;
  }
  A.row(1) = A.row(0) + 1e-7 * A.row(1);
  squared_lengths(A, scale);
  EXPECT_EQ(RowBasis().factor(A, scale).rank, 1);
}

}  // namespace
}  // namespace linkwork
