#pragma once

#include <limits>

namespace linkwork {

/// What stands where a run has no number.
inline constexpr double kNoValue = std::numeric_limits<double>::quiet_NaN();

}  // namespace linkwork
