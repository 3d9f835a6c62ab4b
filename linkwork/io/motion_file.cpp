#include "linkwork/io/motion_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/io/data_file.h"
#include "linkwork/io/input_file.h"
#include "linkwork/model/curve.h"
#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {

namespace {

/// The names in the first line that is neither empty nor a comment.
std::vector<std::string> column_names(std::string_view text, const std::string& file) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    at = end + 1;
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.empty() || line.front() == '#') continue;
    const char separator = line.find(',') != line.npos ? ',' : line.find(';') != line.npos ? ';' : '\t';
    std::vector<std::string> names;
    for (std::size_t from = 0; from <= line.size();) {
      const std::size_t to = std::min(line.find(separator, from), line.size());
      std::string_view name = line.substr(from, to - from);
      while (!name.empty() && (name.front() == ' ' || name.front() == '"')) name.remove_prefix(1);
      while (!name.empty() && (name.back() == ' ' || name.back() == '"')) name.remove_suffix(1);
      names.emplace_back(name);
      from = to + 1;
    }
    return names;
  }
  throw InputError({file, 1, 1}, "the file is empty", "a line of names, and lines of numbers");
}

std::vector<std::string> known_coordinates(const Spec& spec) {
  std::vector<std::string> names;
  for (const JointSpec& joint : spec.joints) {
    const JointKind* const kind = find_joint_kind(joint.type);
    if (kind == nullptr || kind->has_quaternion()) continue;
    for (const std::string& component : kind->positions)
      names.push_back("q." + joint.name + (kind->positions.size() == 1 ? "" : "." + component));
  }
  return names;
}

}  // namespace

void add_drives(Spec& spec, const std::filesystem::path& path, bool keep_end) {
  constexpr std::size_t kLargest = 2U << 30U;
  const std::string file = path.string(), text = read_input_file(path, "a readable file", kLargest);
  const std::vector<std::string> known = known_coordinates(spec);
  int drives = 0;
  for (const std::string& name : column_names(text, file)) {
    if (name == "t" || !name.starts_with("q.")) continue;
    if (std::ranges::find(known, name) == known.end()) throw unknown_name({file, 1, 1}, "coordinate", name, known);
    const std::string coordinate = name.substr(2);
    DataColumns data = read_columns(text, file, {"t", {file, 1, 1}}, {name, {file, 1, 1}});
    if (data.x.size() < 4) throw InputError({file, 1, 1}, fmt::format("there are {} rows", data.x.size()), "at least 4");
    if (!keep_end) spec.settings.end = data.x.back();
    Vocabulary words;
    words.tables["motion"] = std::make_shared<const Curve>(name, std::move(data.x), std::move(data.y),
                                                           Curve::Interpolation::kCubic, Curve::Beyond::kHold);
    std::erase_if(spec.closures, [&](const ClosureSpec& closure) {
      return closure.type == "drive" && closure.joints == std::vector{coordinate};
    });
    ClosureSpec drive;
    drive.name = "motion of " + coordinate;
    drive.type = "drive";
    drive.joints = {coordinate};
    drive.place = {file, 1, 1};
    drive.value = Expression::parse("motion(t)", {}, Variables::kTime, drive.place, words);
    spec.closures.push_back(std::move(drive));
    ++drives;
  }
  if (drives == 0) throw InputError({file, 1, 1}, "there is no column q.<joint>", "one of: " + listed(known));
}

}  // namespace linkwork
