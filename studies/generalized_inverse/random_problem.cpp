#include "studies/generalized_inverse/random_problem.h"

namespace linkwork::studies {

Problem<double> RandomProblems::make(Index n, Index m, bool diagonal) {
  Problem<double> problem;
  problem.diagonal = diagonal;
  const auto draw = [&] { return number(); };
  const MatrixOf<double> R = MatrixOf<double>::NullaryExpr(n, n, draw);
  problem.M = diagonal ? MatrixOf<double>(R.diagonal().cwiseAbs().asDiagonal()) : MatrixOf<double>(R * R.transpose() / double(n));
  problem.M.diagonal().array() += 0.5;
  problem.A = MatrixOf<double>::NullaryExpr(m, n, draw);
  problem.f = VectorOf<double>::NullaryExpr(n, draw);
  problem.b = VectorOf<double>::NullaryExpr(m, draw);
  return problem;
}

}  // namespace linkwork::studies
