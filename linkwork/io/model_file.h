#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork {

struct Document;

struct ReadOptions {
  /// --set name=value: parameters of the model and their new values, which may be expressions of the other parameters.
  std::vector<std::pair<std::string, std::string>> set = {};
  /// Gives the text of a file, or throws InputError. Null: read_text_file.
  std::function<std::string(const std::filesystem::path&)> load = nullptr;
  /// Of closures, forces and sensors.
  std::shared_ptr<const Kinds> kinds = standard_kinds();
  /// The most tables a model may have in all, repeated ones and those of modules counted each time.
  std::size_t most_tables = 1'000'000;

  /// Whether there is such a file to be loaded.
  bool is_there(const std::filesystem::path& file) const;
};

/// Reads a model file and the files of its modules, which become part of the one Spec with "<module>." before their names.
/// Throws InputError with the place of the first thing that is wrong.
Spec read_model_file(const std::filesystem::path& file, const ReadOptions& options = {});

/// The same for a text; `file_name` stands in messages, names the model if it has no name, and modules are looked for beside it.
Spec read_model_text(std::string_view text, const std::string& file_name, const ReadOptions& options = {});

/// The same for a document, however it was made. source_text is left empty.
Spec read_model_document(const Document& document, const ReadOptions& options = {});

/// The contents of a file; throws InputError if it cannot be read or is larger than any model file.
std::string read_text_file(const std::filesystem::path& file);

}  // namespace linkwork
