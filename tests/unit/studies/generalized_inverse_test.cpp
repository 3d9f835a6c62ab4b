#include <gtest/gtest.h>

#include <Eigen/Dense>

#include "studies/generalized_inverse/counted.h"
#include "studies/generalized_inverse/methods.h"
#include "studies/generalized_inverse/random_problem.h"
#include "studies/generalized_inverse/svd.h"

namespace linkwork::studies {
namespace {

using Matrix = MatrixOf<double>;
using Vector = VectorOf<double>;

constexpr Method kAll[] = {Method::kLagrangeFull,   Method::kLagrange,      Method::kSinghLikins,
                           Method::kKimVanderploeg, Method::kUdwadiaKalaba, Method::kGramSchmidt};

Vector reference(const Problem<double>& problem) {
  const Index n = problem.M.rows(), m = problem.A.rows();
  Matrix K = Matrix::Zero(n + m, n + m);
  K << problem.M, problem.A.transpose(), problem.A, Matrix::Zero(m, m);
  Vector right(n + m);
  right << problem.f, problem.b;
  return K.fullPivLu().solve(right).head(n);
}

TEST(StudyMethods, AllAgreeWithAnIndependentSolution) {
  RandomProblems random(1);
  for (const bool diagonal : {false, true})
    for (const Index m : {1, 4, 9, 10}) {
      const Problem<double> problem = random.make(10, m, diagonal);
      const Vector expected = reference(problem);
      for (const Method method : kAll) {
        const Answer<double> answer = solved(method, problem);
        ASSERT_EQ(answer.outcome, Outcome::kAnswered) << name_of(method);
        EXPECT_LT((answer.a - expected).norm(), 1e-9 * (1.0 + expected.norm())) << name_of(method) << ", m = " << m;
      }
    }
}

TEST(StudyMethods, CountingDoesNotChangeTheResult) {
  const Problem<double> problem = RandomProblems(2).make(7, 3);
  for (const Method method : kAll) {
    const VectorOf<Counted> counted = solved(method, converted<Counted>(problem)).a;
    const Vector plain = solved(method, problem).a;
    for (Index k = 0; k < plain.size(); ++k) EXPECT_NEAR(static_cast<double>(counted(k)), plain(k), 1e-12) << name_of(method);
  }
}

TEST(StudySvd, RebuildsTallAndRankDeficientMatrices) {
  RandomProblems random(3);
  for (const Index rank : {6, 4, 1, 0}) {
    Matrix A = Matrix::Zero(9, 6);
    for (Index k = 0; k < rank; ++k) A += random.make(9, 1).A.transpose() * random.make(6, 1).A;
    const Svd<double> svd(A, true);
    Matrix D = Matrix::Zero(9, 6);
    Index nulls = 0;
    for (Index k = 0; k < 6; ++k) {
      D(k, k) = svd.values()[static_cast<std::size_t>(k)];
      nulls += svd.is_null(k) ? 1 : 0;
    }
    EXPECT_LT((svd.left().transpose() * D * svd.right() - A).norm(), 1e-12) << "rank " << rank;
    EXPECT_LT((svd.left() * svd.left().transpose() - Matrix::Identity(9, 9)).norm(), 1e-12);
    EXPECT_LT((svd.right() * svd.right().transpose() - Matrix::Identity(6, 6)).norm(), 1e-12);
    EXPECT_EQ(nulls, 6 - rank);
  }
}

TEST(StudySvd, SplitsAtZerosOnTheDiagonal) {
  for (const Index zero : {0, 2, 4}) {
    Matrix A = Matrix::Zero(5, 5);
    for (Index k = 0; k < 5; ++k) {
      A(k, k) = k == zero ? 0.0 : 1.0 + static_cast<double>(k);
      if (k < 4) A(k, k + 1) = 1.0;
    }
    const Svd<double> svd(A, false);
    Vector values(5);
    for (Index k = 0; k < 5; ++k) values(k) = std::abs(svd.values()[static_cast<std::size_t>(k)]);
    std::sort(values.begin(), values.end(), std::greater<>());
    const Vector expected = A.jacobiSvd().singularValues();
    EXPECT_LT((values - expected).norm(), 1e-12) << zero;
  }
}

TEST(StudyCounting, CountsAreThoseOfTheTextbook) {
  const auto operations = [](const auto& job) {
    const long before = Counted::operations();
    job();
    return Counted::operations() - before;
  };
  const Problem<Counted> problem = converted<Counted>(RandomProblems(4).make(8, 3));
  const long n = 8;
  // n (n+1) (2n+1) / 6 up to the divisions and roots, which are counted once each.
  EXPECT_EQ(operations([&] { return cholesky(problem.M); }), (2 * n * n * n + 3 * n * n + n) / 6);
  EXPECT_EQ(operations([&] { return times(problem.A, problem.f); }), 3 * (2 * n - 1));
}

TEST(StudyGramSchmidt, TellsRedundantRowsFromInconsistentOnes) {
  Matrix A(4, 3);
  A << 1, 2, 0, 0, 1, 1, 1, 3, 1, 2, 4, 0;
  const Orthonormal<double> rows = orthonormalized<double>(A, Eigen::Vector4d(1, 2, 3, 5));
  EXPECT_EQ(rows.kinds, (std::vector{RowKind::kIndependent, RowKind::kIndependent, RowKind::kRedundant, RowKind::kInconsistent}));
  EXPECT_FALSE(rows.is_consistent());
}

}  // namespace
}  // namespace linkwork::studies
