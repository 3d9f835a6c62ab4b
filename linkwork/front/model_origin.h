#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/import/robot_file.h"

namespace linkwork {

/// Where a model came from: with it the same model can be read again, with other parameters, or in another process.
struct ModelOrigin {
  std::filesystem::path file;           // of a text: what stands in messages, and beside which modules are looked for
  std::optional<std::string> text = {};  // that is not in a file
  std::vector<std::pair<std::string, std::string>> set = {};
  ImportOptions importing = {};
  std::filesystem::path folder = {};  // that the file's name starts from; empty: the process's own

  /// With a way to get the texts of files; null: from the disk.
  Spec read(std::function<std::string(const std::filesystem::path&)> load = nullptr) const;
};

}  // namespace linkwork
