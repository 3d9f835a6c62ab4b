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
    bool given;  // the user gave the value, else it is a default
  };
  std::vector<Moved> moved;  // given ones first, then the largest; changes at rounding left out
  double position_error_before = 0.0;
  double velocity_error_before = 0.0;
};

/// Finds q and v that satisfy the constraints near what the user gave. Joints outside all loops stay as they are; joints with
/// fixed = true keep their position, and their velocity if one is given. What was given, also of joints that are cut, stays as it
/// is if moving the others is enough, and is moved little if it is not. Joints with springs are moved only if those without are
/// not enough. Where loops could be closed within the limits of joints, they are. A good start is left as it is. Throws
/// InputError naming the closures that cannot be met.
State assemble(const Model& model, AssemblyReport& report);

/// "the start was off by 0.16; assembly moved q.D by 0.23 and 2 more"; of what was given it says both values.
std::string describe(const AssemblyReport& report);

}  // namespace linkwork
