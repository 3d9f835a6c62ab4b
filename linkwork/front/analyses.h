#pragma once

#include <string>
#include <vector>

#include "linkwork/analysis/results.h"
#include "linkwork/front/mechanism.h"
#include "linkwork/front/run.h"

namespace linkwork {

/// Where it rests, near its start; see Equilibrium::found.
Equilibrium equilibrium(const Mechanism& mechanism);
/// Small motions about "start", "equilibrium" or a time of its motion, "0.5". Throws SimulationError if it cannot be reached.
LinearModel linearize(const Mechanism& mechanism, const std::string& at = "start");
std::vector<Mode> modes(const Mechanism& mechanism, const std::string& at = "equilibrium");
/// The efforts of actuators (empty: the driven joints) along the motion of the drives; with a file, of the motion in it. Of the
/// options `end` and `every` count. Throws InputError if they cannot drive it.
InverseMotion inverse(const Mechanism& mechanism, const std::vector<std::string>& actuators = {},
                      const std::filesystem::path& motion = {}, const RunOptions& options = {},
                      const std::function<bool()>& go_on = {});

}  // namespace linkwork
