#include "linkwork/io/motion_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

/// A column of the file as a function of time.
struct Recorded {
  double first = 0.0;
  Expression value;
};

Recorded read_motion(Spec& spec, const std::string& text, const std::string& file, const std::string& name, bool keep_end) {
  DataColumns data = read_columns(text, file, {"t", {file, 1, 1}}, {name, {file, 1, 1}});
  if (data.x.size() < 4) throw InputError({file, 1, 1}, fmt::format("there are {} rows", data.x.size()), "at least 4");
  if (!keep_end) spec.settings.end = data.x.back();
  Vocabulary words;
  const double first = data.y.front();
  words.tables["motion"] = std::make_shared<const Curve>(name, std::move(data.x), std::move(data.y), Curve::Interpolation::kCubic,
                                                         Curve::Beyond::kHold);
  return {first, Expression::parse("motion(t)", {}, Variables::kTime, {file, 1, 1}, words)};
}

void add_drive(Spec& spec, const std::string& coordinate, const std::string& file, const Recorded& motion) {
  ClosureSpec drive;
  drive.name = kMotionOf + coordinate;
  drive.type = "drive";
  drive.joints = {coordinate};
  drive.place = {file, 1, 1};
  drive.value = motion.value;
  spec.closures.push_back(std::move(drive));
}

constexpr std::array kAxes{"x", "y", "z"};

/// A body that moves as the columns of a point sensor say, where there are any, and holds the sensor's point.
int add_guide(Spec& spec, const SensorSpec& sensor, const std::vector<std::string>& columns, const std::string& text,
              const std::string& file, bool keep_end) {
  const std::string name = kMotionOf + ("p." + sensor.name);
  JointSpec slide;
  slide.name = name, slide.type = "translational", slide.child.body = name, slide.place = {file, 1, 1};
  slide.position.assign(3, 0.0);
  int count = 0;
  for (std::size_t axis = 0; axis < kAxes.size(); ++axis) {
    const std::string column = "p." + sensor.name + "." + kAxes[axis];
    if (std::ranges::find(columns, column) == columns.end()) continue;
    const Recorded motion = read_motion(spec, text, file, column, keep_end);
    slide.position[axis] = motion.first;
    add_drive(spec, name + "." + kAxes[axis], file, motion);
    ++count;
  }
  if (count == 0) return 0;
  BodySpec body;
  body.name = name, body.mass = 1.0, body.inertia.setIdentity(), body.place = slide.place;
  ClosureSpec hold;
  hold.name = name, hold.type = "point", hold.place = slide.place;
  hold.a.body = name;
  hold.b = sensor.frame;
  spec.bodies.push_back(std::move(body));
  spec.joints.push_back(std::move(slide));
  spec.closures.push_back(std::move(hold));
  return count;
}

}  // namespace

void add_drives(Spec& spec, const std::filesystem::path& path, bool keep_end) {
  constexpr std::size_t kLargest = 2U << 30U;
  const std::string file = path.string(), text = read_input_file(path, "a readable file", kLargest);
  const std::vector<std::string> columns = column_names(text, file);
  std::vector<std::string> known = known_coordinates(spec);
  std::vector<SensorSpec> points;
  for (const SensorSpec& sensor : spec.sensors)
    if (sensor.type == "point") points.push_back(sensor);
  for (const SensorSpec& sensor : points)
    for (const char* const axis : kAxes) known.push_back("p." + sensor.name + "." + axis);
  const auto is_of_tool = [](const std::string& name) { return name.starts_with("p."); };
  if (std::ranges::any_of(columns, is_of_tool))
    std::erase_if(spec.closures, [](const ClosureSpec& closure) { return closure.type == "drive"; });
  int drives = 0;
  for (const std::string& name : columns) {
    if (!name.starts_with("q.") && !is_of_tool(name)) continue;
    if (std::ranges::find(known, name) == known.end()) throw unknown_name({file, 1, 1}, "coordinate", name, known);
    if (is_of_tool(name)) continue;
    const std::string coordinate = name.substr(2);
    std::erase_if(spec.closures, [&](const ClosureSpec& closure) {
      return closure.type == "drive" && closure.joints == std::vector{coordinate};
    });
    add_drive(spec, coordinate, file, read_motion(spec, text, file, name, keep_end));
    ++drives;
  }
  for (const SensorSpec& sensor : points) drives += add_guide(spec, sensor, columns, text, file, keep_end);
  if (drives == 0)
    throw InputError({file, 1, 1}, "there is no column q.<joint> or p.<sensor>.<axis>", "one of: " + listed(known));
}

}  // namespace linkwork
