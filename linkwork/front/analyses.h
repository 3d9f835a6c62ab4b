#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "linkwork/analysis/results.h"
#include "linkwork/front/mechanism.h"
#include "linkwork/front/run.h"

namespace linkwork {

/// Where it rests, near its start; see Equilibrium::found.
Equilibrium equilibrium(const Mechanism& mechanism);
/// Small motions about "start", "equilibrium", a "steady" motion with the velocities of the start, or a time of its motion,
/// "0.5". Throws SimulationError if it cannot be reached.
LinearModel linearize(const Mechanism& mechanism, const std::string& at = "start");
/// With a count, the lowest so many.
std::vector<Mode> modes(const Mechanism& mechanism, const std::string& at = "equilibrium", int count = 0);
/// The efforts of actuators (empty: the driven joints) along the motion of the drives; with a file, of the motion in it. Of the
/// options `end` and `every` count. Throws InputError if they cannot drive it.
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
