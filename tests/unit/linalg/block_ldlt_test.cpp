#include "linkwork/linalg/block_ldlt.h"

#include <gtest/gtest.h>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// A = J J' for block rows J, blocks coupled along a chain plus one long link, as closures of neighbouring loops are.
struct Problem {
  std::vector<int> sizes{2, 3, 1, 5, 2};
  std::vector<std::pair<int, int>> coupled;
  MatX<double> J;
  MatX<double> A;
  std::vector<double> scale;

  explicit Problem(bool redundant) {
    std::mt19937 random(7);
    const int n = 13;
    J = MatX<double>::Zero(n, 30);
    const std::vector<std::pair<int, int>> columns{{0, 9}, {6, 9}, {12, 6}, {15, 12}, {24, 6}};  // overlaps couple neighbours
    int row = 0;
    for (std::size_t b = 0; b < sizes.size(); ++b)
      for (int r = 0; r < sizes[b]; ++r, ++row)
        for (int c = 0; c < columns[b].second; ++c) J(row, columns[b].first + c) = test::uniform(random);
    if (redundant) {
      J.row(4) = 0.5 * J.row(2) - 2.0 * J.row(3);  // within block 1
      J.row(12) = J.row(11);                       // within block 4
      J.row(6).setZero();                          // a degenerate row of block 3
    }
    A = J * J.transpose();
    for (int i = 0; i < n; ++i) scale.push_back(std::max(A(i, i), 1.0));
    std::vector<int> first{0, 2, 5, 6, 11};
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < i; ++j)
        if (A.block(first[static_cast<std::size_t>(i)], first[static_cast<std::size_t>(j)], sizes[static_cast<std::size_t>(i)],
                    sizes[static_cast<std::size_t>(j)])
                .norm() > 0)
          coupled.emplace_back(i, j);
    ldlt = BlockLdlt(sizes, coupled);
    using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    ldlt.set_zero();
    for (int i = 0; i < 5; ++i)
      for (int j = 0; j < 5; ++j) {
        const bool stored = i == j || std::ranges::find(coupled, std::pair{i, j}) != coupled.end();
        if (!stored) continue;
        const RowMajor block = A.block(first[static_cast<std::size_t>(i)], first[static_cast<std::size_t>(j)],
                                       sizes[static_cast<std::size_t>(i)], sizes[static_cast<std::size_t>(j)]);
        ldlt.set_block(i, j, block.data());
      }
  }
  BlockLdlt ldlt;
};

TEST(BlockLdlt, SolvesAFullRankSystem) {
  Problem p(false);
  EXPECT_EQ(p.ldlt.factor(p.scale).rank, 13);
  std::mt19937 random(8);
  const VecX<double> x = test::uniform_vector(random, 13), rhs = p.A * x;
  VecX<double> found(13);
  p.ldlt.solve(rhs.data(), found.data());
  EXPECT_LT((found - x).norm(), 1e-9);
}

TEST(BlockLdlt, LeavesDependentRowsOutAndMeetsConsistentOnes) {
  Problem p(true);
  EXPECT_EQ(p.ldlt.factor(p.scale).rank, 10);
  std::mt19937 random(9);
  const VecX<double> rhs = p.J * test::uniform_vector(random, 30);
  VecX<double> found(13);
  p.ldlt.solve(rhs.data(), found.data());
  EXPECT_LT((p.A * found - rhs).norm(), 1e-9);
  for (double x : p.ldlt.inconsistency()) EXPECT_NEAR(x, 0.0, 1e-9);
  EXPECT_TRUE(p.ldlt.dependent()[6]);
}

TEST(BlockLdlt, ReportsHowFarInconsistentRowsAreOff) {
  Problem p(true);
  p.ldlt.factor(p.scale);
  std::mt19937 random(9);
  VecX<double> rhs = p.J * test::uniform_vector(random, 30);
  rhs[6] += 0.25;
  VecX<double> found(13);
  p.ldlt.solve(rhs.data(), found.data());
  EXPECT_NEAR(p.ldlt.inconsistency()[6], 0.25, 1e-12);
}

}  // namespace
}  // namespace linkwork
