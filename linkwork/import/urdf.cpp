#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

#include "linkwork/import/readers.h"
#include "linkwork/import/robot_parts.h"
#include "linkwork/spatial/unit.h"

namespace linkwork {
namespace {

using P = Pose<double>;
using V3 = Vec3<double>;

P read_origin(const XmlElement* origin) {
  if (origin == nullptr) return {};
  const V3 xyz = origin->vector("xyz", V3::Zero());
  if (origin->has("quat_xyzw")) {
    const std::vector<double> q = origin->numbers("quat_xyzw", 4);
    const Eigen::Vector4d wxyz(q[3], q[0], q[1], q[2]);
    if (wxyz.isZero(0.0)) origin->fail("has a quaternion that is zero");
    return {quaternion_rotation(wxyz), xyz};
  }
  return {rpy_rotation(origin->vector("rpy", V3::Zero())), xyz};
}

V3 read_axis(const XmlElement* axis, const V3& otherwise) {
  const V3 xyz = axis == nullptr ? otherwise : axis->vector("xyz", otherwise);
  if (xyz.isZero(0.0)) axis->fail("is zero", "the direction of an axis");
  return unit<3>(xyz);
}

/// What it moves like, or nothing if the word is not known. "continuous" is a revolute joint without limits.
std::string joint_type(const XmlElement& element) {
  static const std::map<std::string, std::string> kTypes{{"revolute", "revolute"},
                                                         {"continuous", "revolute"},
                                                         {"hinge", "revolute"},
                                                         {"prismatic", "prismatic"},
                                                         {"slider", "prismatic"},
                                                         {"fixed", "weld"},
                                                         {"weld", "weld"},
                                                         {"floating", "free"},
                                                         {"planar", "planar"},
                                                         {"spherical", "spherical"},
                                                         {"ball", "spherical"},
                                                         {"universal", "universal"},
                                                         {"cylindrical", "cylindrical"},
                                                         {"point", "spherical"},
                                                         {"rigid", "weld"},
                                                         {"6d", "weld"},
                                                         {"3d", "spherical"},
                                                         {"revolute2", "universal"}};
  std::string word = element.need_text("type");
  std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  const auto found = kTypes.find(word);
  if (found != kTypes.end()) return found->second;
  std::vector<std::string> known;
  for (const auto& [name, type] : kTypes) known.push_back(name);
  throw unknown_name(element.place(), "joint type", element.need_text("type"), known);
}

/// An axis across another, the same one for the same input.
V3 across(const V3& axis) {
  int least = 0;
  axis.cwiseAbs().minCoeff(&least);
  return axis.cross(V3::Unit(least)).normalized();
}

/// The second frame turned so that one axis vector serves both.
P with_axis_of(const P& X, const V3& own, const V3& common) {
  if (own == common) return X;
  return {X.R * Eigen::Quaterniond::FromTwoVectors(common, own).toRotationMatrix(), X.p};
}

class UrdfReader {
 public:
  UrdfReader(const XmlElement& robot, const ImportContext& context) : robot_(robot), context_(context) {}

  Spec read() {
    for (const XmlElement& child : robot_.children)
      if (child.name.starts_with("xacro:"))
        throw InputError(child.place(), "this is a xacro file: its macros are not expanded", "the URDF that xacro makes of it");
    spec_.name = robot_.get("name", "");
    robot_.get("version");
    spec_.settings.gravity = {0.0, 0.0, -9.81};
    read_materials();
    for (const XmlElement* link : robot_.all("link")) read_link(*link);
    if (links_.empty()) robot_.fail("has no <link>");
    for (const XmlElement* joint : robot_.all("joint")) read_joint(*joint);
    choose_base();
    for (const XmlElement* joint : robot_.all("joint"))
      if (const XmlElement* const mimic = joint->find("mimic")) read_mimic(*joint, *mimic);
    for (const XmlElement* loop : robot_.all("loop")) read_loop(*loop, "predecessor", "successor");
    for (const XmlElement* loop : robot_.all("constraint")) read_loop(*loop, "parent", "child");
    for (const XmlElement* loop : robot_.all("loop_joint")) read_loop_joint(*loop);
    for (const XmlElement* coupling : robot_.all("coupling")) read_coupling(*coupling);
    for (const XmlElement* gazebo : robot_.all("gazebo")) read_gazebo(*gazebo);
    for (const XmlElement* transmission : robot_.all("transmission")) read_transmission(*transmission);
    for (const XmlElement* control : robot_.all("ros2_control")) read_control(*control);
    read_loops_file();
    return std::move(spec_);
  }

 private:
  void read_materials() {
    for (const XmlElement* material : robot_.all("material"))
      if (const XmlElement* const color = material->find("color"))
        if (const auto rgba = read_color(color->numbers("rgba", 4))) colors_[material->get("name", "")] = *rgba;
  }

  void read_link(const XmlElement& link) {
    BodySpec body;
    body.name = allowed_body_name(link.need_text("name"));
    body.place = link.place();
    link.get("type");
    if (const auto [known, is_new] = links_.emplace(body.name, &link); !is_new)
      link.fail(fmt::format("stands twice, first at line {}", known->second->line), "a name of its own");
    if (const XmlElement* const inertial = link.find("inertial")) read_inertial(*inertial, body);
    for (const XmlElement* visual : link.all("visual")) read_visual(*visual, body.name);
    spec_.bodies.push_back(std::move(body));
  }

  void read_inertial(const XmlElement& inertial, BodySpec& body) {
    const P X = read_origin(inertial.find("origin"));
    const XmlElement& mass_element = inertial.need("mass");
    if (!mass_element.has("value")) mass_element.fail("has no 'value'", "a mass in kg");
    const double mass = *mass_element.number("value");
    if (!(mass >= 0.0) || std::isinf(mass)) mass_element.fail(fmt::format("is {}", mass), "a mass that is not negative");
    Mat3<double> I = Mat3<double>::Zero();
    if (const XmlElement* const inertia = inertial.find("inertia")) {
      const auto entry = [&](const char* key) { return inertia->number(key, 0.0); };
      const double xx = entry("ixx"), xy = entry("ixy"), xz = entry("ixz"), yy = entry("iyy"), yz = entry("iyz"),
                   zz = entry("izz");
      I << xx, xy, xz, xy, yy, yz, xz, yz, zz;
      if (!I.allFinite()) inertia->fail("is not finite");
    }
    add_part(body, mass, X, I);
  }

  void read_visual(const XmlElement& visual, const std::string& link) {
    const XmlElement* const geometry = visual.find("geometry");
    const P X = read_origin(visual.find("origin"));
    visual.get("name");
    std::optional<VisualSpec> shape = geometry == nullptr ? std::nullopt : read_geometry(*geometry, false);
    if (!shape || !make_drawable(*shape, context_, visual.place())) {
      visual.use_all();
      if (!shape) context_.notes.ignore("<visual> without a shape", visual.place());
      return;
    }
    shape->frame = frame_on(link, X, visual.place());
    if (const XmlElement* const material = visual.find("material")) {
      if (const auto known = colors_.find(material->get("name", "")); known != colors_.end()) shape->color = known->second;
      if (const XmlElement* const color = material->find("color"))
        if (const auto rgba = read_color(color->numbers("rgba", 4))) shape->color = rgba;
    }
    spec_.visuals.push_back(*shape);
  }

  std::string link_named(const std::string& name, const Place& place) const {
    const std::string allowed = allowed_body_name(name);
    if (links_.contains(allowed)) return allowed;
    std::vector<std::string> known;
    for (const auto& [link, element] : links_) known.push_back(link);
    throw unknown_name(place, "link", name, known);
  }
  std::string link_of(const XmlElement& end) const {
    const std::string text = end.text.empty() ? end.need_text(end.has("name") && !end.has("link") ? "name" : "link") : end.text;
    return link_named(text, end.place());
  }

  void read_joint(const XmlElement& element) {
    JointSpec joint;
    joint.name = allowed_name(element.need_text("name"));
    joint.type = joint_type(element);
    joint.place = element.place();
    element.get("independent");
    joint.parent = frame_on(link_of(element.need("parent")), read_origin(element.find("origin")), element.place());
    joint.child = frame_on(link_of(element.need("child")), {}, element.place());
    if (joint.parent.body == joint.child.body) element.fail("joins a link to itself", "two different links");
    const XmlElement* const axis = element.find("axis");
    const bool has_axis = joint.type == "revolute" || joint.type == "prismatic" || joint.type == "planar" ||
                          joint.type == "universal" || joint.type == "cylindrical";
    if (axis != nullptr && !has_axis) axis->use_all();  // exporters write one, even of length zero
    if (has_axis) joint.axis = read_axis(axis, V3::UnitX());
    if (joint.type == "universal") {
      const std::vector<const XmlElement*> axes = element.all("axis");
      joint.axis2 = axes.size() > 1 ? read_axis(axes[1], V3::UnitY()) : across(joint.axis);
    }
    read_limit(element, joint);
    if (const XmlElement* const dynamics = element.find("dynamics"); dynamics != nullptr && joint.type != "weld") {
      joint.damping = std::max(0.0, dynamics->number("damping", 0.0));
      if (joint.type != "free" && joint.type != "spherical") joint.friction = std::max(0.0, dynamics->number("friction", 0.0));
    }
    if (!carried_.emplace(joint.child.body, joint.name).second) {
      joint.cut = true;
      context_.notes.hint(fmt::format("joint '{}' closes a loop: its child '{}' already hangs on joint '{}'", joint.name,
                                      joint.child.body, carried_.at(joint.child.body)),
                          joint.place);
    }
    if (!joints_.emplace(joint.name, spec_.joints.size()).second) element.fail("stands twice", "a name of its own");
    spec_.joints.push_back(std::move(joint));
  }

  void read_limit(const XmlElement& element, JointSpec& joint) {
    const XmlElement* const limit = element.find("limit");
    if (limit == nullptr) return;
    limit->get("effort"), limit->get("velocity");
    const bool applies = (joint.type == "revolute" && element.get("type") != "continuous") || joint.type == "prismatic";
    const auto lower = limit->number("lower"), upper = limit->number("upper");
    if (!applies || (!lower && !upper)) return;
    const double low = lower.value_or(0.0), high = upper.value_or(0.0);
    if (low < high && std::isfinite(low) && std::isfinite(high))
      joint.limits = {low, high};
    else if (low != 0.0 || high != 0.0)
      context_.notes.hint(fmt::format("the limits {} to {} of joint '{}' are left out", low, high, joint.name), limit->place());
  }

  /// The one link that is no child, held or floating.
  void choose_base() {
    std::vector<const BodySpec*> roots;
    for (const BodySpec& body : spec_.bodies)
      if (!carried_.contains(body.name)) roots.push_back(&body);
    if (roots.empty()) robot_.fail("has no root: every link is the child of a joint", "one link that is no child");
    if (roots.size() > 1)
      throw InputError(roots[1]->place,
                       fmt::format("there are {} roots: '{}' (line {}) and '{}' are the child of no joint", roots.size(),
                                   roots[0]->name, roots[0]->place.line, roots[1]->name),
                       "one link that is no child");
    const BodySpec& root = *roots[0];
    const bool is_world = root.name == "world" || root.name == "ground_" || root.name == "map";
    const bool holds = context_.options.fixed_base || is_world || root.mass == 0.0;
    JointSpec base;
    base.name = free_constraint_name(spec_, "base");
    base.type = holds ? "weld" : "free";
    base.parent.place = base.child.place = base.place = root.place;
    base.child.body = root.name;
    const std::string why = context_.options.fixed_base ? "as asked"
                            : is_world                  ? "by its name"
                            : holds                     ? "it has no mass"
                                                        : "it has a mass; --fixed-base holds it";
    context_.notes.hint(fmt::format("the root '{}' {}: {}", root.name, holds ? "is fixed to the ground" : "floats", why));
    joints_[base.name] = spec_.joints.size();
    carried_[root.name] = base.name;
    spec_.joints.push_back(std::move(base));
  }

  void read_mimic(const XmlElement& joint, const XmlElement& mimic) {
    const std::string follower = allowed_name(joint.need_text("name"));
    const std::string leader = joint_named(mimic.need_text("joint"), mimic.place());
    add_closure(gear(follower + "_mimic", {follower, leader}, {1.0, -mimic.number("multiplier", 1.0)},
                     mimic.number("offset", 0.0), mimic.place()));
  }

  std::string joint_named(const std::string& name, const Place& place) const {
    const std::string allowed = allowed_name(name);
    if (joints_.contains(allowed)) return allowed;
    std::vector<std::string> known;
    for (const auto& [joint, index] : joints_) known.push_back(joint);
    throw unknown_name(place, "joint", name, known);
  }

  void add_closure(ClosureSpec closure) {
    closure.name = free_constraint_name(spec_, closure.name);
    spec_.closures.push_back(std::move(closure));
  }

  /// The type and the axes of a loop between two frames.
  void close(const XmlElement& element, const FrameSpec& a, const P& X_b, const FrameSpec& b, const XmlElement* axis_a,
             const XmlElement* axis_b) {
    ClosureSpec closure;
    closure.name = allowed_name(element.get("name", fmt::format("loop{}", spec_.closures.size() + 1)));
    closure.type = joint_type(element);
    closure.place = element.place();
    if (closure.type == "free") element.fail("is floating: it constrains nothing", "a joint that does");
    if (a.body == b.body) element.fail(fmt::format("joins '{}' to itself", a.body), "two different links");
    const bool has_axis = closure.type != "spherical" && closure.type != "weld";
    closure.a = a;
    closure.b = b;
    if (has_axis) {
      closure.axis = read_axis(axis_a, V3::UnitX());
      if (axis_b != nullptr)
        closure.b = frame_on(b.body, with_axis_of(X_b, read_axis(axis_b, V3::UnitX()), closure.axis), b.place);
      if (closure.type == "universal") closure.axis2 = across(closure.axis);
    } else {
      for (const XmlElement* axis : {axis_a, axis_b})
        if (axis != nullptr) axis->use_all();
    }
    add_closure(std::move(closure));
  }

  /// URDF+ puts the origins into the ends; the constraint of the ROS proposal has them and the axes beside.
  void read_loop(const XmlElement& loop, const std::string& first, const std::string& second) {
    const auto other = [](const std::string& end) {
      return end == "parent" ? "predecessor" : end == "child" ? "successor" : end;
    };
    const auto end_of = [&](const std::string& end, P& X) {
      std::string link;
      Place place = loop.place();
      const XmlElement* element = loop.find(end);
      if (element == nullptr) element = loop.find(other(end));
      if (element != nullptr) {
        link = link_of(*element);
        place = element->place();
        X = element->has("xyz") || element->has("rpy") ? read_origin(element) : read_origin(element->find("origin"));
      } else {
        link = link_named(loop.need_text(end), place);
      }
      if (const XmlElement* const beside = loop.find(end + "_origin")) X = read_origin(beside);
      return frame_on(link, X, place);
    };
    P X_a, X_b;
    const FrameSpec a = end_of(first, X_a), b = end_of(second, X_b);
    const XmlElement* axis_a = loop.find(first + "_axis");
    if (axis_a == nullptr) axis_a = loop.find("axis");
    close(loop, a, X_b, b, axis_a, loop.find(second + "_axis"));
  }

  /// link1 and link2 carry their poses; one page writes link1 twice.
  void read_loop_joint(const XmlElement& loop) {
    std::vector<const XmlElement*> ends = loop.all("link1");
    for (const XmlElement* end : loop.all("link2")) ends.push_back(end);
    if (ends.empty()) return read_loop(loop, "parent", "child");
    if (ends.size() != 2) loop.fail(fmt::format("has {} ends", ends.size()), "<link1> and <link2>");
    const auto pose = [](const XmlElement& end) { return read_origin(end.find("origin") ? end.find("origin") : &end); };
    const P X_a = pose(*ends[0]), X_b = pose(*ends[1]);
    close(loop, frame_on(link_of(*ends[0]), X_a, ends[0]->place()), X_b, frame_on(link_of(*ends[1]), X_b, ends[1]->place()),
          loop.find("axis"), nullptr);
  }

  /// The joints between a link and the root, outermost first.
  std::vector<std::string> joints_below(const std::string& link) const {
    std::vector<std::string> path;
    for (std::string at = link; at != "ground" && path.size() <= spec_.joints.size();) {
      const JointSpec& joint = spec_.joints[joints_.at(carried_.at(at))];
      path.push_back(joint.name);
      at = joint.parent.body;
    }
    return path;
  }

  /// What turns on the way to the successor is the ratio times what turns on the way to the predecessor, both from the link
  /// where the ways part.
  void read_coupling(const XmlElement& coupling) {
    std::vector<std::string> from = joints_below(link_of(coupling.need("predecessor")));
    std::vector<std::string> to = joints_below(link_of(coupling.need("successor")));
    while (!from.empty() && !to.empty() && from.back() == to.back()) from.pop_back(), to.pop_back();
    const XmlElement* const ratio_element = coupling.find("ratio");
    if (ratio_element == nullptr && !coupling.has("ratio")) coupling.fail("has no 'ratio'");
    const double ratio = ratio_element != nullptr ? ratio_element->number("value", 1.0) : *coupling.number("ratio");
    coupling.get("type");
    std::vector<std::string> joints;
    std::vector<double> coefficients;
    for (const auto& [path, factor] : {std::pair{&to, 1.0}, std::pair{&from, -ratio}})
      for (const std::string& name : *path) {
        const std::string& type = spec_.joints[joints_.at(name)].type;
        if (type == "weld") continue;
        if (type != "revolute" && type != "prismatic")
          coupling.fail(fmt::format("leads over the {} joint '{}'", type, name), "revolute and prismatic joints");
        joints.push_back(name);
        coefficients.push_back(factor);
      }
    if (joints.empty()) coupling.fail("couples links that do not move against each other");
    add_closure(gear(allowed_name(coupling.get("name", fmt::format("coupling{}", spec_.closures.size() + 1))), joints,
                     coefficients, 0.0, coupling.place()));
  }

  /// An SDF joint: its pose is in the child's frame, and it is closed in the written poses.
  void read_gazebo(const XmlElement& gazebo) {
    for (const XmlElement* joint : gazebo.all("joint")) {
      const FrameSpec child = frame_on(link_of(joint->need("child")), read_pose_text(joint->find("pose")), joint->place());
      const std::string parent = link_of(joint->need("parent"));
      const auto poses = written_poses(spec_);
      const P X_W = poses.at(child.body) * pose_of(child);
      JointSpec spec;
      ClosureSpec closure;
      closure.name = allowed_name(joint->need_text("name"));
      closure.type = joint_type(*joint);
      closure.place = joint->place();
      closure.b = child;
      closure.a = frame_on(parent, poses.at(parent).inverse() * X_W, joint->place());
      if (const XmlElement* const axis = joint->find("axis")) {
        std::vector<double> xyz{0.0, 0.0, 1.0};
        if (const XmlElement* const element = axis->find("xyz")) xyz = element->text_numbers();
        if (xyz.size() != 3 || V3(xyz[0], xyz[1], xyz[2]).isZero(0.0)) axis->fail("has no direction", "<xyz> with 3 numbers");
        closure.axis = unit<3>(V3(xyz[0], xyz[1], xyz[2]));
      }
      if (closure.type == "universal") closure.axis2 = across(closure.axis);
      if (closure.a.body == closure.b.body) joint->fail("joins a link to itself", "two different links");
      add_closure(std::move(closure));
    }
    const std::string link = gazebo.get("reference", "");
    for (const XmlElement* sensor : gazebo.all("sensor")) read_sensor(*sensor, link);
    if (gazebo.all("joint").empty() && gazebo.all("sensor").empty()) {
      gazebo.use_all();
      context_.notes.ignore("<gazebo>", gazebo.place());
    }
  }

  void read_sensor(const XmlElement& element, const std::string& of) {
    if (const auto joint = joints_.find(allowed_name(of)); joint != joints_.end())
      return note_joint_sensor(element, spec_.joints[joint->second], context_.notes);
    const bool is_imu = element.get("type", "") == "imu" && links_.contains(allowed_body_name(of));
    if (!is_imu) {
      context_.notes.ignore(fmt::format("<sensor> of type {}", element.get("type", "?")), element.place());
    } else {
      SensorSpec sensor;
      sensor.name = allowed_name(element.get("name", of + "_imu"));
      while (std::ranges::find(spec_.sensors, sensor.name, &SensorSpec::name) != spec_.sensors.end()) sensor.name += "_";
      sensor.type = "imu";
      sensor.place = element.place();
      sensor.frame = frame_on(allowed_body_name(of), read_pose_text(element.find("pose")), element.place());
      spec_.sensors.push_back(std::move(sensor));
    }
    element.use_all();
  }

  static P read_pose_text(const XmlElement* pose) {
    if (pose == nullptr) return {};
    const std::vector<double> n = pose->text_numbers();
    if (n.size() != 6) pose->fail(fmt::format("has {} numbers", n.size()), "6: x y z roll pitch yaw");
    return {rpy_rotation({n[3], n[4], n[5]}), {n[0], n[1], n[2]}};
  }

  /// The joint it drives becomes an input.
  void read_transmission(const XmlElement& transmission) {
    for (const XmlElement* joint : transmission.all("joint")) add_actuated(joint->need_text("name"), joint->place());
    transmission.use_all();
  }

  /// Joints that take commands of ros2_control.
  void read_control(const XmlElement& control) {
    for (const XmlElement* joint : control.all("joint"))
      if (joint->find("command_interface") != nullptr) add_actuated(joint->need_text("name"), joint->place());
    control.use_all();
  }

  void add_actuated(const std::string& name, const Place& place) {
    const std::string joint = joint_named(name, place);
    const std::string& type = spec_.joints[joints_.at(joint)].type;
    if (std::ranges::find(spec_.inputs, joint, &InputSpec::name) != spec_.inputs.end()) return;
    if (type == "revolute" || type == "prismatic") add_motor(spec_, joint, joint, 1.0, place);
  }

  void read_loops_file() {
    const auto& asked = context_.options.loops;
    const std::filesystem::path file = asked ? *asked : context_.file.parent_path() / "robot.yaml";
    if (!asked && !context_.exists(file)) return;
    apply_loops_file(context_.load(file), file.string(), spec_, context_);
    context_.notes.hint("loops are read from " + file.string());
  }

  const XmlElement& robot_;
  const ImportContext& context_;
  Spec spec_;
  std::map<std::string, std::array<double, 4>> colors_;
  std::unordered_map<std::string, const XmlElement*> links_;
  std::unordered_map<std::string, std::size_t> joints_;
  std::unordered_map<std::string, std::string> carried_;  // by link: the joint that carries it
};

}  // namespace

Spec read_urdf(const XmlElement& robot, const ImportContext& context) { return UrdfReader(robot, context).read(); }

}  // namespace linkwork
