#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <unordered_map>
#include <utility>

#include "linkwork/import/readers.h"
#include "linkwork/import/robot_parts.h"
#include "linkwork/import/sdf_frames.h"
#include "linkwork/spatial/unit.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using P = Pose<double>;
using V3 = Vec3<double>;
using M3 = Mat3<double>;

const XmlElement* either(const XmlElement& element, const std::string& name) {
  if (const XmlElement* const found = element.find(name)) return found;
  return element.find("drake:" + name);
}

double number_in(const XmlElement* element, double otherwise) { return element == nullptr ? otherwise : element->text_number(); }

V3 triple_in(const XmlElement& element) {
  const std::vector<double> n = element.text_numbers();
  if (n.size() != 3) element.fail(fmt::format("has {} numbers", n.size()), "3");
  return {n[0], n[1], n[2]};
}

class SdfReader {
 public:
  SdfReader(const XmlElement& sdf, const ImportContext& context)
      : sdf_(sdf), context_(context), world_(nullptr, "", sdf), open_{context.file.lexically_normal()} {}

  Spec read() {
    read_version();
    spec_.settings.gravity = {0.0, 0.0, -9.81};
    const std::vector<const XmlElement*> worlds = sdf_.all("world");
    if (worlds.size() > 1) worlds[1]->fail("is a second world", "one");
    const XmlElement& top = worlds.empty() ? sdf_ : *worlds[0];
    if (!worlds.empty()) read_world(top);
    add_models(top, world_);
    if (world_.models().empty()) sdf_.fail("has no <model>");
    if (world_.models().size() > 1)
      for (const auto& model : world_.models()) prefix_all(*model);
    spec_.name = worlds.empty() || worlds[0]->get("name", "").empty() ? world_.models().front()->element().get("name", "")
                                                                      : worlds[0]->get("name", "");
    for (const auto& model : world_.models()) read_links(*model, false);
    for (const auto& model : world_.models()) read_constraints(*model);
    for (const XmlElement* joint : top.all("joint"))
      if (&top != &sdf_) read_joint(*joint, world_);
    hold_or_float();
    for (const auto& [joint, place] : motors_) add_motor(spec_, joint, joint, 1.0, place);
    return std::move(spec_);
  }

 private:
  void read_world(const XmlElement& world) {
    spec_.settings.gravity = {0.0, 0.0, -9.8};  // what the format says where nothing is said
    if (const XmlElement* const gravity = world.find("gravity")) spec_.settings.gravity = triple_in(*gravity);
    for (const XmlElement* physics : world.all("physics")) {
      if (const XmlElement* const step = physics->find("max_step_size"); step != nullptr && step->text_number() > 0.0)
        spec_.settings.step = step->text_number();
      if (const XmlElement* const gravity = physics->find("gravity")) spec_.settings.gravity = triple_in(*gravity);  // before 1.5
    }
  }

  /// Names of several models in one file need the models' names before them.
  void prefix_all(SdfScope& model) { model.set_prefix(model.name() + "::"); }

  void add_models(const XmlElement& element, SdfScope& scope) {
    for (const XmlElement* model : element.all("model")) {
      SdfScope& inner = scope.add_model(*model, model->need_text("name"), model);
      add_models(*model, inner);
    }
    for (const XmlElement* include : element.all("include")) include_model(*include, scope);
  }

  /// A model in a file of its own, at the place the include says.
  void include_model(const XmlElement& include, SdfScope& scope) {
    const std::string uri = include.need("uri").text;
    const fs::path file = found(uri, include);
    if (std::ranges::find(open_, file) != open_.end()) include.fail("includes a file that includes it: " + file.string());
    if (open_.size() > 32) include.fail("is nested too deeply", "at most 32 files");
    std::string text;
    try {
      text = context_.load(file);
    } catch (const InputError& error) {
      include.fail(fmt::format("names '{}': {}", uri, error.message()));
    }
    included_.push_back(std::make_unique<XmlElement>(parse_xml(text, file.string())));
    const XmlElement& root = *included_.back();
    root.used = true;
    const XmlElement* const model = root.name == "sdf" ? root.find("model") : nullptr;
    if (model == nullptr) throw InputError(root.place(), "the file has no <model>", "<sdf> with a <model> in it");
    const XmlElement* const name = include.find("name");
    SdfScope& inner = scope.add_model(*model, name != nullptr ? name->text : model->need_text("name"),
                                      include.find("pose") != nullptr ? &include : model);
    if (const XmlElement* const fixed = include.find("static"); fixed != nullptr && fixed->text_boolean()) held_.insert(model);
    open_.push_back(file);
    add_models(*model, inner);
    open_.pop_back();
  }

  fs::path found(const std::string& uri, const XmlElement& include) const {
    std::string rest = uri;
    for (const std::string& scheme : {std::string("model://"), std::string("package://")})
      if (uri.starts_with(scheme)) {
        rest = uri.substr(scheme.size());
        const std::size_t slash = rest.find('/');
        const auto known = context_.options.packages.find(rest.substr(0, slash));
        if (known == context_.options.packages.end()) break;
        const fs::path folder = known->second;
        return completed(slash == std::string::npos ? folder : folder / rest.substr(slash + 1));
      }
    if (uri.find("://") != std::string::npos && rest == uri)
      include.fail(fmt::format("names '{}'", uri), "a file, or model://name");
    return completed(context_.file.parent_path() / rest);
  }

  /// A folder stands for the model.sdf in it.
  static fs::path completed(const fs::path& path) {
    return (path.has_extension() ? path : path / "model.sdf").lexically_normal();
  }

  void read_links(const SdfScope& scope, bool held) {
    const XmlElement& model = scope.element();
    const XmlElement* const fixed = model.find("static");
    held = held || held_.contains(&model) || (fixed != nullptr && fixed->text_boolean());
    for (const XmlElement* link : model.all("link")) read_link(*link, scope, held);
    for (const auto& inner : scope.models()) read_links(*inner, held);
  }

  void read_link(const XmlElement& link, const SdfScope& scope, bool held) {
    BodySpec body;
    body.name = allowed_body_name(scope.prefix() + link.need_text("name"));
    body.place = link.place();
    const P X_WL = scope.pose(link.need_text("name"), link.place());
    at_[body.name] = X_WL;
    if (held) {
      JointSpec weld;
      weld.name = body.name + "_static";
      weld.type = "weld";
      weld.place = link.place();
      weld.parent = frame_on("ground", X_WL, link.place());
      weld.child = frame_on(body.name, {}, link.place());
      spec_.joints.push_back(std::move(weld));
    }
    read_inertial(link, scope, X_WL, body);
    for (const XmlElement* visual : link.all("visual")) read_visual(*visual, scope, X_WL, body.name);
    for (const XmlElement* sensor : link.all("sensor")) read_sensor(*sensor, scope, X_WL, body.name, link.need_text("name"));
    spec_.bodies.push_back(std::move(body));
  }

  void read_inertial(const XmlElement& link, const SdfScope& scope, const P& X_WL, BodySpec& body) {
    const XmlElement* const inertial = link.find("inertial");
    if (inertial == nullptr) {
      context_.notes.hint(fmt::format("link '{}' has no <inertial>: it gets the format's 1 kg and 1 kg m²", body.name),
                          link.place());
      body.mass = 1.0;
      body.inertia = M3::Identity();
      return;
    }
    if (inertial->boolean("auto").value_or(false)) {
      inertial->use_all();
      return read_auto_inertial(link, *inertial, scope, X_WL, body);
    }
    const double mass = number_in(inertial->find("mass"), 1.0);
    if (!(mass >= 0.0) || std::isinf(mass)) inertial->fail(fmt::format("has the mass {}", mass), "a mass that is not negative");
    M3 I = M3::Identity();
    if (const XmlElement* const inertia = inertial->find("inertia")) {
      const auto entry = [&](const char* key, double otherwise) { return number_in(inertia->find(key), otherwise); };
      const double xy = entry("ixy", 0.0), xz = entry("ixz", 0.0), yz = entry("iyz", 0.0);
      I << entry("ixx", 1.0), xy, xz, xy, entry("iyy", 1.0), yz, xz, yz, entry("izz", 1.0);
      if (!I.allFinite()) inertia->fail("is not finite");
    }
    const P X = X_WL.inverse() * scope.pose_in(*inertial, link.need_text("name"));
    add_part(body, mass, inertial->find("pose") == nullptr ? P{} : X, I);
  }

  /// From the collision shapes and their densities.
  void read_auto_inertial(const XmlElement& link, const XmlElement& inertial, const SdfScope& scope, const P& X_WL,
                          BodySpec& body) {
    const double usual = number_in(inertial.find("density"), 1000.0);
    for (const XmlElement* collision : link.all("collision")) {
      collision->use_all();
      const XmlElement* const geometry = collision->find("geometry");
      const std::optional<VisualSpec> shape = geometry == nullptr ? std::nullopt : read_geometry(*geometry, true);
      if (!shape || shape->shape == "mesh") {
        context_.notes.ignore("<collision> without a simple shape in the inertia of its link", collision->place());
        continue;
      }
      const ShapeMass solid = shape_mass(*shape);
      const double mass = number_in(collision->find("density"), usual) * solid.volume;
      if (!(mass > 0.0) || std::isinf(mass)) collision->fail("has no volume or density", "numbers that are positive");
      add_part(body, mass, X_WL.inverse() * scope.pose_in(*collision, link.need_text("name")), mass * solid.unit_inertia);
    }
    if (body.mass == 0.0) inertial.fail("is automatic, but the link has no collision shape", "a <collision>");
    if (const XmlElement* const mass = inertial.find("mass")) {  // what the shapes weigh is scaled to it
      const double wanted = mass->text_number();
      if (!(wanted > 0.0) || std::isinf(wanted)) mass->fail("is not positive");
      body.inertia *= wanted / body.mass;
      body.mass = wanted;
    }
  }

  void read_visual(const XmlElement& visual, const SdfScope& scope, const P& X_WL, const std::string& body) {
    const XmlElement* const geometry = visual.find("geometry");
    std::optional<VisualSpec> shape = geometry == nullptr ? std::nullopt : read_geometry(*geometry, true);
    visual.use_all();
    if (!shape) context_.notes.ignore("<visual> without a shape that is drawn", visual.place());
    if (!shape || !make_drawable(*shape, context_, visual.place())) return;
    const XmlElement* const link = visual.find("pose");
    P X = read_sdf_pose(link);
    if (link != nullptr && link->has("relative_to")) X = X_WL.inverse() * scope.pose_in(visual, "__model__");
    shape->frame = frame_on(body, X, visual.place());
    if (const XmlElement* const material = visual.find("material"))
      if (const XmlElement* const diffuse = material->find("diffuse")) shape->color = read_color(diffuse->text_numbers());
    spec_.visuals.push_back(*shape);
  }

  void read_sensor(const XmlElement& element, const SdfScope& scope, const P& X_WL, const std::string& body,
                   const std::string& link) {
    if (element.get("type", "") != "imu") {
      context_.notes.ignore(fmt::format("<sensor> of type {}", element.get("type", "?")), element.place());
      element.use_all();
      return;
    }
    element.use_all();
    SensorSpec sensor;
    sensor.name = allowed_name(scope.prefix() + element.need_text("name"));
    sensor.type = "imu";
    sensor.place = element.place();
    sensor.frame = frame_on(body, X_WL.inverse() * scope.pose_in(element, link), element.place());
    spec_.sensors.push_back(std::move(sensor));
  }

  /// 1.10 comes after 1.9.
  void read_version() {
    sdf_.number("version", 1.7);  // refused unless it is a number
    const std::string text = sdf_.get("version", "1.7");
    if (!text.starts_with("1.") || text.size() > 5) return;
    minor_version_ = 0;
    for (const char c : text.substr(2))
      if (c >= '0' && c <= '9') minor_version_ = 10 * minor_version_ + (c - '0');
  }

  void read_constraints(const SdfScope& scope) {
    const XmlElement& model = scope.element();
    for (const char* tag : {"joint", "drake:joint"})
      for (const XmlElement* joint : model.all(tag)) read_joint(*joint, scope);
    for (const char* tag : {"drake:ball_constraint", "drake:weld_constraint", "drake:weld"})
      for (const XmlElement* constraint : model.all(tag)) read_constraint(*constraint, scope);
    for (const XmlElement* bushing : model.all("drake:linear_bushing_rpy")) read_bushing(*bushing, scope);
    const std::vector<MimicOf> mimics = std::exchange(mimics_, {});  // which may follow joints of inner models
    for (const auto& inner : scope.models()) read_constraints(*inner);
    for (const MimicOf& mimic : mimics) add_mimic(mimic, scope);
  }

  void read_joint(const XmlElement& element, const SdfScope& scope) {
    static const std::map<std::string, std::string> kTypes{
        {"revolute", "revolute"},   {"continuous", "revolute"}, {"prismatic", "prismatic"},
        {"fixed", "weld"},          {"ball", "spherical"},      {"universal", "universal"},
        {"revolute2", "universal"}, {"screw", "screw"},         {"planar", "planar"}};
    const std::string written = element.need_text("type");
    const auto type = kTypes.find(written);
    if (type == kTypes.end()) {
      if (written == "gearbox") {
        context_.notes.ignore("<joint> of type gearbox", element.place());
        element.use_all();
        return;
      }
      std::vector<std::string> known;
      for (const auto& [name, of] : kTypes) known.push_back(name);
      throw unknown_name(element.place(), "joint type", written, known);
    }
    const XmlElement* const parent = either(element, "parent");
    const XmlElement* const child = either(element, "child");
    if (parent == nullptr || child == nullptr) element.fail("has no <parent> or no <child>", "both");
    JointSpec joint;
    joint.name = allowed_name(scope.prefix() + element.need_text("name"));
    joint.type = type->second;
    joint.place = element.place();
    const std::string a = scope.body(parent->text, parent->place()), b = scope.body(child->text, child->place());
    if (a == b) element.fail(fmt::format("joins '{}' to itself", a), "two different links");
    const P X_WJ =
        scope.is_world() ? scope.pose_in(element, child->text) : scope.pose(element.need_text("name"), element.place());
    joint.parent = frame_on(a, at(a).inverse() * X_WJ, element.place());
    joint.child = frame_on(b, at(b).inverse() * X_WJ, element.place());
    const XmlElement* const pose = element.find("pose");
    const bool plain = pose == nullptr || (!pose->has("relative_to") && !pose->has("frame"));
    if (plain && scope.body(child->text, child->place()) == allowed_body_name(scope.prefix() + child->text))
      joint.child = frame_on(b, read_sdf_pose(pose), element.place());  // as written, without rounding
    read_axes(element, scope, X_WJ, written, joint);
    for (const XmlElement* sensor : element.all("sensor")) note_joint_sensor(*sensor, joint, context_.notes);
    joints_.insert(joint.name);
    spec_.joints.push_back(std::move(joint));
  }

  /// A joint with an effort is a motor, as Drake has it.
  void read_effort(const XmlElement& limit, const JointSpec& joint) {
    const double effort = number_in(limit.find("effort"), 0.0);
    if (effort > 0.0 && std::isfinite(effort) && effort < 1e15 && (joint.type == "revolute" || joint.type == "prismatic"))
      motors_.emplace_back(joint.name, limit.place());
  }

  P at(const std::string& body) const { return body == "ground" ? P{} : at_.at(body); }

  V3 read_axis(const XmlElement& axis, const SdfScope& scope, const P& X_WJ) const {
    const XmlElement* const xyz = either(axis, "xyz");
    V3 direction = xyz == nullptr ? V3(V3::UnitZ()) : triple_in(*xyz);
    if (direction.isZero(0.0)) axis.fail("is zero", "the direction of an axis");
    const XmlElement* const old = axis.find("use_parent_model_frame");
    const std::string in = xyz == nullptr ? "" : xyz->get("expressed_in", "");
    if (!in.empty())
      direction = X_WJ.R.transpose() * (scope.pose(in, axis.place()).R * direction);
    else if (minor_version_ < 5 || (old != nullptr && old->text_boolean()))
      direction = X_WJ.R.transpose() * (scope.model_pose().R * direction);
    return unit<3>(direction);
  }

  void read_axes(const XmlElement& element, const SdfScope& scope, const P& X_WJ, const std::string& type, JointSpec& joint) {
    const XmlElement* const axis = either(element, "axis");
    const XmlElement* const axis2 = either(element, "axis2");
    if (joint.type == "weld" || joint.type == "spherical") {
      for (const XmlElement* one : {axis, axis2})
        if (one != nullptr) one->use_all();
      return;
    }
    if (axis != nullptr) joint.axis = read_axis(*axis, scope, X_WJ);
    if (joint.type == "universal") {
      const V3 second = axis2 != nullptr ? read_axis(*axis2, scope, X_WJ) : V3(V3::UnitY());
      const V3 across = second - second.dot(joint.axis) * joint.axis;
      if (across.norm() < 1e-9) element.fail("has two parallel axes", "axes that are perpendicular");
      if (std::abs(second.dot(joint.axis)) > 1e-9)
        context_.notes.hint(fmt::format("the axes of joint '{}' are made perpendicular", joint.name), element.place());
      joint.axis2 = unit<3>(across);
    }
    if (joint.type == "screw") {
      joint.pitch = number_in(element.find("screw_thread_pitch"), 0.0);
      if (const XmlElement* const old = element.find("thread_pitch");
          old != nullptr && joint.pitch == 0.0 && old->text_number() != 0.0)
        joint.pitch = -2.0 * std::numbers::pi / old->text_number();
      if (joint.pitch == 0.0) element.fail("has no thread pitch", "<screw_thread_pitch>, m per turn");
    }
    if (const XmlElement* const mimic = element.find("drake:mimic"))
      mimics_.push_back({joint.name, mimic->need_text("joint"), mimic->number("multiplier", 1.0), mimic->number("offset", 0.0),
                         mimic->place()});
    if (axis == nullptr) return;
    if (const XmlElement* const mimic = axis->find("mimic")) {
      mimic->get("axis");
      const double factor = number_in(mimic->find("multiplier"), 1.0), reference = number_in(mimic->find("reference"), 0.0);
      mimics_.push_back({joint.name, mimic->need_text("joint"), factor,
                         number_in(mimic->find("offset"), 0.0) - factor * reference, mimic->place()});
    }
    read_dynamics(*axis, type, joint);
  }

  void read_dynamics(const XmlElement& axis, const std::string& type, JointSpec& joint) {
    constexpr double kNoLimit = 1e15;
    if (const XmlElement* const limit = axis.find("limit")) {
      const double low = number_in(limit->find("lower"), -kNoLimit), high = number_in(limit->find("upper"), kNoLimit);
      read_effort(*limit, joint);
      limit->use_all();
      const bool applies = type == "revolute" || type == "prismatic" || type == "screw";
      if (applies && low < high && (std::abs(low) < kNoLimit || std::abs(high) < kNoLimit))
        joint.limits = {std::max(low, -kNoLimit), std::min(high, kNoLimit)};
    }
    for (const char* name : {"drake:rotor_inertia", "drake:gear_ratio"}) axis.find(name);
    if (const XmlElement* const rotor = axis.find("drake:rotor_inertia"); rotor != nullptr && joint.type != "universal") {
      const double ratio = number_in(axis.find("drake:gear_ratio"), 1.0);
      joint.armature = std::max(0.0, rotor->text_number() * ratio * ratio);
    }
    const XmlElement* const dynamics = axis.find("dynamics");
    if (dynamics == nullptr) return;
    joint.damping = std::max(0.0, number_in(dynamics->find("damping"), 0.0));
    joint.friction = std::max(0.0, number_in(dynamics->find("friction"), 0.0));
    joint.stiffness = std::max(0.0, number_in(dynamics->find("spring_stiffness"), 0.0));
    const double rest = number_in(dynamics->find("spring_reference"), 0.0);
    if (joint.stiffness != 0.0) joint.rest = rest;
  }

  struct MimicOf {
    std::string joint, leader;
    double factor, offset;
    Place place;
  };

  void add_mimic(const MimicOf& mimic, const SdfScope& scope) {
    const std::string leader = allowed_name(scope.prefix() + mimic.leader);
    if (!joints_.contains(leader)) throw unknown_name(mimic.place, "joint", mimic.leader, {joints_.begin(), joints_.end()});
    spec_.closures.push_back(
        gear(names_.free(mimic.joint + "_mimic"), {mimic.joint, leader}, {1.0, -mimic.factor}, mimic.offset, mimic.place));
  }

  /// Children whose names end in body_A, p_AP and so on.
  static const XmlElement* ending(const XmlElement& element, std::initializer_list<std::string_view> ends) {
    for (const XmlElement& child : element.children)
      for (const std::string_view end : ends)
        if (std::string_view(child.name).ends_with(end)) {
          child.used = true;
          return &child;
        }
    return nullptr;
  }

  void read_constraint(const XmlElement& element, const SdfScope& scope) {
    const bool is_ball = element.name == "drake:ball_constraint";
    const auto frame = [&](std::initializer_list<std::string_view> body, std::initializer_list<std::string_view> pose) {
      const XmlElement* const of = ending(element, body);
      if (of == nullptr) element.fail("lacks a body", "two bodies, A and B");
      const std::string name = scope.body(of->text, of->place());
      P X = at(name).inverse() * scope.pose(of->text, of->place());
      if (const XmlElement* const in = ending(element, pose))
        X = X * (is_ball ? P{M3::Identity(), triple_in(*in)} : read_sdf_pose(in));
      return frame_on(name, X, element.place());
    };
    ClosureSpec closure;
    closure.name =
        names_.free(allowed_name(element.get("name", fmt::format("{}{}", is_ball ? "ball" : "weld", spec_.closures.size() + 1))));
    closure.type = is_ball ? "spherical" : "weld";
    closure.place = element.place();
    closure.a = frame({"body_A", "frame_A", "parent"}, {"p_AP", "X_AP"});
    closure.b = frame({"body_B", "frame_B", "child"}, {"p_BQ", "X_BQ"});
    if (closure.a.body == closure.b.body) element.fail("joins a link to itself", "two links");
    spec_.closures.push_back(std::move(closure));
  }

  void read_bushing(const XmlElement& element, const SdfScope& scope) {
    const auto frame = [&](std::string_view end) {
      const XmlElement* const of = ending(element, {end});
      if (of == nullptr) element.fail("lacks a frame", "<drake:bushing_frameA> and <drake:bushing_frameC>");
      const std::string body = scope.body(of->text, of->place());
      return frame_on(body, at(body).inverse() * scope.pose(of->text, of->place()), of->place());
    };
    const auto three = [&](std::string_view end) -> std::vector<double> {
      const XmlElement* const of = ending(element, {end});
      if (of == nullptr) return {};
      const V3 numbers = triple_in(*of);
      if (!(numbers.minCoeff() >= 0.0)) of->fail("has a negative number", "numbers >= 0");
      return {numbers.x(), numbers.y(), numbers.z()};
    };
    ForceSpec bushing;
    bushing.type = "bushing";
    bushing.name = allowed_name(element.get("name", fmt::format("bushing{}", ++bushings_)));
    bushing.place = element.place();
    bushing.a = frame("frameA");
    bushing.b = frame("frameC");
    bushing.torque_stiffness = three("torque_stiffness");
    bushing.torque_damping = three("torque_damping");
    bushing.force_stiffness = three("force_stiffness");
    bushing.force_damping = three("force_damping");
    if (bushing.a.body == bushing.b.body) element.fail("joins a link to itself", "two links");
    spec_.forces.push_back(std::move(bushing));
  }

  /// What hangs on nothing floats, or is held if that was asked for.
  void hold_or_float() {
    std::unordered_map<std::string, std::string> group;  // union of bodies that joints connect
    const auto root = [&](std::string name) {
      for (std::string* up = &group.at(name); *up != name; up = &group.at(name)) name = *up = group.at(*up);
      return name;
    };
    group["ground"] = "ground";
    for (const BodySpec& body : spec_.bodies) group[body.name] = body.name;
    const auto join = [&](const std::string& a, const std::string& b) {
      const std::string ra = root(a), rb = root(b);
      if (ra != rb) (ra == "ground" ? group[rb] : group[ra]) = ra == "ground" ? ra : rb;
    };
    std::set<std::string> carried;
    for (const JointSpec& joint : spec_.joints) join(joint.parent.body, joint.child.body), carried.insert(joint.child.body);
    for (const bool any : {false, true})
      for (const BodySpec& body : spec_.bodies) {
        if (root(body.name) == "ground" || (!any && carried.contains(body.name))) continue;
        JointSpec base;
        base.name = names_.free(body.name);
        base.place = body.place;
        base.child = frame_on(body.name, {}, body.place);
        const P& X = at_.at(body.name);
        const bool holds = context_.options.fixed_base;
        base.type = holds ? "weld" : "free";
        base.parent = frame_on("ground", holds ? X : P{}, body.place);
        const FrameSpec start = frame_on("", X, {});
        if (!holds)
          base.position = {start.at.x(),       start.at.y(),       start.at.z(),      start.rotation.w(),
                           start.rotation.x(), start.rotation.y(), start.rotation.z()};
        context_.notes.hint(holds ? fmt::format("'{}' is fixed to the ground: as asked", body.name)
                                  : fmt::format("'{}' floats: no joint leads to the world; --fixed-base holds it", body.name));
        join("ground", body.name);
        spec_.joints.push_back(std::move(base));
      }
  }

  const XmlElement& sdf_;
  const ImportContext& context_;
  SdfScope world_;
  Spec spec_;
  ConstraintNames names_{spec_};
  int minor_version_ = 7;
  std::map<std::string, P> at_;  // by body: in the world, as written
  std::set<std::string> joints_;
  int bushings_ = 0;
  std::set<const XmlElement*> held_;
  std::vector<MimicOf> mimics_;
  std::vector<std::pair<std::string, Place>> motors_;  // joints with an effort
  std::vector<std::unique_ptr<XmlElement>> included_;
  std::vector<fs::path> open_;
};

}  // namespace

Spec read_sdf(const XmlElement& sdf, const ImportContext& context) { return SdfReader(sdf, context).read(); }

}  // namespace linkwork
