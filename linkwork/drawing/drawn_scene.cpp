#include "linkwork/drawing/drawn_scene.h"

#include <fmt/format.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "linkwork/io/json_text.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

using Json = nlohmann::ordered_json;
using Point = DrawnScene::Point;

Point point(const Json& json) { return {json.at(0).get<double>(), json.at(1).get<double>(), json.at(2).get<double>()}; }

/// Reads the parts of a scene; what is not as it should be throws nlohmann's exceptions or std::invalid_argument.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  DrawnScene scene() {
    scene_.name = json_.at("name").get<std::string>();
    scene_.gravity = point(json_.at("settings").at("gravity"));
    scene_.columns = json_.at("columns").get<std::vector<std::string>>();
    for (const Json& body : json_.at("bodies")) add_body(body);
    if (scene_.bodies.empty()) throw std::invalid_argument("there is no ground");
    for (const Json& joint : json_.at("joints")) add_joint(joint);
    for (const Json& closure : json_.at("closures"))
      scene_.closures.push_back({closure.at("name"), closure.at("type"), frame(closure.at("a")), frame(closure.at("b"))});
    for (const Json& spring : json_.at("springs"))
      scene_.springs.push_back({spring.at("type"), frame(spring.at("a")), frame(spring.at("b"))});
    for (const Json& sensor : json_.at("sensors")) scene_.sensors.push_back(frame(sensor.at("at")));
    for (const Json& mesh : json_.value("meshes", Json::array())) add_mesh(mesh);
    for (const Json& visual : json_.value("visuals", Json::array())) add_visual(visual);
    return std::move(scene_);
  }

 private:
  DrawnScene::Frame frame(const Json& json) const {
    const auto body = json.at("body").get<std::size_t>();
    if (body >= scene_.bodies.size()) throw std::invalid_argument(fmt::format("there is no body {}", body));
    const Json& q = json.at("q");
    const Eigen::Quaterniond turn(q.at(0).get<double>(), q.at(1).get<double>(), q.at(2).get<double>(), q.at(3).get<double>());
    return {body, {turn.normalized().toRotationMatrix(), point(json.at("p"))}};
  }

  void add_body(const Json& json) {
    DrawnScene::Body body{json.at("name"), {}, {}};
    if (json.contains("com")) body.com = point(json.at("com"));
    if (json.contains("solid")) {
      const Json& solid = json.at("solid");
      body.solid = {solid.at("shape"), point(solid.at("from")), point(solid.at("to")), point(solid.at("size")),
                    solid.at("radius")};
    }
    scene_.bodies.push_back(std::move(body));
  }

  void add_joint(const Json& json) {
    DrawnScene::Joint joint{json.at("name"),
                            json.at("type"),
                            json.at("cut"),
                            json.at("pitch"),
                            frame(json.at("parent")),
                            frame(json.at("child")),
                            {}};
    for (const Json& column : json.at("q")) {
      joint.q.push_back(column.is_null() ? std::nullopt : std::optional(column.get<std::size_t>()));
      if (joint.q.back() && *joint.q.back() >= scene_.columns.size()) throw std::invalid_argument("a column is not there");
    }
    scene_.joints.push_back(std::move(joint));
  }

  void add_visual(const Json& json) {
    DrawnScene::Visual visual{frame(json.at("at")),
                              json.at("shape"),
                              point(json.at("size")),
                              json.at("radius"),
                              json.at("length"),
                              json.at("color"),
                              {}};
    if (visual.shape == "mesh") {
      visual.mesh = json.at("mesh").get<std::size_t>();
      if (*visual.mesh >= scene_.meshes.size()) throw std::invalid_argument("a mesh is not there");
    }
    scene_.visuals.push_back(std::move(visual));
  }

  static std::vector<std::uint8_t> bytes(const std::string& base64) {
    std::vector<std::uint8_t> result;
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : base64) {
      const int digit = c >= 'A' && c <= 'Z'   ? c - 'A'
                        : c >= 'a' && c <= 'z' ? c - 'a' + 26
                        : c >= '0' && c <= '9' ? c - '0' + 52
                        : c == '+'             ? 62
                        : c == '/'             ? 63
                                               : -1;
      if (digit < 0) break;
      bits = bits << 6U | static_cast<std::uint32_t>(digit);
      held += 6;
      if (held < 8) continue;
      held -= 8;
      result.push_back(static_cast<std::uint8_t>(bits >> static_cast<unsigned>(held)));
    }
    return result;
  }

  template <class Number>
  static std::vector<std::uint32_t> numbers(const std::vector<std::uint8_t>& bytes) {
    std::vector<std::uint32_t> result(bytes.size() / sizeof(Number));
    for (std::size_t i = 0; i < result.size(); ++i) {
      Number value;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      result[i] = value;
    }
    return result;
  }

  void add_mesh(const Json& json) {
    DrawnScene::Mesh mesh;
    const Point low = point(json.at("low")), step = point(json.at("step"));
    const std::vector<std::uint32_t> whole = numbers<std::uint16_t>(bytes(json.at("positions").get<std::string>()));
    for (std::size_t i = 0; i + 2 < whole.size(); i += 3)
      mesh.points.push_back(low + step.cwiseProduct(Point(whole[i], whole[i + 1], whole[i + 2])));
    const std::vector<std::uint8_t> packed = bytes(json.at("indices").get<std::string>());
    const std::vector<std::uint32_t> indices =
        mesh.points.size() > 65536 ? numbers<std::uint32_t>(packed) : numbers<std::uint16_t>(packed);
    for (std::size_t i = 0; i + 2 < indices.size(); i += 3) {
      mesh.triangles.push_back({indices[i], indices[i + 1], indices[i + 2]});
      for (const std::uint32_t index : mesh.triangles.back())
        if (index >= mesh.points.size()) throw std::invalid_argument("a mesh has triangles without points");
    }
    scene_.meshes.push_back(std::move(mesh));
  }

  const Json& json_;
  DrawnScene scene_;
};

/// X_PC of a joint. The axis is z (universal: axes x and y).
Pose<double> joint_pose(const DrawnScene::Joint& joint, std::span<const double> row) {
  const auto q = [&](std::size_t k) { return row[*joint.q[k]]; };
  const auto turned = [](double angle, const Point& axis) { return Eigen::AngleAxisd(angle, axis).toRotationMatrix(); };
  const auto quaternion = [&](std::size_t first) {
    return Eigen::Quaterniond(q(first), q(first + 1), q(first + 2), q(first + 3)).normalized().toRotationMatrix();
  };
  const Point z = Point::UnitZ();
  if (joint.type == "revolute") return {turned(q(0), z), Point::Zero()};
  if (joint.type == "prismatic") return {Mat3<double>::Identity(), q(0) * z};
  if (joint.type == "screw") return {turned(q(0), z), joint.pitch * q(0) * z};
  if (joint.type == "cylindrical") return {turned(q(0), z), q(1) * z};
  if (joint.type == "universal") return {turned(q(0), Point::UnitX()) * turned(q(1), Point::UnitY()), Point::Zero()};
  if (joint.type == "spherical") return {quaternion(0), Point::Zero()};
  if (joint.type == "planar") return {turned(q(2), z), {q(0), q(1), 0.0}};
  if (joint.type == "translational") return {Mat3<double>::Identity(), {q(0), q(1), q(2)}};
  if (joint.type == "free") return {quaternion(3), {q(0), q(1), q(2)}};
  return {};
}

}  // namespace

bool DrawnScene::is_drawable() const {
  return std::ranges::all_of(joints, [](const Joint& joint) {
    return joint.cut || std::ranges::all_of(joint.q, [](const auto& column) { return column.has_value(); });
  });
}

DrawnScene read_drawn_scene(std::string_view json, const std::string& file) {
  try {
    const Json parsed = parse_json(json);
    return Reader(parsed).scene();
  } catch (const std::exception& error) {
    throw InputError({file, 0, 0}, fmt::format("cannot be drawn: {}", error.what()), "the file as 'linkwork run' has written it");
  }
}

ScenePoses::ScenePoses(const DrawnScene& scene) : bodies_(scene.bodies.size()) {
  std::vector<bool> reached(bodies_, false);
  reached[0] = true;
  for (bool grown = true; grown;) {
    grown = false;
    for (const DrawnScene::Joint& joint : scene.joints) {
      const bool forwards = reached[joint.parent.body] && !reached[joint.child.body];
      const bool backwards = reached[joint.child.body] && !reached[joint.parent.body];
      if (joint.cut || (!forwards && !backwards)) continue;
      const auto& [near, far] = forwards ? std::tie(joint.parent, joint.child) : std::tie(joint.child, joint.parent);
      reached[far.body] = true;
      grown = true;
      links_.push_back({far.body, near.body, &joint, backwards, near.X_BF, far.X_BF.inverse()});
    }
  }
}

std::vector<Pose<double>> ScenePoses::at(std::span<const double> row) const {
  std::vector<Pose<double>> poses(bodies_);
  for (const Link& link : links_) {
    const Pose<double> motion = joint_pose(*link.joint, row);
    poses[link.body] = poses[link.carrier] * link.X_CF * (link.backwards ? motion.inverse() : motion) * link.X_FB;
  }
  return poses;
}

}  // namespace linkwork
