#pragma once

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// Where the mechanism is. `work` is what forces without a potential, and drives, have done since the start: with it the
/// energy balance can be closed.
struct State {
  double t = 0.0;
  VecX<double> q;
  VecX<double> v;
  double work = 0.0;
  VecX<double> z;  // what a formulation integrates beside the motion; mostly empty
};

}  // namespace linkwork
