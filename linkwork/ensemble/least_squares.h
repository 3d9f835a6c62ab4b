#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// Residuals at several points at once, each of which may have none: it cannot be computed there.
using Residuals = std::function<std::vector<std::optional<VecX<double>>>(const std::vector<VecX<double>>& points)>;

struct LeastSquaresOptions {
  double tolerance = 1e-8;  // of x
  int iterations = 100;
  /// Told after each iteration; false ends it.
  std::function<bool(const VecX<double>& x, double cost)> go_on = {};
};

struct LeastSquares {
  enum class End { kConverged, kIterations, kStopped, kNoStart, kNoDerivatives };
  End end = End::kConverged;
  int iterations = 0;
  VecX<double> x;
  VecX<double> residuals;
  MatX<double> jacobian;  // there
  std::vector<char> at_bound;
  double cost() const { return residuals.squaredNorm(); }
};

/// The x in [0, 1]^n with the least sum of squared residuals, near `start`: the method of Levenberg and Marquardt, with the
/// damping of [Nielsen1999]; variables at a bound that would leave it stay there. Derivatives are differences of second order,
/// whose points are asked for together.
LeastSquares least_squares(const Residuals& residuals, const VecX<double>& start, const LeastSquaresOptions& options = {});

}  // namespace linkwork
