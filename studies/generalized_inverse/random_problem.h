#pragma once

#include <cstdint>
#include <random>

#include "studies/generalized_inverse/methods.h"

namespace linkwork::studies {

/// Problems with random, well-conditioned M and A.
class RandomProblems {
 public:
  explicit RandomProblems(std::uint32_t seed) : engine_(seed) {}

  double number() { return std::uniform_real_distribution<double>(-1.0, 1.0)(engine_); }
  Problem<double> make(Index n, Index m, bool diagonal = false);

 private:
  std::mt19937 engine_;
};

/// The same numbers in another scalar.
template <class S>
Problem<S> converted(const Problem<double>& problem) {
  const auto as = [](double value) { return S(value); };
  return {problem.M.unaryExpr(as), problem.A.unaryExpr(as), problem.f.unaryExpr(as), problem.b.unaryExpr(as), problem.diagonal};
}

}  // namespace linkwork::studies
