#pragma once

#include <string>
#include <utility>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork {

/// A state that a run came to, for another one to begin with.
struct StartState {
  std::string from;                                         // in words
  std::vector<std::pair<std::string, double>> values = {};  // of columns q., v. and z.

  bool is_given() const { return !values.empty(); }
};

/// "DIR" is the last row of the run in a folder, "DIR@t" that nearest to a time. Throws InputError.
StartState read_start_state(const std::string& text);

/// Sets positions and velocities of all joints, and those of the states that the other run has. Throws InputError, with names, if
/// its joints are others.
void begin_with(const StartState& start, Spec& spec);

}  // namespace linkwork
