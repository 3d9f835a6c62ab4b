#pragma once

#include <string>
#include <vector>

#include "linkwork/dynamics/state.h"
#include "linkwork/model/model.h"

namespace linkwork {

/// What assembling a consistent start changed.
struct AssemblyReport {
  struct Moved {
    std::string coordinate;  // "q.alpha", "v.alpha"
    double from, to;
  };
  std::vector<Moved> moved;  // the largest first; changes at rounding left out
  double position_error_before = 0.0;
  double velocity_error_before = 0.0;
};

/// Finds q and v that satisfy the constraints near what the user gave, by the smallest change in the mass metric; joints with
/// fixed = true keep their position, and their velocity if one is given. A good start is left as it is. Throws InputError naming
/// the closures that cannot be met.
State assemble(const Model& model, AssemblyReport& report);

/// "the start was off by 0.16; assembly moved q.D by 0.23 and 2 more".
std::string describe(const AssemblyReport& report);

}  // namespace linkwork
