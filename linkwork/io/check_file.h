#pragma once

#include <string>

#include "linkwork/simulation/check.h"

namespace linkwork {

/// What a check found, for programs: one JSON object.
std::string check_json(const CheckReport& report, const Model& model);

}  // namespace linkwork
