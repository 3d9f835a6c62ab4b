#include "linkwork/import/robot_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <system_error>

#include "linkwork/import/readers.h"
#include "linkwork/import/robot_parts.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;

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

}  // namespace

bool is_robot_file(const fs::path& file) {
  const std::string end = extension(file);
  return end == ".urdf" || end == ".sdf" || end == ".xml" || end == ".world" || end == ".mjcf";
}

Spec read_robot_text(std::string_view text, const std::string& file_name, const ImportOptions& options,
                     const ReadOptions& reading) {
  if (!reading.set.empty())
    throw InputError({"--set " + reading.set.front().first, 0, 0}, "a robot file has no parameters",
                     "a model file: 'linkwork import' makes one");
  XmlElement root = parse_xml(text, file_name);
  ImportNotes notes;
  ImportContext context{file_name, options, reading.load ? reading.load : read_text_file, nullptr, notes};
  context.exists = [&](const fs::path& file) {
    std::error_code ignored;
    return !reading.load && fs::is_regular_file(file, ignored);
  };
  Spec spec = read_document(root, context);
  spec.kinds = reading.kinds;
  spec.source_text = std::string(text);
  spec.place = root.place();
  if (spec.name.empty()) spec.name = fs::path(file_name).stem().string();
  std::ranges::replace_if(
      spec.name, [](char c) { return c == '/' || c == '\\' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '_');
  if (spec.name == "." || spec.name == "..") spec.name = "robot";
  notes.ignore_unused(root);
  finish_import(spec, notes);
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
