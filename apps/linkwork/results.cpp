#include "apps/linkwork/results.h"

#include <fmt/format.h>

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

namespace linkwork::cli {

namespace fs = std::filesystem;

Results::Results(const RunOptions& options, const Spec& spec, std::shared_ptr<const Model> model,
                 const std::vector<std::string>& columns, std::optional<CheckpointPlan> checkpoints, const Checkpoint* from)
    : options_(options),
      model_(std::move(model)),
      columns_(columns.size()),
      folder_(from != nullptr ? ResultFolder(fs::path(options.out.value())) : ResultFolder(options.out, model_->name)),
      checkpoints_(std::move(checkpoints)),
      trajectory_(open_trajectory(columns, from)),
      scene_(scene_json(spec, *model_, columns)),
      rows_(columns.size()),
      progress_(options.quiet) {
  folder_.remove({"summary.json", "report.html"});
  write_text_file(folder_ / "scene.json", scene_);
  if (from != nullptr) read_trajectory(folder_ / "trajectory.csv", [&](std::span<const double> row) { rows_.add(row); });
  if (checkpoints_) checkpoints_->contents.request.out = fs::absolute(folder_.path()).lexically_normal().string();
  if (const std::optional<double> pace = options.pace()) pacing_.emplace(*pace);
}

/// An older checkpoint would not fit the new file.
TrajectoryFile Results::open_trajectory(const std::vector<std::string>& columns, const Checkpoint* from) const {
  const fs::path file = folder_ / "trajectory.csv";
  if (checkpoints_) check_checkpoints();
  if (from != nullptr) return {file, columns, TrajectoryFile::Extent{from->rows, from->bytes, from->checked}};
  if (checkpoints_) remove_durable_file(checkpoints_->file);
  return {file, columns};
}

/// They must replace nothing but older ones.
void Results::check_checkpoints() const {
  const fs::path& file = checkpoints_->file;
  check_checkpoint_target(file);
  for (const fs::path& ours : {file, part_of(file)})
    for (const char* const result : {"trajectory.csv", "scene.json", "summary.json", "report.html"})
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

int Results::finish(Summary summary) {
  progress_.finish();
  if (pacing_) summary.realtime = pacing_->summary();
  if (options_.settings.tolerates_in_vain(*model_))
    summary.notes.emplace_back("--rtol and --atol have no effect with an integrator of fixed steps");
  trajectory_.close();
  write_summary_file(folder_ / "summary.json", summary);
  const bool reported = !options_.no_report && write_report_page(folder_.path(), summary, std::move(scene_), std::move(rows_));
  if (!options_.quiet) {
    print_run(*model_, summary, {folder_.path(), trajectory_.rows(), columns_, reported});
    if (!reported && !options_.no_report) print_line("", "no report.html: this program was built without the report page");
  }
  if (summary.completed) return kDone;
  return tell_failure(summary, folder_.path(), checkpoints_ ? checkpoints_->file : fs::path());
}

}  // namespace linkwork::cli
