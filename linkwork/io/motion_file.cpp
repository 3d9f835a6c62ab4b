#include "linkwork/io/motion_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <optional>

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
    if (kind == nullptr) continue;
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

DataColumns read_column(Spec& spec, const std::string& text, const std::string& file, const std::string& name, bool keep_end) {
  DataColumns data = read_columns(text, file, {"t", {file, 1, 1}}, {name, {file, 1, 1}});
  if (data.x.size() < 4) throw InputError({file, 1, 1}, fmt::format("there are {} rows", data.x.size()), "at least 4");
  if (!keep_end) spec.settings.end = data.x.back();
  return data;
}

Recorded as_function(DataColumns data, const std::string& file, const std::string& name) {
  Vocabulary words;
  const double first = data.y.front();
  words.tables["motion"] = std::make_shared<const Curve>(name, std::move(data.x), std::move(data.y), Curve::Interpolation::kCubic,
                                                         Curve::Beyond::kHold);
  return {first, Expression::parse("motion(t)", {}, Variables::kTime, {file, 1, 1}, words)};
}

Recorded read_motion(Spec& spec, const std::string& text, const std::string& file, const std::string& name, bool keep_end) {
  return as_function(read_column(spec, text, file, name, keep_end), file, name);
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

/// Turns R as angles without jumps: R axes = base Rz(of[0]) Ry(of[1]) Rx(of[2]).
struct Angles {
  Eigen::Quaterniond base, axes;
  std::array<std::vector<double>, 3> of;
  double steepest = 0.0;  // of the second one, which must stay away from a right angle
};

Angles angles_of(const std::vector<Eigen::Quaterniond>& turns, const Eigen::Quaterniond& from, const Eigen::Quaterniond& axes) {
  Angles angles{from * axes, axes, {}, 0.0};
  for (const Eigen::Quaterniond& turn : turns) {
    const Eigen::Matrix3d R = (angles.base.conjugate() * turn * axes).toRotationMatrix();
    std::array<double, 3> next{std::atan2(R(1, 0), R(0, 0)), std::asin(std::clamp(-R(2, 0), -1.0, 1.0)),
                               std::atan2(R(2, 1), R(2, 2))};
    for (std::size_t k = 0; k < 3; ++k) {
      if (!angles.of[k].empty())
        next[k] -= 2.0 * std::numbers::pi * std::round((next[k] - angles.of[k].back()) / (2.0 * std::numbers::pi));
      angles.of[k].push_back(next[k]);
    }
    angles.steepest = std::max(angles.steepest, std::abs(next[1]));
  }
  return angles;
}

/// Angles that stay away from where they are not unique: of several axes, and turns that they are measured from.
Angles good_angles(const std::vector<Eigen::Quaterniond>& turns, const std::string& joint, const std::string& file) {
  constexpr double kSteep = 1.3;
  const std::array<Eigen::Quaterniond, 3> axes{Eigen::Quaterniond::Identity(), Eigen::Quaterniond(0.5, 0.5, 0.5, 0.5),
                                               Eigen::Quaterniond(0.5, -0.5, -0.5, -0.5)};
  std::optional<Angles> best;
  for (const std::size_t at : {std::size_t{0}, turns.size() / 2})
    for (const Eigen::Quaterniond& way : axes) {
      Angles angles = angles_of(turns, turns[at], way);
      if (!best || angles.steepest < best->steepest) best = std::move(angles);
      if (best->steepest < 0.7 * kSteep) return *best;
    }
  if (best->steepest < kSteep) return *best;
  throw InputError({file, 1, 1},
                   fmt::format("joint '{}' turns so far about several axes that its motion cannot be followed", joint),
                   "a motion that turns less, or point sensors that move with it (columns p.<sensor>.x)");
}

/// A body that moves as the columns of a joint that turns in space say, and is held by the joint's child.
int add_pose_guide(Spec& spec, const JointSpec& joint, const std::vector<std::string>& columns, const std::string& text,
                   const std::string& file, bool keep_end) {
  const JointKind& kind = *find_joint_kind(joint.type);
  std::vector<std::string> names;
  for (const std::string& component : kind.positions) names.push_back("q." + joint.name + "." + component);
  const auto there = [&](const std::string& name) { return std::ranges::find(columns, name) != columns.end(); };
  if (std::ranges::none_of(names, there)) return 0;
  for (const std::string& name : names)
    if (!there(name))
      throw InputError({file, 1, 1}, fmt::format("there is no column {}, and others of joint '{}'", name, joint.name),
                       "all of " + listed(names));
  std::vector<DataColumns> data;
  for (const std::string& name : names) data.push_back(read_column(spec, text, file, name, keep_end));
  const std::size_t slides = kind.positions.size() - 4;
  std::vector<Eigen::Quaterniond> turns;
  for (std::size_t i = 0; i < data[0].x.size(); ++i) {
    const Eigen::Quaterniond turn(data[slides].y[i], data[slides + 1].y[i], data[slides + 2].y[i], data[slides + 3].y[i]);
    if (!(turn.norm() > 0.5 && turn.norm() < 2.0))
      throw InputError(
          {file, 1, 1},
          fmt::format("the turn of joint '{}' at t = {:g} has the length {:g}", joint.name, data[0].x[i], turn.norm()),
          "unit quaternions");
    turns.push_back(turn.normalized());
  }
  const Angles angles = good_angles(turns, joint.name, file);

  const std::string name = kMotionOf + ("q." + joint.name);
  FrameSpec from = joint.parent;
  int count = 0;
  const auto add = [&](const std::string& part, const std::string& type, const Eigen::Vector3d& axis,
                       std::vector<DataColumns> motions, const std::vector<std::string>& components) {
    BodySpec body;
    body.name = part, body.mass = 1.0, body.inertia.setIdentity(), body.place = {file, 1, 1};
    JointSpec moves;
    moves.name = part, moves.type = type, moves.parent = from, moves.child.body = part, moves.axis = axis,
    moves.place = body.place;
    for (std::size_t k = 0; k < motions.size(); ++k) {
      const Recorded motion = as_function(std::move(motions[k]), file, part);
      moves.position.push_back(motion.first);
      add_drive(spec, components.empty() ? part : part + "." + components[k], file, motion);
      ++count;
    }
    spec.bodies.push_back(std::move(body));
    spec.joints.push_back(std::move(moves));
    from = {};
    from.body = part;
  };
  if (slides == 3) add(name, "translational", Eigen::Vector3d::UnitZ(), {data[0], data[1], data[2]}, {"x", "y", "z"});
  from.rotation = from.rotation * angles.base;
  for (std::size_t k = 0; k < 3; ++k)
    add(fmt::format("{} {}", name, "zyx"[k]), "revolute", Eigen::Vector3d::Unit(2 - static_cast<int>(k)),
        {{data[0].x, angles.of[k]}}, {});
  ClosureSpec hold;
  hold.name = name, hold.type = "weld", hold.place = {file, 1, 1};
  hold.a = from;
  hold.a.rotation = angles.axes.conjugate();
  hold.b = joint.child;
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
    const bool turns = std::ranges::any_of(spec.joints, [&](const JointSpec& joint) {
      const JointKind* const kind = find_joint_kind(joint.type);
      return kind != nullptr && kind->has_quaternion() && coordinate.starts_with(joint.name + ".");
    });
    if (turns) continue;
    std::erase_if(spec.closures, [&](const ClosureSpec& closure) {
      return closure.type == "drive" && closure.joints == std::vector{coordinate};
    });
    add_drive(spec, coordinate, file, read_motion(spec, text, file, name, keep_end));
    ++drives;
  }
  for (const JointSpec& joint : std::vector<JointSpec>(spec.joints))
    if (const JointKind* const kind = find_joint_kind(joint.type); kind != nullptr && kind->has_quaternion())
      drives += add_pose_guide(spec, joint, columns, text, file, keep_end);
  for (const SensorSpec& sensor : points) drives += add_guide(spec, sensor, columns, text, file, keep_end);
  if (drives == 0)
    throw InputError({file, 1, 1}, "there is no column q.<joint> or p.<sensor>.<axis>", "one of: " + listed(known));
}

}  // namespace linkwork
