#pragma once

#include <optional>
#include <string>

#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/settings_options.h"
#include "linkwork/io/checkpoint_file.h"
#include "linkwork/transport/transport.h"

namespace linkwork::cli {

/// What the commands 'run' and 'resume' are told.
struct RunOptions {
  using Text = std::optional<std::string>;

  ModelArgument model;
  SettingsOptions settings;
  Text out;
  bool no_report = false;
  bool quiet = false;
  Text checkpoint, checkpoint_every;
  Text realtime;  // empty: without a factor
  Text start_from, start_at;
  Text rank_timeout;

  /// Throws InputError unless it is a positive number; nothing if it was not asked for.
  std::optional<double> pace() const;
};

/// Adds the options that both commands have.
void add_common_options(CLI::App& app, RunOptions& options);

/// Runs a model from its start; or, on every rank alike, from a checkpoint, whose file and interval are then the options'.
int perform_run(const RunOptions& options, const Checkpoint* from, Transport& world);

}  // namespace linkwork::cli
