#pragma once

#include <cstddef>
#include <filesystem>

#include "linkwork/model/model.h"
#include "linkwork/simulation/summary.h"

namespace linkwork::cli {

/// Where a run's results went.
struct ResultFiles {
  std::filesystem::path folder;
  const char* trajectory = "trajectory.csv";
  long rows = 0;
  std::size_t columns = 0;
  bool has_report = false;
};

/// Where they went, on stdout.
void print_results(const ResultFiles& files);

/// The account of a run for a person, on stdout.
void print_run(const Model& model, const Summary& summary, const ResultFiles& files);

/// Why a run did not get to its end, on stderr, and how to go on with it if it was interrupted and has a checkpoint. Returns the
/// exit code.
int tell_failure(const Summary& summary, const std::filesystem::path& folder, const std::filesystem::path& checkpoint);

}  // namespace linkwork::cli
