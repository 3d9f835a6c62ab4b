#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace linkwork {

// The pages (web/), each with a mark where its data go. Empty if the program was built without them (LINKWORK_WEB=OFF).
std::string_view report_template();
std::string_view study_template();
std::string_view compare_template();
std::string_view ensemble_template();

/// The page with its data, one self-contained HTML file. Following: it may ask the server it came from for more.
std::string page_html(std::string_view page, const std::string& json, bool following = false);

/// Replaces the file. Throws InputError if it cannot be opened, std::system_error when the disk does not take it.
void write_text_file(const std::filesystem::path& file, std::string_view text);

}  // namespace linkwork
