#pragma once

#include <functional>
#include <string>
#include <vector>

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// A function on [0, 1]^n; `gradient`, if not null, is filled. It may throw.
using Objective = std::function<double(const VecX<double>& x, VecX<double>* gradient)>;

struct MinimizerOptions {
  double tolerance = 1e-6;  // of x
  int evaluations = 500;
  std::function<bool()> go_on = {};  // asked before each evaluation
};

enum class Minimizer {
  kGradient,  // SLSQP [Kraft1994]
  kBobyqa,    // quadratic models without derivatives [Powell2009]; for one variable COBYLA [Powell1994]
  kDirect,    // DIRECT-L [Gablonsky2001]: the whole of [0, 1]^n is searched
};

/// Moves x to where the function is least. Whether it converged; else evaluations are used up, or it was stopped. What the
/// function throws is thrown here.
bool minimize(Minimizer method, const Objective& objective, VecX<double>& x, const MinimizerOptions& options);

}  // namespace linkwork
