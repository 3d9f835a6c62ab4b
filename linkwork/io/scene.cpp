#include "linkwork/io/scene.h"

#include <nlohmann/json.hpp>
#include <unordered_map>

#include "linkwork/simulation/recorder.h"

namespace linkwork {
namespace {

using Json = nlohmann::ordered_json;

Json triple(const Vec3<double>& v) { return {v.x(), v.y(), v.z()}; }

Json solid_json(const SolidSpec& solid) {
  return {{"shape", solid.shape},
          {"from", triple(solid.from)},
          {"to", triple(solid.to)},
          {"size", triple(solid.size)},
          {"radius", solid.radius}};
}

class Scene {
 public:
  Scene(const Spec& spec, const Model& model, std::span<const std::string> columns, const SceneMeshes& meshes)
      : spec_(spec), model_(model), meshes_(meshes.text()) {
    for (std::size_t i = 0; i < model.bodies.size(); ++i) body_of_[model.bodies[i].name] = i;
    for (std::size_t i = 0; i < columns.size(); ++i) column_of_[columns[i]] = i;
    for (const ClosureSpec& closure : spec.closures) closure_of_[closure.name] = &closure;
    json_ = {{"name", model.name}, {"source", model.source_text}, {"settings", settings()}, {"columns", columns}};
    add_bodies();
    add_joints();
    add_closures();
    add_springs();
    add_sensors();
    add_visuals(meshes);
    add_forces();
    add_drives();
    add_units(columns);
  }

  // A model's name may come from a file name, which need not be UTF-8.
  std::string text() const {
    std::string text = json_.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (!meshes_.empty()) text.insert(text.size() - 1, ",\"meshes\":" + meshes_);
    return text;
  }

 private:
  Json settings() const {
    const Settings& s = model_.settings;
    return {{"gravity", triple(s.gravity)},
            {"end", s.end},
            {"step", s.step},
            {"rtol", s.rtol},
            {"atol", s.atol},
            {"output_every", s.output_every},
            {"constraint_tolerance", s.constraint_tolerance}};
  }

  /// The frame's place on the body it was written for; several bodies may share a node of the tree.
  Json frame(const std::string& body_name, const NodeFrame& frame) const {
    const std::size_t index = body_of_.at(body_name);
    const Pose<double> X_BF = model_.bodies[index].X_NB.inverse() * frame.X_NF;
    const Quat turn(X_BF.R);
    return {{"body", index}, {"p", triple(X_BF.p)}, {"q", {turn.w(), turn.x(), turn.y(), turn.z()}}};
  }

  /// The index of a column, or null if it is not among them.
  Json column(const std::string& name) const {
    const auto found = column_of_.find(name);
    return found == column_of_.end() ? Json() : Json(found->second);
  }

  /// The first of three that follow one another.
  Json column_of_three(const std::string& name) const {
    const Json first = column(name + ".x");
    const bool all = !column(name + ".y").is_null() && !column(name + ".z").is_null();
    return all ? first : Json();
  }

  void add_bodies() {
    Json& bodies = json_["bodies"] = Json::array();
    for (const Body& body : model_.bodies) bodies.push_back({{"name", body.name}, {"mass", body.mass}});
    for (const BodySpec& spec : spec_.bodies) {
      Json& body = bodies[body_of_.at(spec.name)];
      body["com"] = triple(spec.com);
      if (spec.solid) body["solid"] = solid_json(*spec.solid);
    }
  }

  void add_joints() {
    Json& joints = json_["joints"] = Json::array();
    for (std::size_t j = 0; j < model_.joints.size(); ++j) {
      const Joint& joint = model_.joints[j];
      const JointSpec& spec = spec_.joints[j];
      Json q = Json::array();
      for (const std::string& component : joint.kind->positions) q.push_back(column("q." + coordinate_name(joint, component)));
      joints.push_back({{"name", joint.name},
                        {"type", joint.kind->name},
                        {"cut", joint.cut},
                        {"pitch", joint.pitch},
                        {"parent", frame(spec.parent.body, joint.parent)},
                        {"child", frame(spec.child.body, joint.child)},
                        {"q", q}});
    }
  }

  void add_closures() {
    Json& closures = json_["closures"] = Json::array();
    for (const FrameClosure& closure : model_.frame_closures) {
      const auto [a, b] = closure_bodies(closure);
      closures.push_back({{"name", closure.name},
                          {"type", closure.kind ? closure.kind->name : closure.joint_kind->name},
                          {"cut", is_cut_joint(closure)},
                          {"a", frame(a, closure.a)},
                          {"b", frame(b, closure.b)},
                          {"force", column_of_three("force." + closure.name)}});
    }
  }

  static bool is_cut_joint(const FrameClosure& closure) { return static_cast<bool>(closure.joint); }

  std::pair<std::string, std::string> closure_bodies(const FrameClosure& closure) const {
    if (is_cut_joint(closure)) {
      const JointSpec& joint = spec_.joints[closure.joint()];
      return {joint.parent.body, joint.child.body};
    }
    const ClosureSpec& spec = *closure_of_.at(closure.name);
    return {spec.a.body, spec.b.body};
  }

  void add_springs() {
    Json& springs = json_["springs"] = Json::array();
    for (const Spring& spring : model_.springs) {
      const ForceSpec& force = spec_.forces[static_cast<std::size_t>(spring.of)];
      springs.push_back({{"name", force.name},
                         {"type", force.type},
                         {"a", frame(force.a.body, spring.a)},
                         {"b", frame(force.b.body, spring.b)}});
    }
    for (const Bushing& bushing : model_.bushings) {
      const ForceSpec& force = spec_.forces[static_cast<std::size_t>(bushing.of)];
      springs.push_back({{"name", force.name},
                         {"type", force.type},
                         {"a", frame(force.a.body, bushing.a)},
                         {"b", frame(force.b.body, bushing.b)}});
    }
  }

  void add_sensors() {
    Json& sensors = json_["sensors"] = Json::array();
    for (std::size_t i = 0; i < model_.sensors.size(); ++i) {
      const Sensor& sensor = model_.sensors[i];
      if (!sensor.kind->is_drawn) continue;
      sensors.push_back(
          {{"name", sensor.name}, {"type", sensor.kind->name}, {"at", frame(spec_.sensors[i].frame.body, sensor.frame)}});
    }
  }

  void add_visuals(const SceneMeshes& meshes) {
    constexpr std::array kGrey{0.6, 0.6, 0.6, 1.0};
    for (const VisualSpec& visual : spec_.visuals) {
      const Eigen::Quaterniond& q = visual.frame.rotation;
      Json drawn{
          {"at", {{"body", body_of_.at(visual.frame.body)}, {"p", triple(visual.frame.at)}, {"q", {q.w(), q.x(), q.y(), q.z()}}}},
          {"shape", visual.shape},
          {"size", triple(visual.size)},
          {"radius", visual.radius},
          {"length", visual.length},
          {"color", visual.color.value_or(kGrey)}};
      if (visual.shape != "mesh") {
        json_["visuals"].push_back(std::move(drawn));
      } else if (const std::vector<SceneMeshes::Part>* const parts = meshes.find(visual.file)) {
        for (const SceneMeshes::Part& part : *parts) {
          if (!visual.color) drawn["color"] = part.color.value_or(kGrey);
          drawn["mesh"] = part.mesh;
          json_["visuals"].push_back(drawn);
        }
      }
    }
  }

  /// Those that are applied, and where, with the first of their columns.
  void add_forces() {
    Json& forces = json_["forces"] = Json::array();
    const auto add = [&](int of, const Json& place) {
      const Force& force = model_.forces[static_cast<std::size_t>(of)];
      const auto& components = force.kind->components;
      const std::string name = std::string(force.kind->prefix) + "." + force.label;
      Json json{{"name", force.label}, {"type", force.kind->name}};
      json["column"] = components.empty()                ? Json()
                       : components.front().name.empty() ? column(name)
                                                         : column(name + "." + components.front().name);
      json.update(place);
      forces.push_back(std::move(json));
    };
    const auto spec_of = [&](int of) -> const ForceSpec& { return spec_.forces[static_cast<std::size_t>(of)]; };
    for (const JointForce& force : model_.joint_forces)
      add(force.of, {{"joint", force.coordinate.joint()}, {"component", force.coordinate.component}});
    for (const Spring& spring : model_.springs) {
      const ForceSpec& spec = spec_of(spring.of);
      add(spring.of, {{"a", frame(spec.a.body, spring.a)}, {"b", frame(spec.b.body, spring.b)}});
    }
    for (const BodyWrench& wrench : model_.wrenches) add(wrench.of, {{"at", frame(spec_of(wrench.of).a.body, wrench.at)}});
  }

  /// The coordinates that drives move: "theta", "slide.angle".
  void add_drives() {
    for (const ClosureSpec& closure : spec_.closures)
      if (closure.type == "drive" || closure.type == "speed-drive") json_["drives"].push_back(closure.joints.front());
  }

  /// Units of the columns, each with how many columns in a row have it; empty where it is not known.
  void add_units(std::span<const std::string> columns) {
    const Recorder recorder(model_);
    std::unordered_map<std::string_view, std::string_view> unit_of;
    for (std::size_t c = 0; c < recorder.columns().size(); ++c) unit_of[recorder.columns()[c]] = recorder.units()[c];
    Json& units = json_["units"] = Json::array();
    for (const std::string& name : columns) {
      const auto found = unit_of.find(name);
      const std::string_view unit = found == unit_of.end() ? std::string_view() : found->second;
      if (!units.empty() && units.back()[0] == unit)
        units.back()[1] = units.back()[1].get<int>() + 1;
      else
        units.push_back({unit, 1});
    }
  }

  const Spec& spec_;
  const Model& model_;
  const std::string& meshes_;
  std::unordered_map<std::string, std::size_t> body_of_, column_of_;
  std::unordered_map<std::string, const ClosureSpec*> closure_of_;
  Json json_;
};

}  // namespace

std::string scene_json(const Spec& spec, const Model& model, std::span<const std::string> columns, const SceneMeshes& meshes) {
  return Scene(spec, model, columns, meshes).text();
}

std::string scene_json(const Spec& spec, const Model& model, std::span<const std::string> columns) {
  return scene_json(spec, model, columns, SceneMeshes(spec));
}

}  // namespace linkwork
