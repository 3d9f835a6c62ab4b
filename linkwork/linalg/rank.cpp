#include "linkwork/linalg/rank.h"

#include <algorithm>

#include "linkwork/linalg/rank_of_two.h"

namespace linkwork {

namespace {

/// The symmetric sweep operator on pivot p: after it, row p holds the solution for the swept unknowns.
[[gnu::always_inline]] inline void sweep(double* a, int n, int p) {
  const double inverse = 1.0 / a[p * n + p];
  for (int i = 0; i < n; ++i) {
    if (i == p) continue;
    const double factor = a[i * n + p] * inverse;
    for (int j = 0; j < n; ++j) a[i * n + j] -= factor * a[p * n + j];  // that of p, too: a branch would cost more
    a[i * n + p] = factor;
  }
  // With a_pp = -1/d and a_pj = a_jp, the swept block is minus its inverse.
  for (int j = 0; j < n; ++j)
    if (j != p) a[p * n + j] = a[j * n + p];
  a[p * n + p] = -inverse;
}

/// By sweeps. Inlined where n is known, it is several times as fast.
[[gnu::always_inline]] inline Rank ranked_inverse_of(int n, double* a, const double* scale, char* dependent) {
  std::fill(dependent, dependent + n, char{1});
  Rank result;
  while (result.rank < n) {
    int pivot = -1;
    double best = kRankTolerance;
    for (int i = 0; i < n; ++i) {
      if (!dependent[i] || !(scale[i] > 0.0)) continue;
      const double ratio = a[i * n + i] / scale[i];
      if (ratio > best) best = ratio, pivot = i;
    }
    if (pivot < 0) break;
    sweep(a, n, pivot);
    dependent[pivot] = 0;
    ++result.rank;
    result.weakest = std::min(result.weakest, best);
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) a[i * n + j] = dependent[i] || dependent[j] ? 0.0 : -a[i * n + j];
  return result;
}

}  // namespace

Rank ranked_inverse(std::span<double> gram, int n, std::span<const double> scale, std::span<char> dependent) {
  if (n == 2) return ranked_inverse_of_two(gram.data(), scale.data(), dependent.data());
  if (n == 3) return ranked_inverse_of(3, gram.data(), scale.data(), dependent.data());
  if (n == 5) return ranked_inverse_of(5, gram.data(), scale.data(), dependent.data());
  if (n == 6) return ranked_inverse_of(6, gram.data(), scale.data(), dependent.data());
  return ranked_inverse_of(n, gram.data(), scale.data(), dependent.data());
}

void row_scales(const MatX<double>& bounds, const VecX<double>& weights, VecX<double>& scale) {
  scale.resize(bounds.rows());
  for (Eigen::Index i = 0; i < bounds.rows(); ++i)
    scale[i] = (bounds.row(i).array().square() * weights.transpose().array()).sum();
}

Rank dependent_rows(const MatX<double>& A, const MatX<double>& bounds, const VecX<double>& weights, RankTest& test,
                    std::span<char> dependent) {
  const int n = static_cast<int>(A.rows());
  test.gram.resize(n, n);
  row_scales(bounds, weights, test.scale);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      test.gram(i, j) = test.gram(j, i) = (A.row(i).array() * A.row(j).array() * weights.transpose().array()).sum();
  return ranked_inverse({test.gram.data(), static_cast<std::size_t>(n * n)}, n, {test.scale.data(), static_cast<std::size_t>(n)},
                        dependent);
}

}  // namespace linkwork
