#pragma once

#include <span>
#include <string>
#include <vector>

#include "linkwork/model/model.h"

namespace linkwork {

/// Names of the rows marked dependent.
std::vector<std::string> dependent_row_names(const Model& model, std::span<const char> dependent);
/// "rows cut.z, cut.rx add nothing to the others".
std::string describe_redundancy(const Model& model, std::span<const char> dependent);

}  // namespace linkwork
