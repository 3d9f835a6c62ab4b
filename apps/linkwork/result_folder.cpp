#include "apps/linkwork/result_folder.h"

#include <algorithm>
#include <system_error>

#include "linkwork/io/report.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

/// A model's name comes from the user, and must not lead out of the folder of results.
std::string as_folder_name(std::string name) {
  const auto is_bad = [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20; };
  std::replace_if(name.begin(), name.end(), is_bad, '_');
  return name.empty() || name == "." || name == ".." ? "model" : name;
}

}  // namespace

fs::path make_result_folder(const std::optional<std::string>& out, const std::string& name,
                            std::initializer_list<const char*> outdated) {
  if (out && out->empty()) throw InputError({"--out", 0, 0}, "the name is empty", "a folder");
  fs::path folder = out ? fs::path(*out) : fs::path("out") / as_folder_name(name);
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (error)
    throw InputError({folder.string(), 0, 0}, "cannot be made: " + error.message(), "a folder that can be written to (--out)");
  for (const char* file : outdated) fs::remove(folder / file, error);
  return folder;
}

bool write_report_page(const fs::path& folder, const Summary& summary, std::string scene, ThinnedRows rows) {
  if (report_template().empty()) return false;
  const ReportRun run{summary.model, std::move(scene), summary_json(summary), std::move(rows)};
  write_text_file(folder / "report.html", report_html(report_template(), {&run, 1}));
  return true;
}

}  // namespace linkwork::cli
