#include "linkwork/transport/block_gram_schmidt.h"

#include <gtest/gtest.h>

#include <Eigen/Cholesky>
#include <Eigen/QR>
#include <cmath>
#include <cstring>

#include "linkwork/transport/thread_team.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

MatX<double> random_matrix(std::mt19937& random, int rows, int columns) {
  MatX<double> x(rows, columns);
  for (int i = 0; i < rows; ++i) x.row(i) = test::uniform_vector(random, columns).transpose();
  return x;
}

struct Problem {
  std::string name;
  MatX<double> B;
  VecX<double> b;
  std::vector<double> scale;
};

Problem problem(std::string name, MatX<double> B, VecX<double> b) {
  std::vector<double> scale;
  for (Eigen::Index i = 0; i < B.rows(); ++i) scale.push_back(B.row(i).squaredNorm());
  return {std::move(name), std::move(B), std::move(b), std::move(scale)};
}

/// B and b = B x, and a copy of b to which the caller can add contradictions.
Problem consistent(std::string name, const MatX<double>& B, std::mt19937& random) {
  return problem(std::move(name), B, B * test::uniform_vector(random, static_cast<int>(B.cols())));
}

/// Every kind of matrix on which a process in blocks could decide otherwise than one by rows. Several panels each.
std::vector<Problem> problems() {
  std::mt19937 random(11);
  std::vector<Problem> all;
  all.push_back(consistent("full rank", random_matrix(random, 90, 130), random));
  all.push_back(consistent("square", random_matrix(random, 70, 70), random));
  all.push_back(consistent("more rows than columns", random_matrix(random, 100, 45), random));
  all.push_back(consistent("low rank", random_matrix(random, 80, 30) * random_matrix(random, 30, 100), random));
  all.push_back(consistent("one row", random_matrix(random, 1, 40), random));
  all.push_back(consistent("no rank", MatX<double>::Zero(40, 50), random));

  MatX<double> B = random_matrix(random, 90, 120);
  B.row(5) = B.row(2) - 0.5 * B.row(3);     // within a panel
  B.row(40) = 2.0 * B.row(1) + B.row(39);   // across panels, and within
  B.row(63) = B.row(62);                    // neighbours
  B.row(70).setZero();                      // degenerate
  B.row(88) = B.row(5) + 1e-3 * B.row(80);  // by way of a dependent row
  all.push_back(consistent("some dependent rows", B, random));
  all.push_back(all.back());
  all.back().name = "inconsistent rows";
  all.back().b[40] += 0.1;
  all.back().b[70] = -2.0;
  all.back().b[88] += 1e-3;

  // Close to dependent on either side of the tolerance of 1e-10 for squares.
  B = random_matrix(random, 90, 120);
  for (int i = 0; i < 30; ++i)
    B.row(3 * i + 1) = B.row(3 * i) + std::pow(10.0, -0.3 * i - (i == 16 ? 0.1 : 0.0)) * random_matrix(random, 1, 120);
  all.push_back(consistent("nearly dependent rows", B, random));

  B = random_matrix(random, 90, 120);
  B.row(50) = B.row(20) - B.row(21);
  for (int i = 0; i < 90; ++i) B.row(i) *= std::pow(10.0, 12.0 * test::uniform(random));
  all.push_back(consistent("rows of very different size", B, random));

  // A chain, as closures of neighbouring loops make it: row i touches columns i, ..., i + 5.
  B = MatX<double>::Zero(100, 110);
  for (int i = 0; i < 100; ++i) B.block(i, i, 1, 6) = random_matrix(random, 1, 6);
  all.push_back(consistent("banded", B, random));
  return all;
}

Gigsp on_threads(const Problem& p, int threads) {
  Gigsp result;
  ThreadTeam team(threads);
  const MatX<double> rows = p.B.transpose();
  team.run([&](Transport& transport) {
    Gigsp mine;
    BlockGramSchmidt process;
    process.factor(transport, rows, p.scale, kRankTolerance, mine.factors());
    if (transport.rank() == threads - 1) result = mine;  // all ranks have it; the last is the furthest from the first
  });
  result.carry(p.b);
  return result;
}

Gigsp by_rows(const Problem& p) {
  Gigsp result;
  result.factor(p.B.transpose(), p.scale);
  result.carry(p.b);
  return result;
}

VecX<double> solution(const Gigsp& gigsp, Eigen::Index n) {
  VecX<double> y = VecX<double>::Zero(n);
  gigsp.add_solution(y);
  return y;
}

TEST(BlockGramSchmidt, FindsTheSameDependentAndInconsistentRowsAsTheProcessByRows) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.name);
    const Gigsp block = on_threads(p, 2), row = by_rows(p);
    EXPECT_EQ(block.dependent(), row.dependent());
    EXPECT_EQ(block.rank().rank, row.rank().rank);
    EXPECT_NEAR(block.rank().weakest, row.rank().weakest, 1e-6 * row.rank().weakest);
    ASSERT_TRUE(std::ranges::equal(block.kept(), row.kept()));
    for (int i = 0; i < row.rows(); ++i) {
      EXPECT_EQ(block.is_inconsistent(i), row.is_inconsistent(i)) << "row " << i;
      if (!row.dependent()[static_cast<std::size_t>(i)]) continue;
      VecX<double> expected, found;
      row.dependency(i, expected);
      block.dependency(i, found);
      EXPECT_LE((found - expected).norm(), 1e-6 * (1.0 + expected.norm())) << "row " << i;
    }
  }
}

TEST(BlockGramSchmidt, SaysWhichRowsAreWrong) {
  const std::vector<Problem> all = problems();
  const auto p = std::ranges::find(all, "inconsistent rows", &Problem::name);
  const Gigsp gigsp = on_threads(*p, 3);
  std::vector<int> dependent, inconsistent;
  for (int i = 0; i < gigsp.rows(); ++i) {
    if (gigsp.dependent()[static_cast<std::size_t>(i)]) dependent.push_back(i);
    if (gigsp.is_inconsistent(i)) inconsistent.push_back(i);
  }
  EXPECT_EQ(dependent, (std::vector<int>{5, 40, 63, 70, 88}));
  EXPECT_EQ(inconsistent, (std::vector<int>{40, 70, 88}));
  EXPECT_NEAR(gigsp.inconsistency()[40], 0.1, 1e-10);
  EXPECT_NEAR(gigsp.inconsistency()[70], -2.0, 1e-10);
  EXPECT_NEAR(gigsp.inconsistency()[88], 1e-3, 1e-10);
  VecX<double> shares;
  gigsp.dependency(40, shares);
  VecX<double> expected = VecX<double>::Zero(90);
  expected[1] = 2.0;
  expected[39] = 1.0;
  EXPECT_LE((shares - expected).norm(), 1e-10);
}

TEST(BlockGramSchmidt, MakesOrthonormalRowsThatReproduceTheMatrix) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.name);
    Gigsp gigsp = on_threads(p, 2);
    const int rank = gigsp.rank().rank;
    const MatX<double> Q = gigsp.directions();
    EXPECT_LE((Q.transpose() * Q - MatX<double>::Identity(rank, rank)).norm(), 1e-13 * (1.0 + std::sqrt(rank)));
    const MatX<double> again = gigsp.factors().R.leftCols(rank) * Q.transpose();
    for (Eigen::Index i = 0; i < p.B.rows(); ++i) {
      const double tolerance = gigsp.dependent()[static_cast<std::size_t>(i)] ? 1.1e-5 : 1e-14;
      EXPECT_LE((again.row(i) - p.B.row(i)).norm(), tolerance * p.B.row(i).norm()) << "row " << i;
    }
  }
}

TEST(BlockGramSchmidt, GivesTheSolutionOfThePseudoinverseWhereRowsAgree) {
  for (const Problem& p : problems()) {
    if (p.name.starts_with("inconsistent") || p.name.starts_with("nearly")) continue;
    SCOPED_TRACE(p.name);
    // Rows are scaled alike for the reference, whose rank decision is not relative to rows.
    VecX<double> lengths = p.B.rowwise().norm();
    for (double& length : lengths) length = length > 0.0 ? length : 1.0;
    const MatX<double> B = lengths.cwiseInverse().asDiagonal() * p.B;
    const VecX<double> b = p.b.cwiseQuotient(lengths);
    Eigen::CompleteOrthogonalDecomposition<MatX<double>> reference(B.rows(), B.cols());
    reference.setThreshold(1e-9);
    const VecX<double> expected = reference.compute(B).solve(b);
    EXPECT_LE((solution(on_threads(p, 2), p.B.cols()) - expected).norm(), 1e-8 * (1.0 + expected.norm()));
  }
}

bool same_bits(const MatX<double>& a, const MatX<double>& b) {
  if (a.rows() != b.rows() || a.cols() != b.cols()) return false;
  return a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

TEST(BlockGramSchmidt, IsTheSameToTheLastBitForAnyNumberOfThreads) {
  for (const Problem& p : problems()) {
    SCOPED_TRACE(p.name);
    Gigsp one = on_threads(p, 1);
    for (int threads : {2, 3, 4}) {
      Gigsp several = on_threads(p, threads);
      EXPECT_TRUE(same_bits(several.directions(), one.directions())) << threads;
      EXPECT_TRUE(same_bits(several.factors().R, one.factors().R)) << threads;
      EXPECT_EQ(several.dependent(), one.dependent()) << threads;
      EXPECT_TRUE(same_bits(solution(several, p.B.cols()), solution(one, p.B.cols()))) << threads;
    }
  }
}

TEST(BlockGramSchmidt, ObjectsAreUsableAgainForAnotherSize) {
  BlockGramSchmidt process;
  InProcess alone;
  Gigsp used;
  for (const Problem& p : problems()) {
    process.factor(alone, p.B.transpose(), p.scale, kRankTolerance, used.factors());
    Gigsp fresh = on_threads(p, 1);
    EXPECT_TRUE(same_bits(used.directions(), fresh.directions())) << p.name;
    EXPECT_TRUE(same_bits(used.factors().R, fresh.factors().R)) << p.name;
  }
}

TEST(DivideByTriangle, IsForwardSubstitutionWithTheSameBitsOnAnyNumberOfThreads) {
  std::mt19937 random(5);
  const MatX<double> root = random_matrix(random, 60, 60);
  const MatX<double> L = MatX<double>(root * root.transpose() + MatX<double>::Identity(60, 60)).llt().matrixL();
  const MatX<double> rows = random_matrix(random, 60, 47);
  MatX<double> one = rows;
  InProcess alone;
  divide_by_triangle(alone, L, one);
  EXPECT_LE((L * one - rows).norm(), 1e-12 * rows.norm());
  ThreadTeam team(3);
  std::vector<MatX<double>> divided(3, rows);
  team.run([&](Transport& transport) { divide_by_triangle(transport, L, divided[static_cast<std::size_t>(transport.rank())]); });
  for (const MatX<double>& each : divided) EXPECT_TRUE(same_bits(each, one));
}

}  // namespace
}  // namespace linkwork
