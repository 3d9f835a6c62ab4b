#include "linkwork/linalg/pattern_lu.h"

#include <gtest/gtest.h>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// An arrow: a band, and full last rows and columns; its diagonal is zero in places, as constraints make it.
std::vector<std::pair<int, int>> arrow(int size) {
  std::vector<std::pair<int, int>> places;
  for (int i = 0; i < size; ++i) {
    for (int j = std::max(0, i - 2); j <= std::min(size - 1, i + 2); ++j) places.emplace_back(i, j);
    places.emplace_back(i, size - 1), places.emplace_back(size - 1, i);
  }
  return places;
}

TEST(PatternLu, SolvesDenseAndSparseMatricesOfOnePatternAgainAndAgain) {
  std::mt19937 random(2);
  for (const int size : {1, 7, 60, 150, 400}) {
    PatternLu lu;
    lu.set_pattern(size, arrow(size));
    EXPECT_EQ(lu.is_sparse(), size >= kSparseFrom);
    for (int again = 0; again < 4; ++again) {
      SparseMatrix& A = lu.matrix();
      for (Eigen::Index k = 0; k < A.nonZeros(); ++k) A.valuePtr()[k] = test::uniform(random);
      for (int i = 0; i < size; i += 3) A.coeffRef(i, i) = size > 1 ? 0.0 : 2.0;
      const VecX<double> expected = test::uniform_vector(random, size);
      VecX<double> x = A * expected;
      ASSERT_TRUE(lu.factor());
      lu.solve(x);
      EXPECT_LT((x - expected).norm(), 1e-8) << size;
    }
  }
}

TEST(PatternLu, RefusesSingularMatrices) {
  for (const int size : {5, 200}) {
    PatternLu lu;
    lu.set_pattern(size, arrow(size));
    for (int i = 0; i + 1 < size; ++i) lu.add(i, i, 1.0);
    EXPECT_FALSE(lu.factor()) << size;
    lu.add(size - 1, size - 1, 1.0);
    EXPECT_TRUE(lu.factor()) << size;
  }
}

TEST(ColumnGroups, ShareNoRow) {
  const SparseMatrix pattern = matrix_of_pattern(50, 50, arrow(50));
  SparseMatrix band = matrix_of_pattern(20, 20, [] {
    std::vector<std::pair<int, int>> places;
    for (int i = 0; i < 20; ++i)
      for (int j = std::max(0, i - 1); j <= std::min(19, i + 1); ++j) places.emplace_back(i, j);
    return places;
  }());
  EXPECT_EQ(independent_column_groups(band).size(), 3u);
  EXPECT_EQ(independent_column_groups(pattern).size(), 50u) << "a full row couples all";
}

}  // namespace
}  // namespace linkwork
