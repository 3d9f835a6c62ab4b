#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "linkwork/import/import_notes.h"
#include "linkwork/import/robot_file.h"
#include "linkwork/import/robot_parts.h"
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

/// The visual of a URDF or SDF geometry, or none if it is nothing known; where it is is left to the caller, and of a mesh, `file`
/// is as written.
std::optional<VisualSpec> read_geometry(const XmlElement& geometry, bool values_are_text);
/// Whether it can be drawn; if not, it is noted. Of a mesh, finds the file: as it is seen from the folder of the robot file.
bool make_drawable(VisualSpec& shape, const ImportContext& context, const Place& place);
/// Of a homogeneous body bounded by a mesh, whose `file` is as written; zeros if it cannot be read or encloses nothing.
ShapeMass mesh_mass(const VisualSpec& mesh, const ImportContext& context);
/// Three or four numbers, brought into their range; else none.
std::optional<std::array<double, 4>> read_color(const std::vector<double>& parts);
/// A file that is named by a path, by "file://...", or by "package://name/..." or "model://name/..."; none if it is not there.
std::optional<std::filesystem::path> find_file(const std::string& uri, const ImportContext& context);

}  // namespace linkwork
