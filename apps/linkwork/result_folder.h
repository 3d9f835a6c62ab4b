#pragma once

#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>

#include "linkwork/io/thinned_rows.h"
#include "linkwork/simulation/summary.h"

namespace linkwork::cli {

/// The folder of --out, or out/<name>, made if need be. Files of an earlier run that would not belong to the new results are
/// removed. Throws InputError if it cannot be made.
std::filesystem::path make_result_folder(const std::optional<std::string>& out, const std::string& name,
                                         std::initializer_list<const char*> outdated);

/// Writes report.html, if the program was built with the page; whether there is one now.
bool write_report_page(const std::filesystem::path& folder, const Summary& summary, std::string scene, ThinnedRows rows);

}  // namespace linkwork::cli
