#pragma once

#include <filesystem>
#include <string>

#include "linkwork/simulation/summary.h"

namespace linkwork {

/// The summary of a run as a JSON object; numbers that are not finite become null.
std::string summary_json(const Summary& summary);

/// Writes it. Throws InputError if the file cannot be opened, std::system_error when the disk does not take it.
void write_summary_file(const std::filesystem::path& file, const Summary& summary);

}  // namespace linkwork
