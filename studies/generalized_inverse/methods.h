#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "studies/generalized_inverse/dense.h"
#include "studies/generalized_inverse/gram_schmidt.h"
#include "studies/generalized_inverse/svd.h"

// The methods that [Wu1997] compares in tables 2.1, 4.1 and 4.2, from M, A, f = tau - c and b to the accelerations.

namespace linkwork::studies {

template <class S>
struct Problem {
  MatrixOf<S> M, A;
  VectorOf<S> f, b;
  bool diagonal = false;  // M is, and is used as such
};

enum class Outcome { kAnswered, kFailed, kReported };

template <class S>
struct Answer {
  VectorOf<S> a;
  Outcome outcome = Outcome::kAnswered;
};

enum class Method {
  kLagrangeFull,    // eq. 2.6: the augmented matrix by LU
  kLagrange,        // eq. 2.8: regular inverse of A M^-1 A' (LL)
  kSinghLikins,     // eq. 4.1: null space by SVD
  kKimVanderploeg,  // eq. 4.3: null space by QR
  kUdwadiaKalaba,   // eq. 2.20: generalized inverse of A M^-1 A' by SVD
  kGramSchmidt,     // eq. 2.30: GIGSP
};

std::string name_of(Method method);

/// M = L L', or its roots if it is diagonal.
template <class S>
class MassFactor {
 public:
  explicit MassFactor(const Problem<S>& problem) : diagonal_(problem.diagonal) {
    using std::sqrt;
    if (!diagonal_) {
      L_ = *cholesky(problem.M);
      return;
    }
    roots_.resize(problem.M.rows());
    for (Index k = 0; k < roots_.size(); ++k) roots_(k) = sqrt(problem.M(k, k));
  }

  /// L^-1 x, in place.
  void solve(S* x) const {
    if (!diagonal_) return solve_lower(L_, x);
    for (Index k = 0; k < roots_.size(); ++k) x[k] /= roots_(k);
  }
  /// L'^-1 x, in place.
  void solve_transposed(S* x) const {
    if (!diagonal_) return solve_lower_transposed(L_, x);
    for (Index k = 0; k < roots_.size(); ++k) x[k] /= roots_(k);
  }
  /// A L'^-1
  MatrixOf<S> weighted(MatrixOf<S> A) const {
    for (Index i = 0; i < A.rows(); ++i) solve(row(A, i));
    return A;
  }

 private:
  bool diagonal_;
  MatrixOf<S> L_;
  VectorOf<S> roots_;
};

/// a = a_f + L'^-1 D' lambda with D = A L'^-1; free is L' a_f, so that only one step back is needed.
template <class S>
Answer<S> from_multipliers(const MassFactor<S>& mass, const MatrixOf<S>& D, VectorOf<S> free, const VectorOf<S>& lambda) {
  const VectorOf<S> pull = transposed_times(D, lambda);
  for (Index k = 0; k < free.size(); ++k) free(k) += pull(k);
  mass.solve_transposed(free.data());
  return {std::move(free)};
}

template <class S>
VectorOf<S> missing(const MatrixOf<S>& D, const VectorOf<S>& free, const VectorOf<S>& b) {
  VectorOf<S> rest = times(D, free);
  for (Index i = 0; i < rest.size(); ++i) rest(i) = b(i) - rest(i);
  return rest;
}

template <class S>
Answer<S> lagrange(const Problem<S>& problem) {
  const MassFactor<S> mass(problem);
  VectorOf<S> free = problem.f;
  mass.solve(free.data());
  const MatrixOf<S> D = mass.weighted(problem.A);
  const auto L = cholesky(symmetric_product(D, D));
  if (!L) return {{}, Outcome::kFailed};
  VectorOf<S> lambda = missing(D, free, problem.b);
  solve_lower(*L, lambda.data());
  solve_lower_transposed(*L, lambda.data());
  return from_multipliers(mass, D, std::move(free), lambda);
}

template <class S>
Answer<S> lagrange_full(const Problem<S>& problem) {
  const Index n = problem.M.rows(), m = problem.A.rows();
  MatrixOf<S> K(n + m, n + m);
  VectorOf<S> x(n + m);
  for (Index i = 0; i < n + m; ++i) {
    for (Index k = 0; k < n + m; ++k)
      K(i, k) = i < n ? (k < n ? problem.M(i, k) : problem.A(k - n, i)) : (k < n ? problem.A(i - n, k) : S(0.0));
    x(i) = i < n ? problem.f(i) : problem.b(i - n);
  }
  const auto lu = Lu<S>::factor(std::move(K));
  if (!lu) return {{}, Outcome::kFailed};
  lu->solve(x.data());
  return {x.head(n)};
}

template <class S>
Answer<S> udwadia_kalaba(const Problem<S>& problem) {
  const MassFactor<S> mass(problem);
  VectorOf<S> free = problem.f;
  mass.solve(free.data());
  const MatrixOf<S> D = mass.weighted(problem.A);
  const Svd<S> svd(symmetric_product(D, D), true);
  VectorOf<S> along = times(svd.left(), missing(D, free, problem.b));
  for (Index k = 0; k < along.size(); ++k)
    along(k) = svd.is_null(k) ? S(0.0) : along(k) / svd.values()[static_cast<std::size_t>(k)];
  return from_multipliers(mass, D, std::move(free), transposed_times(svd.right(), along));
}

template <class S>
Answer<S> gram_schmidt(const Problem<S>& problem) {
  const MassFactor<S> mass(problem);
  VectorOf<S> free = problem.f;
  mass.solve(free.data());
  const Orthonormal<S> rows = orthonormalized<S>(mass.weighted(problem.A), problem.b);
  Answer<S> answer = from_multipliers(mass, rows.A1, free, missing(rows.A1, free, rows.b1));
  if (!rows.is_consistent()) answer.outcome = Outcome::kReported;
  return answer;
}

/// a = p + N z with the columns of N (rows here) spanning the free directions and A p = b: N' M N z = N' (f - M p).
template <class S>
Answer<S> in_null_space(const Problem<S>& problem, const MatrixOf<S>& Nt, VectorOf<S> p) {
  const auto mass_times = [&](const S* x, S* y) {
    for (Index i = 0; i < problem.M.rows(); ++i)
      y[i] = problem.diagonal ? problem.M(i, i) * x[i] : dot(row(problem.M, i), x, problem.M.cols());
  };
  MatrixOf<S> MN(Nt.rows(), Nt.cols());
  for (Index k = 0; k < Nt.rows(); ++k) mass_times(row(Nt, k), row(MN, k));
  VectorOf<S> rest(p.size());
  mass_times(p.data(), rest.data());
  for (Index k = 0; k < rest.size(); ++k) rest(k) = problem.f(k) - rest(k);
  VectorOf<S> z = times(Nt, rest);
  const auto L = cholesky(symmetric_product(Nt, MN));
  if (!L) return {{}, Outcome::kFailed};
  solve_lower(*L, z.data());
  solve_lower_transposed(*L, z.data());
  const VectorOf<S> along = transposed_times(Nt, z);
  for (Index k = 0; k < p.size(); ++k) p(k) += along(k);
  return {std::move(p)};
}

template <class S>
Answer<S> singh_likins(const Problem<S>& problem) {
  const Index n = problem.A.cols(), m = problem.A.rows();
  const Svd<S> svd(problem.A.transpose(), true);  // A' = U d V'
  VectorOf<S> along = times(svd.right(), problem.b);
  std::vector<Index> null;
  for (Index k = 0; k < n; ++k) {
    if (k >= m || svd.is_null(k)) null.push_back(k);
    if (k < m) along(k) = svd.is_null(k) ? S(0.0) : along(k) / svd.values()[static_cast<std::size_t>(k)];
  }
  const MatrixOf<S> range = svd.left().topRows(m);
  MatrixOf<S> Nt(static_cast<Index>(null.size()), n);
  for (Index k = 0; k < Nt.rows(); ++k) Nt.row(k) = svd.left().row(null[static_cast<std::size_t>(k)]);
  return in_null_space(problem, Nt, transposed_times(range, along));
}

/// A' = Q R by reflections; row k of the result is column k of Q.
template <class S>
MatrixOf<S> orthogonal_factor(MatrixOf<S> A) {
  const Index m = A.rows(), n = A.cols();
  std::vector<S> beta(static_cast<std::size_t>(m));
  for (Index k = 0; k < m; ++k) {
    S* const own = row(A, k) + k;
    beta[static_cast<std::size_t>(k)] = make_reflector(own, n - k).beta;
    for (Index i = k + 1; i < m; ++i)
      add_scaled(row(A, i) + k, -(beta[static_cast<std::size_t>(k)] * dot(own, row(A, i) + k, n - k)), own, n - k);
  }
  MatrixOf<S> Qt(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index k = 0; k < n; ++k) Qt(i, k) = S(i == k ? 1.0 : 0.0);
  for (Index k = m; k-- > 0;)
    for (Index i = k; i < n; ++i)
      add_scaled(row(Qt, i) + k, -(beta[static_cast<std::size_t>(k)] * dot(row(A, k) + k, row(Qt, i) + k, n - k)), row(A, k) + k,
                 n - k);
  return Qt;
}

/// As written in eq. 4.3-4.7: Q1 is divided by A Q1, which must be regular, and Q2 made exactly free.
template <class S>
Answer<S> kim_vanderploeg(const Problem<S>& problem) {
  const Index n = problem.A.cols(), m = problem.A.rows();
  const MatrixOf<S> Qt = orthogonal_factor(problem.A);
  const MatrixOf<S> Q1t = Qt.topRows(m);
  MatrixOf<S> Q2t = Qt.bottomRows(n - m);
  const auto lu = Lu<S>::factor(times_transposed(Q1t, problem.A));  // (A Q1)'
  if (!lu) return {{}, Outcome::kFailed};
  MatrixOf<S> Q1(n, m);  // Q1 (A Q1)^-1, row by row
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < m; ++k) Q1(i, k) = Q1t(k, i);
    lu->solve(row(Q1, i));
  }
  for (Index k = 0; k < n - m; ++k) {
    VectorOf<S> direction(n);
    for (Index i = 0; i < n; ++i) direction(i) = Q2t(k, i);
    const VectorOf<S> wrong = times(Q1, times(problem.A, direction));
    for (Index i = 0; i < n; ++i) Q2t(k, i) -= wrong(i);
  }
  return in_null_space(problem, Q2t, times(Q1, problem.b));
}

template <class S>
Answer<S> solved(Method method, const Problem<S>& problem) {
  switch (method) {
    case Method::kLagrangeFull:
      return lagrange_full(problem);
    case Method::kLagrange:
      return lagrange(problem);
    case Method::kSinghLikins:
      return singh_likins(problem);
    case Method::kKimVanderploeg:
      return kim_vanderploeg(problem);
    case Method::kUdwadiaKalaba:
      return udwadia_kalaba(problem);
    case Method::kGramSchmidt:
      return gram_schmidt(problem);
  }
  return {{}, Outcome::kFailed};
}

}  // namespace linkwork::studies
