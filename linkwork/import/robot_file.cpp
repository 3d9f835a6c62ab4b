#include "linkwork/import/robot_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <system_error>

#include "linkwork/import/mjcf.h"
#include "linkwork/import/readers.h"
#include "linkwork/import/robot_parts.h"
#include "linkwork/import/spec_document.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;

/// What the data of files are rounded to at worst, m: redundant constraints may contradict each other by as much.
constexpr double kRounding = 1e-4;

std::string extension(const fs::path& file) {
  std::string text = file.extension().string();
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

Spec read_document(XmlElement& root, const ImportContext& context) {
  root.used = true;
  if (root.name == "robot") return read_urdf(root, context);
  if (root.name == "sdf" || root.name == "gazebo") return read_sdf(root, context);
  if (root.name == "mujoco") return read_mjcf(root, context);
  throw InputError(root.place(), fmt::format("the root element is <{}>", root.name),
                   "<robot> (URDF), <sdf> (SDF) or <mujoco> (MJCF)");
}

/// Gravity along an axis becomes a parameter, so that it can be changed by --set g=1.62.
void name_gravity(TomlValue& settings, TomlValue& parameters) {
  std::vector<TomlValue>& g = settings["gravity"].items;
  for (std::size_t i = 0; i < 3; ++i) {
    if (g[i].number == 0.0 || g[(i + 1) % 3].number != 0.0 || g[(i + 2) % 3].number != 0.0) continue;
    parameters["g"] = std::abs(g[i].number);
    parameters.comment = "usable in every number that is written as a string; --set g=1.62 changes it";
    g[i] = TomlValue(g[i].number < 0.0 ? "-g" : "g");
    return;
  }
  parameters.entries.clear();
}

/// Names of meshes are relative to the file they stand in.
void move_meshes(TomlValue& root, const fs::path& from, const fs::path& to) {
  const auto whole = [](const fs::path& folder) { return fs::absolute(folder.empty() ? "." : folder).lexically_normal(); };
  for (TomlEntry& tables : root.entries) {
    if (tables.key != "visual") continue;
    for (TomlValue& visual : tables.value.items)
      for (TomlEntry& entry : visual.entries) {
        if (entry.key != "file") continue;
        const fs::path file = (whole(from) / entry.value.text).lexically_normal();
        if (!fs::path(entry.value.text).is_absolute()) entry.value.text = file.lexically_relative(whole(to)).string();
      }
  }
}

const char* comment_on(std::string_view tables) {
  if (tables == "body") return "Bodies: mass, centre of mass, and inertia about it in the axes of the body.";
  if (tables == "joint") return "Joints: the child's frame moves relative to the parent's.";
  if (tables == "closure") return "Closures: what closes loops or couples joints.";
  if (tables == "input") return "Inputs: set by a controller, or give them a value, which may be an expression of t.";
  if (tables == "force") return "Forces: numbers or expressions of t, q.<joint>, v.<joint>, u.<input>.";
  if (tables == "sensor") return "Sensors: further columns of the output.";
  if (tables == "visual") return "Visuals: shapes for the drawing only.";
  return "";
}

}  // namespace

bool is_robot_file(const fs::path& file) {
  const std::string end = extension(file);
  return end == ".urdf" || end == ".sdf" || end == ".xml" || end == ".world" || end == ".mjcf";
}

ImportedRobot import_robot(std::string_view text, const std::string& file_name, const ImportOptions& options,
                           const ReadOptions& reading) {
  if (!reading.set.empty())
    throw InputError({"--set " + reading.set.front().first, 0, 0}, "a robot file has no parameters",
                     "a model file: 'linkwork import' makes one");
  XmlElement root = parse_xml(text, file_name);
  ImportNotes notes;
  const ImportContext context{file_name, options, reading.load ? reading.load : read_text_file,
                              [&](const fs::path& file) { return reading.is_there(file); }, notes};
  Spec spec = read_document(root, context);
  spec.place = root.place();
  if (spec.name.empty()) spec.name = fs::path(file_name).stem().string();
  std::ranges::replace_if(
      spec.name, [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '_');
  if (spec.name == "." || spec.name == "..") spec.name = "robot";
  notes.ignore_unused(root);
  finish_import(spec, notes);
  const bool has_loops = spec.joints.size() > spec.bodies.size() || !spec.closures.empty();
  if (has_loops) spec.settings.design_tolerance = kRounding;
  // Links of real robots are so different in size that no fixed step does for all files.
  spec.settings.integrator.name = "dopri45";
  spec.settings.rtol = 1e-8, spec.settings.atol = 1e-10;
  return {document_of(spec), notes.lines()};
}

std::string model_text(const ImportedRobot& robot, const std::string& origin, const fs::path& folder) {
  TomlValue root = robot.document.root;
  move_meshes(root, fs::path(robot.document.files.front()).parent_path(), folder);
  root.comment = fmt::format("Made of {}. SI units, radians; the world's z is up.", origin);
  for (const std::string& note : robot.notes) root.comment += "\n- " + note;
  TomlValue written;
  written.comment = root.comment;
  for (TomlEntry& entry : root.entries) {
    if (entry.key == "settings") {
      written["parameters"]["g"] = 0.0;  // its place in the file is before the settings
      name_gravity(entry.value, written["parameters"]);
    }
    if (entry.value.kind == TomlValue::Kind::kArray && !entry.value.items.empty())
      entry.value.items.front().comment = comment_on(entry.key);
    written.entries.push_back(std::move(entry));
  }
  return to_toml(written);
}

Spec read_robot_text(std::string_view text, const std::string& file_name, const ImportOptions& options,
                     const ReadOptions& reading) {
  ImportedRobot robot = import_robot(text, file_name, options, reading);
  Spec spec = read_model_document(robot.document, reading);
  spec.source_text = std::string(text);
  spec.notes.insert(spec.notes.begin(), robot.notes.begin(), robot.notes.end());
  return spec;
}

Spec read_robot_file(const fs::path& file, const ImportOptions& options, const ReadOptions& reading) {
  const std::string text = reading.load ? reading.load(file) : read_text_file(file);
  return read_robot_text(text, file.string(), options, reading);
}

Spec read_any_model(const fs::path& file, const ImportOptions& options, const ReadOptions& reading) {
  if (is_robot_file(file)) return read_robot_file(file, options, reading);
  if (options.loops || options.fixed_base || !options.packages.empty())
    throw InputError({file.string(), 0, 0}, "--loops, --fixed-base and --package are for robot files",
                     "a file that ends in .urdf, .sdf or .xml");
  return read_model_file(file, reading);
}

}  // namespace linkwork
