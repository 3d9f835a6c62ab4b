#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/linkwork/interruption.h"
#include "apps/linkwork/progress.h"
#include "apps/linkwork/result_folder.h"
#include "apps/linkwork/run_options.h"
#include "linkwork/io/checkpoint_file.h"
#include "linkwork/io/thinned_rows.h"
#include "linkwork/io/trajectory_file.h"
#include "linkwork/model/model.h"
#include "linkwork/simulation/pacing.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork::cli {

/// How to go on with a run: where its checkpoints go, and all they say but the run itself.
struct CheckpointPlan {
  std::filesystem::path file;
  Checkpoint contents;
};

/// The files of a run, and what goes into them.
class Results {
 public:
  /// Begins them, or goes on with those of an interrupted run. Throws InputError before anything of an earlier run is touched.
  Results(const RunOptions& options, const Spec& spec, std::shared_ptr<const Model> model, Simulation& simulation,
          std::optional<CheckpointPlan> checkpoints, const Checkpoint* from);

  void write(std::span<const double> row) { trajectory_.write(row); }
  /// The same row with all that the run computes: the report draws positions, written or not.
  void keep_for_report(std::span<const double> row);
  /// After every step: shows how far it is, and waits if the run is to keep pace with the clock.
  void show(double t, double end) {
    progress_.show(t, end);
    if (pacing_) pacing_->wait(t, [] { return !interrupted(); });
  }
  /// The run begins, at time t.
  void start(double t) {
    if (pacing_) pacing_->start(t);
  }

  /// What was written so far reaches the disk, then the checkpoint does.
  void save(const SavedRun& run);

  /// Writes what is left to write, and tells how it went.
  int finish(Summary summary);

 private:
  TrajectoryFile open_trajectory(const std::vector<std::string>& columns, const Checkpoint* from) const;
  void check_checkpoints() const;
  std::vector<ColumnInfo> column_infos(const Summary& summary) const;

  const RunOptions& options_;
  std::shared_ptr<const Model> model_;
  const std::vector<std::string> columns_;
  const TrajectoryFormat format_;
  ResultFolder folder_;
  std::optional<CheckpointPlan> checkpoints_;
  TrajectoryFile trajectory_;
  std::vector<std::size_t> reported_;  // columns of the whole row
  std::string scene_;                  // of the report
  std::vector<std::string> mesh_notes_;
  ThinnedRows rows_;
  std::vector<double> report_row_;
  Progress progress_;
  std::optional<Pacing> pacing_;
};

}  // namespace linkwork::cli
