#pragma once

#include <string>

#include "linkwork/analysis/results.h"

namespace linkwork {

// The results of analyses as JSON, for equilibrium.json, linearization.json, modes.json, inverse.json and sensitivity.json.

std::string equilibrium_json(const Equilibrium& equilibrium);
std::string linearization_json(const LinearModel& linear);
std::string modes_json(const std::vector<Mode>& modes);
std::string inverse_json(const InverseMotion& inverse);
std::string sensitivity_json(const Sensitivities& sensitivities);

}  // namespace linkwork
