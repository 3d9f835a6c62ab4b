#pragma once

#include <string>

#include "linkwork/analysis/equilibrium.h"
#include "linkwork/analysis/inverse_dynamics.h"
#include "linkwork/analysis/linear_model.h"

namespace linkwork {

// The results of analyses as JSON, for equilibrium.json, linearization.json, modes.json and inverse.json.

/// `motion` is at the place that was found.
std::string equilibrium_json(const Equilibrium& equilibrium, ReducedMotion& motion);
std::string linearization_json(const LinearModel& linear);
std::string modes_json(const std::vector<Mode>& modes);
std::string inverse_json(const InverseMotion& inverse);

}  // namespace linkwork
