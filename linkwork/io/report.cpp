#include "linkwork/io/report.h"

#include <fmt/format.h>

#include <cmath>
#include <stdexcept>
#include <system_error>

#include "linkwork/io/base64.h"
#include "linkwork/io/input_file.h"
#include "linkwork/io/json_text.h"
#include "linkwork/io/trajectory_format.h"
#include "linkwork/io/trajectory_reader.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

bool is_constant(const ThinnedRows& rows, std::size_t column) {
  if (column == 0 || rows.size() == 0) return false;
  const double first = rows.at(0, column);
  if (!std::isfinite(first)) return false;
  for (std::size_t row = 1; row < rows.size(); ++row)
    if (rows.at(row, column) != first) return false;
  return true;
}

/// Columns that never change, and their values.
Json constants(const ThinnedRows& rows) {
  Json all = Json::array();
  for (std::size_t column = 0; column < rows.columns(); ++column)
    if (is_constant(rows, column)) all.push_back({column, rows.at(0, column)});
  return all;
}

/// The other columns one after another; time always in full precision.
std::string encoded(const ThinnedRows& rows, ReportPrecision precision) {
  std::string text;
  text.reserve(rows.size() * rows.columns() * 11);
  Base64 base64(text);
  for (std::size_t column = 0; column < rows.columns(); ++column) {
    if (is_constant(rows, column)) continue;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      const double value = rows.at(row, column);
      if (column == 0 || precision == ReportPrecision::kFloat64)
        base64.add(value);
      else
        base64.add(static_cast<float>(value));
    }
  }
  base64.finish();
  return text;
}

std::string read_text(const fs::path& file) {
  constexpr std::size_t kLargest = 1U << 30U;
  const std::string expected = "a folder that 'linkwork run' has written its results into";
  std::error_code ignored;
  if (!fs::exists(file, ignored)) throw InputError({file.string(), 0, 0}, "cannot be read: it is not there", expected);
  return read_input_file(file, expected, kLargest);
}

Json parsed(const std::string& text, const std::string& what) {
  try {
    return parse_json(text);
  } catch (const std::invalid_argument& error) {
    throw InputError({what, 0, 0}, fmt::format("cannot be used: {}", error.what()), "the file as 'linkwork run' has written it");
  }
}

std::string label_of(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder).lexically_normal();
  return (whole.has_filename() ? whole.filename() : whole.parent_path().filename()).string();
}

}  // namespace

std::string report_html(std::string_view page, std::span<const ReportRun> runs, ReportPrecision precision, bool following,
                        std::string_view live) {
  Json json{{"format", 1}, {"following", following && live.empty()}, {"runs", Json::array()}};
  if (!live.empty()) json["live"] = parse_json(live);
  for (const ReportRun& run : runs)
    json["runs"].push_back({{"label", run.label},
                            {"scene", parsed(run.scene, run.label)},
                            {"summary", run.summary.empty() ? Json() : parsed(run.summary, run.label)},
                            {"rows", run.rows.size()},
                            {"all_rows", run.rows.all()},
                            {"stride", run.rows.stride()},
                            {"float64", precision == ReportPrecision::kFloat64},
                            {"constant", constants(run.rows)},
                            {"data", encoded(run.rows, precision)}});
  return page_html(page, json.dump(-1, ' ', false, Json::error_handler_t::replace), following);
}

ReportRun read_running(const fs::path& folder) {
  const std::string scene = read_text(folder / "scene.json");
  const std::string summary = fs::exists(folder / "summary.json") ? read_text(folder / "summary.json") : std::string();
  const Json json = parsed(scene, (folder / "scene.json").string());
  const bool names_them = json.is_object() && json.contains("columns") && json["columns"].is_array();
  const std::size_t columns = names_them ? json["columns"].size() : 0;
  if (columns == 0) throw InputError({(folder / "scene.json").string(), 0, 0}, "names no columns");
  return {label_of(folder), scene, summary, ThinnedRows(columns)};
}

ReportRun read_run(const fs::path& folder) {
  ReportRun run = read_running(folder);
  const fs::path file = find_trajectory(folder);
  read_trajectory(file, [&](std::span<const double> row) {
    if (row.size() != run.rows.columns())
      throw InputError({file.string(), 1, 0}, "has other columns than scene.json", "files of one run");
    run.rows.add(row);
  });
  return run;
}

}  // namespace linkwork
