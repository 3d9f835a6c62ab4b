#pragma once

#include <memory>
#include <vector>

#include "linkwork/model/spec.h"
#include "linkwork/modules/module.h"

namespace linkwork {

/// How many states one port of such a module carries.
inline constexpr int kStatesPerPort = 6;

/// States of the user's own that concern several modules. They move nothing, and their rates come from a coupling: a port of this
/// module shows six of them in place of its velocities, and is given their rates in place of forces. It answers to no force.
std::unique_ptr<Module> make_states_module(const std::vector<StateSpec>& states, const Settings& settings);

/// The name of that module.
inline constexpr const char* kStatesModule = "(states)";

}  // namespace linkwork
