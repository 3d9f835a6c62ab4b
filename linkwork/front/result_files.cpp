#include <set>
#include <unordered_map>

#include "linkwork/front/results_source.h"
#include "linkwork/io/report.h"
#include "linkwork/io/scene.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/io/trajectory_file.h"
#include "linkwork/io/trajectory_format.h"
#include "linkwork/simulation/recorder.h"

namespace linkwork {

namespace {

namespace fs = std::filesystem;

std::vector<ColumnInfo> column_infos(const Results& results) {
  const Recorder recorder(*results.source->model);
  std::unordered_map<std::string, std::string> units;
  for (std::size_t c = 0; c < recorder.columns().size(); ++c) units[recorder.columns()[c]] = recorder.units()[c];
  const std::set<std::string> not_unique(results.summary.not_unique.begin(), results.summary.not_unique.end());
  std::vector<ColumnInfo> infos;
  for (const std::string& column : results.columns) infos.push_back({{column, units[column]}, !not_unique.contains(column)});
  return infos;
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (!error && !fs::is_directory(folder)) error = std::make_error_code(std::errc::not_a_directory);
  if (error || folder.empty())
    throw InputError({folder.string(), 0, 0}, "cannot be made: " + error.message(), "a folder that can be written to");
}

}  // namespace

void Results::Source::begin_drawing(const std::vector<std::string>& chosen, const std::vector<std::string>& all) {
  const std::set<std::string_view> has(chosen.begin(), chosen.end());
  bool more = false;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const bool drawn_too = !has.contains(all[c]) && group_of(all[c]) == ColumnGroup::kPositions;
    more = more || drawn_too;
    if (has.contains(all[c]) || drawn_too) places_.push_back(c), drawn_columns.push_back(all[c]);
  }
  if (more)
    drawn.emplace(drawn_columns.size());
  else
    places_.clear(), drawn_columns.clear();
}

void Results::Source::draw(std::span<const double> whole_row) {
  row_.clear();
  for (const std::size_t c : places_) row_.push_back(whole_row[c]);
  drawn->add(row_);
}

std::string Results::report() const {
  if (report_template().empty()) return {};
  const std::vector<std::string>& shown = source->drawn ? source->drawn_columns : columns;
  ReportRun run{summary.model, scene_json(source->spec, *source->model, shown), summary_json(summary),
                source->drawn ? *source->drawn : ThinnedRows(columns.size())};
  for (std::size_t i = 0; !source->drawn && i < rows(); ++i) run.rows.add(row(i));
  return report_html(report_template(), {&run, 1});
}

void Results::save(const fs::path& folder, const std::string& format, bool with_report) const {
  const TrajectoryFormat as = parse_trajectory_format(format, {"format", 0, 0});
  const std::vector<ColumnInfo> infos = column_infos(*this);
  check_trajectory_size(as, infos, static_cast<double>(rows()));
  make_folder(folder);
  for (const char* const outdated : {"summary.json", "report.html", "trajectory.h5", "trajectory.mat"})
    fs::remove(folder / outdated);
  TrajectoryFile trajectory(folder / "trajectory.csv", columns);
  for (std::size_t i = 0; i < rows(); ++i) trajectory.write(row(i));
  trajectory.close();
  convert_trajectory(folder / "trajectory.csv", as, infos, false);
  write_text_file(folder / "scene.json", scene_json(source->spec, *source->model, columns));
  write_summary_file(folder / "summary.json", summary);
  if (const std::string page = with_report ? report() : ""; !page.empty()) write_text_file(folder / "report.html", page);
}

}  // namespace linkwork
