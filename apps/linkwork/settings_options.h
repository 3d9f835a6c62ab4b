#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/io/trajectory_format.h"
#include "linkwork/model/model.h"

namespace linkwork::cli {

/// The settings of a model file that the command line can override. Texts as given.
struct SettingsOptions {
  using Text = std::optional<std::string>;
  Text end, step, max_step, rtol, atol, every;
  Text coordinates, formulation, stabilization, integrator, glue;
  Text columns, format;
  Text threads;

  void add_to(CLI::App& options);
  /// Throws InputError that names the option and what it takes. Checks what the model file chose, too.
  void apply_to(Settings& settings) const;
  /// Throws InputError unless it is a number of threads.
  int thread_count() const;
  /// Of the trajectory. Throws InputError unless it is one.
  TrajectoryFormat trajectory_format() const;
  /// Whether tolerances are given to an integrator that has no use for them.
  bool tolerates_in_vain(const Model& model) const;

  /// What was given, by option, but for --threads, which makes no difference to the results; and the same back.
  std::vector<std::pair<std::string, std::string>> texts() const;
  void set_texts(const std::vector<std::pair<std::string, std::string>>& texts);

 private:
  template <class Visit>
  void for_each_text(Visit visit);
};

}  // namespace linkwork::cli
