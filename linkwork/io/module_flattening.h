#pragma once

#include <string>

#include "linkwork/model/spec.h"

namespace linkwork {

/// Puts "left." before every name in the spec and wherever these names are used, expressions included.
void prefix_names(Spec& spec, const std::string& prefix);

/// Moves the contents of `part` behind those of `whole`.
void append(Spec& whole, Spec&& part);

}  // namespace linkwork
