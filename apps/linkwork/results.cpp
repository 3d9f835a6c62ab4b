#include "apps/linkwork/results.h"

#include <fmt/format.h>

#include <set>
#include <string_view>
#include <unordered_map>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/run_report.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/io/durable_file.h"
#include "linkwork/io/page.h"
#include "linkwork/io/scene.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/io/trajectory_reader.h"
#include "linkwork/model/input_error.h"
#include "linkwork/simulation/moving_system.h"
#include "linkwork/simulation/recorder.h"

namespace linkwork::cli {

namespace fs = std::filesystem;

namespace {

constexpr std::initializer_list<const char*> kOutdated{"summary.json", "report.html", "trajectory.h5", "trajectory.mat"};

/// The columns of a report: those that are written and, as the whole rows of this run are seen from the first, all positions.
std::vector<std::size_t> columns_of_report(const std::vector<std::string>& written, const std::vector<std::string>& all,
                                           bool from_start) {
  const std::set<std::string_view> chosen(written.begin(), written.end());
  std::vector<std::size_t> reported;
  for (std::size_t c = 0; c < all.size(); ++c)
    if (chosen.contains(all[c]) || (from_start && group_of(all[c]) == ColumnGroup::kPositions)) reported.push_back(c);
  return reported;
}

}  // namespace

Results::Results(const RunOptions& options, const Spec& spec, std::shared_ptr<const Model> model, Simulation& simulation,
                 std::optional<CheckpointPlan> checkpoints, const Checkpoint* from)
    : options_(options),
      model_(std::move(model)),
      columns_(simulation.columns()),
      format_(options.settings.trajectory_format()),
      folder_(from != nullptr ? ResultFolder(fs::path(options.out.value())) : ResultFolder(options.out, model_->name)),
      checkpoints_(std::move(checkpoints)),
      trajectory_(open_trajectory(columns_, from)),
      reported_(options.no_report ? std::vector<std::size_t>()
                                  : columns_of_report(columns_, simulation.system().columns(), from == nullptr)),
      rows_(reported_.size()),
      progress_(options.quiet) {
  folder_.remove(kOutdated);
  const SceneMeshes meshes(spec);
  mesh_notes_ = meshes.notes();
  write_text_file(folder_ / "scene.json", scene_json(spec, *model_, columns_, meshes));
  if (!options_.no_report) {
    std::vector<std::string> reported;
    for (const std::size_t c : reported_) reported.push_back(simulation.system().columns()[c]);
    scene_ = scene_json(spec, *model_, reported, meshes);
    if (from != nullptr) read_trajectory(folder_ / "trajectory.csv", [&](std::span<const double> row) { rows_.add(row); });
  }
  if (checkpoints_) checkpoints_->contents.request.out = fs::absolute(folder_.path()).lexically_normal().string();
  if (const std::optional<double> pace = options.pace()) pacing_.emplace(*pace);
}

void Results::keep_for_report(std::span<const double> row) {
  report_row_.clear();
  for (const std::size_t c : reported_) report_row_.push_back(row[c]);
  rows_.add(report_row_);
}

/// An older checkpoint would not fit the new file.
TrajectoryFile Results::open_trajectory(const std::vector<std::string>& columns, const Checkpoint* from) const {
  const fs::path file = folder_ / "trajectory.csv";
  if (checkpoints_) check_checkpoints();
  check_trajectory_size(format_, column_infos({}), model_->settings.end / model_->settings.output_every + 1.0);
  if (from != nullptr) return {file, columns, TrajectoryFile::Extent{from->rows, from->bytes, from->checked}};
  if (checkpoints_) remove_durable_file(checkpoints_->file);
  return {file, columns};
}

/// They must replace nothing but older ones.
void Results::check_checkpoints() const {
  const fs::path& file = checkpoints_->file;
  check_checkpoint_target(file);
  for (const fs::path& ours : {file, part_of(file)})
    for (const char* const result :
         {"trajectory.csv", "trajectory.h5", "trajectory.mat", "scene.json", "summary.json", "report.html"})
      if (fs::weakly_canonical(ours) == fs::weakly_canonical(folder_ / result))
        throw InputError({"--checkpoint", 0, 0}, fmt::format("'{}' is a file of the results", ours.string()), "another file");
  check_durable_file(file);
}

void Results::save(const SavedRun& run) {
  Checkpoint& contents = checkpoints_->contents;
  const TrajectoryFile::Extent& written = trajectory_.sync();
  contents.rows = written.rows;
  contents.bytes = written.bytes;
  contents.checked = written.checked;
  contents.run = run;
  write_durable_file(checkpoints_->file, checkpoint_text(contents));
}

std::vector<ColumnInfo> Results::column_infos(const Summary& summary) const {
  const Recorder recorder(*model_);
  std::unordered_map<std::string, std::string> units;
  for (std::size_t c = 0; c < recorder.columns().size(); ++c) units[recorder.columns()[c]] = recorder.units()[c];
  const std::set<std::string> not_unique(summary.not_unique.begin(), summary.not_unique.end());
  std::vector<ColumnInfo> infos;
  for (const std::string& column : columns_) infos.push_back({{column, units[column]}, !not_unique.contains(column)});
  return infos;
}

int Results::finish(Summary summary) {
  progress_.finish();
  if (pacing_) summary.realtime = pacing_->summary();
  if (options_.settings.tolerates_in_vain(*model_))
    summary.notes.emplace_back("--rtol and --atol have no effect with an integrator of fixed steps");
  summary.notes.insert(summary.notes.end(), mesh_notes_.begin(), mesh_notes_.end());
  trajectory_.close();
  const bool may_go_on = checkpoints_ && !summary.completed;
  convert_trajectory(folder_ / "trajectory.csv", format_, column_infos(summary), may_go_on);
  write_summary_file(folder_ / "summary.json", summary);
  const bool reported = !options_.no_report && write_report_page(folder_.path(), summary, std::move(scene_), std::move(rows_));
  if (!options_.quiet) {
    print_run(*model_, summary, {folder_.path(), trajectory_file_name(format_), trajectory_.rows(), columns_.size(), reported});
    if (!reported && !options_.no_report) print_line("", "no report.html: this program was built without the report page");
  }
  if (summary.completed) return kDone;
  return tell_failure(summary, folder_.path(), checkpoints_ ? checkpoints_->file : fs::path());
}

}  // namespace linkwork::cli
