#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/settings_options.h"
#include "linkwork/ensemble/ensemble_model.h"

namespace linkwork::cli {

/// What commands that run a model many times have in common.
struct EnsembleOptions {
  ModelArgument argument;
  SettingsOptions settings;
  std::optional<std::string> out;
  bool quiet = false;

  void add_to(CLI::App& app, const char* command);
  EnsembleModel model() const;
  /// Of this process: all processors if it works alone.
  int threads() const;
  /// All that makes a difference to a run, but for the files of the model.
  std::string text() const;
  /// What runs the model once: a line for shells.
  std::string command() const;
};

/// 0 or more. Throws InputError.
long whole_number(const std::string& text, const char* option);

}  // namespace linkwork::cli
