#pragma once

#include <filesystem>
#include <vector>

#include "linkwork/analysis/results.h"
#include "linkwork/model/model.h"

namespace linkwork::cli {

/// modes.html: the report page, which moves each mode around the state that they were found at. False: this program was built
/// without the pages.
bool write_modes_page(const std::filesystem::path& file, const Spec& spec, const Model& model, const LinearModel& linear,
                      const std::vector<Mode>& modes);

}  // namespace linkwork::cli
