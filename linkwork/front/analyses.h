#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "linkwork/analysis/results.h"
#include "linkwork/front/mechanism.h"
#include "linkwork/front/run.h"

namespace linkwork {

/// Finds where a mechanism rests, near its start. Equilibrium::found says whether there is such a place.
Equilibrium equilibrium(const Mechanism& mechanism);
/// The linear model of small motions about a state: "start", "equilibrium", "steady" (a motion with the velocities of the start),
/// or a time of the motion, "0.5". Throws SimulationError if that state cannot be reached.
LinearModel linearize(const Mechanism& mechanism, const std::string& at = "start");
/// Natural vibrations about a state, as for linearize(), by ascending frequency; with a count, only so many of the lowest.
std::vector<Mode> modes(const Mechanism& mechanism, const std::string& at = "equilibrium", int count = 0);
/// The efforts that actuators (default: the driven joints) need for the motion of the drives, or for the motion in a file. Of the
/// options only `end` and `every` are used. Throws InputError if the actuators cannot make this motion.
InverseMotion inverse(const Mechanism& mechanism, const std::vector<std::string>& actuators = {},
                      const std::filesystem::path& motion = {}, const RunOptions& options = {},
                      const std::function<bool()>& go_on = {});

/// What sensitivities are asked for.
struct SensitivityRequest {
  std::vector<std::string> measures;     // "final(q.theta)", "tip=max(p.tip.x)", "min(...)", "integral(...)"
  std::vector<std::string> parameters;   // of the model file
  std::vector<std::string> starts = {};  // "q.theta", "v.theta": start values as the model gives them
  std::string method = "auto";           // "forward", "adjoint"; auto chooses by their numbers
};
/// How measures of a run change with parameters and start values. Throws InputError, or SimulationError if the run fails.
Sensitivities sensitivity(const Mechanism& mechanism, const SensitivityRequest& request, const RunOptions& options = {},
                          const std::function<bool()>& go_on = {});
Sensitivities sensitivity(const std::filesystem::path& file, const SensitivityRequest& request,
                          const Parameters& parameters = {});

}  // namespace linkwork
