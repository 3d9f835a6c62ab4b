#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "linkwork/io/model_file.h"
#include "linkwork/io/toml_value.h"
#include "linkwork/model/spec.h"

namespace linkwork {

/// How the files of other programs are read.
struct ImportOptions {
  /// A YAML file with loops of a URDF; without it robot.yaml beside the file, if it is there.
  std::optional<std::filesystem::path> loops = {};
  /// Holds the root where the file would let it float.
  bool fixed_base = false;
  /// Folders of "package://name/..." and "model://name/...".
  std::map<std::string, std::filesystem::path> packages = {};
};

/// Whether a file is a robot description of another program, by the end of its name: .urdf, .sdf, .xml (MJCF, or what its root
/// says).
bool is_robot_file(const std::filesystem::path& file);

/// Reads a URDF, SDF or MJCF file. Everything in the Spec has the place of its XML element; Spec::notes lists what was not taken
/// over and what is doubtful. Throws InputError with the place of the first thing that is wrong. Of the ReadOptions `load`
/// counts: parameters such files do not have.
Spec read_robot_file(const std::filesystem::path& file, const ImportOptions& options = {}, const ReadOptions& reading = {});
Spec read_robot_text(std::string_view text, const std::string& file_name, const ImportOptions& options = {},
                     const ReadOptions& reading = {});

/// What a robot file says, in the terms of model files: to_toml() makes a model file of it that runs to the same bits.
struct ImportedRobot {
  Document document;
  std::vector<std::string> notes;  // what was not taken over, and what is doubtful
};
ImportedRobot import_robot(std::string_view text, const std::string& file_name, const ImportOptions& options = {},
                           const ReadOptions& reading = {});

/// The text of a model file, with comments; `origin` is where it comes from, `folder` where it will be.
std::string model_text(const ImportedRobot& robot, const std::string& origin, const std::filesystem::path& folder = {});

/// Any file a model can be in: a model file, or a robot file.
Spec read_any_model(const std::filesystem::path& file, const ImportOptions& options = {}, const ReadOptions& reading = {});

}  // namespace linkwork
