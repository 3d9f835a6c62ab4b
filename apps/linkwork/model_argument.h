#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/import/robot_file.h"
#include "linkwork/model/spec.h"

namespace linkwork::cli {

/// The model on the command line, with --set, and with what robot files are read by.
struct ModelArgument {
  std::string model;
  std::vector<std::string> set;
  std::vector<std::string> packages;
  std::string loops;
  bool fixed_base = false;

  void add_to(CLI::App& options);
  void add_import_options(CLI::App& options);
  /// Reads the file of that name, or else the ready model of that name.
  Spec read() const;
  /// The file of that name, or else the ready model of that name.
  std::filesystem::path path() const;
  /// The same, wherever the program is started from.
  std::filesystem::path file() const;
  ImportOptions import_options() const;
  /// What was said of robot files, as options; and the same again.
  std::vector<std::string> import_texts() const;
  void set_import_texts(const std::vector<std::string>& texts);
  /// Reads it with another way to get the texts of files.
  Spec read(const std::filesystem::path& from, std::function<std::string(const std::filesystem::path&)> load) const;
};

/// --no-fmu, of every command that runs models.
void add_fmu_option(CLI::App& options);

/// "name=value" of --set. Throws InputError.
std::pair<std::string, std::string> parse_assignment(const std::string& text);

/// A model that comes with the program.
struct ReadyModel {
  std::string name;
  std::filesystem::path file;
};

/// Where they are: beside an installed program, or in the source tree it was built from. Empty if in neither.
std::filesystem::path ready_model_folder();
/// For those who are not the program: another folder.
void set_ready_model_folder(const std::filesystem::path& folder);
/// Sorted by name.
std::vector<ReadyModel> ready_models();

}  // namespace linkwork::cli
