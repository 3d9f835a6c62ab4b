#pragma once

#include <filesystem>

#include "linkwork/model/spec.h"

namespace linkwork {

/// Adds drives that move joints as recorded: columns t and q.<joint>, or q.<joint>.<component>, of comma-separated values, with
/// cubic splines between. Drives of the same joints are replaced. Unless `keep_end`, the run ends with the data. Throws
/// InputError with the place in the file.
void add_drives(Spec& spec, const std::filesystem::path& file, bool keep_end);

}  // namespace linkwork
