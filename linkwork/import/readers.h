#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "linkwork/import/import_notes.h"
#include "linkwork/import/robot_file.h"
#include "linkwork/import/xml.h"

// One for each format. They fill the Spec, with welds for what does not move; robot_file.cpp does what is common.

namespace linkwork {

/// What the readers know beside the document.
struct ImportContext {
  std::filesystem::path file;
  const ImportOptions& options;
  std::function<std::string(const std::filesystem::path&)> load;
  /// Whether there is such a file to be loaded.
  std::function<bool(const std::filesystem::path&)> exists;
  ImportNotes& notes;
};

Spec read_urdf(const XmlElement& robot, const ImportContext& context);
Spec read_sdf(const XmlElement& sdf, const ImportContext& context);
/// Includes are put in first, so the document is changed.
Spec read_mjcf(XmlElement& mujoco, const ImportContext& context);

/// Replaces joints of a URDF and closes its loops as the YAML text says.
void apply_loops_file(std::string_view text, const std::string& file_name, Spec& spec, const ImportContext& context);

/// The visual of a URDF or SDF geometry, or none if it is a mesh or nothing known; where it is is left to the caller.
std::optional<VisualSpec> read_geometry(const XmlElement& geometry, bool values_are_text);

}  // namespace linkwork
