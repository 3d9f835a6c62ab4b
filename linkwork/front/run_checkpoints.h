#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "linkwork/front/run.h"
#include "linkwork/io/checkpoint_file.h"
#include "linkwork/io/trajectory_file.h"

namespace linkwork {

/// A run that is saved as it goes, with the rows it has written so far: 'linkwork resume' goes on with it.
class RunCheckpoints {
 public:
  /// Throws InputError if the file cannot be one, or if a part of the mechanism is a program's.
  RunCheckpoints(const Mechanism& mechanism, const RunOptions& options, const StartState& start, const Spec& spec,
                 const std::vector<std::string>& columns);

  double every() const { return contents_.request.every; }
  void write(std::span<const double> row) { trajectory_->write(row); }
  void save(const SavedRun& run);
  void close() { trajectory_->close(); }

 private:
  std::filesystem::path file_;
  Checkpoint contents_;
  std::optional<TrajectoryFile> trajectory_;
};

}  // namespace linkwork
