#pragma once

#include "linkwork/model/spec.h"

namespace linkwork {

/// Throws InputError at the place of a method that is not known, or of times that would make more steps or rows than any computer
/// could want.
void check_settings(const Settings& settings);

}  // namespace linkwork
