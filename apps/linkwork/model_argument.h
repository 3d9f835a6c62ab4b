#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork::cli {

/// The model on the command line, with --set.
struct ModelArgument {
  std::string model;
  std::vector<std::string> set;

  void add_to(CLI::App& options);
  /// Reads the file of that name, or else the ready model of that name.
  Spec read() const;
  /// The file of that name, or else the ready model of that name.
  std::filesystem::path path() const;
  /// The same, wherever the program is started from.
  std::filesystem::path file() const;
  /// Reads it with another way to get the texts of files.
  Spec read(const std::filesystem::path& from, std::function<std::string(const std::filesystem::path&)> load) const;
};

/// A model that comes with the program.
struct ReadyModel {
  std::string name;
  std::filesystem::path file;
};

/// Where they are: beside an installed program, or in the source tree it was built from. Empty if in neither.
std::filesystem::path ready_model_folder();
/// Sorted by name.
std::vector<ReadyModel> ready_models();

}  // namespace linkwork::cli
