#pragma once

#include <string>

#include "linkwork/simulation/comparison.h"

namespace linkwork {

/// A row a run, RFC 4180; numbers that are not known are left empty.
std::string comparison_csv(const Comparison& comparison);

/// The whole comparison as a JSON object; numbers that are not known are null.
std::string comparison_json(const Comparison& comparison);

}  // namespace linkwork
