#include "linkwork/import/mjcf.h"

#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "linkwork/spatial/unit.h"

namespace linkwork {
namespace {

using P = Pose<double>;
using V3 = Vec3<double>;
using M3 = Mat3<double>;
namespace fs = std::filesystem;

class MjcfReader {
 public:
  MjcfReader(const XmlElement& mujoco, const ImportContext& context)
      : mujoco_(mujoco), context_(context), compiler_(read_mjcf_compiler(mujoco)) {}

  Spec read() {
    spec_.name = mujoco_.get("model", "");
    spec_.settings.gravity = {0.0, 0.0, -9.81};
    for (const XmlElement* option : mujoco_.all("option")) {
      spec_.settings.gravity = option->vector("gravity", spec_.settings.gravity);
      if (const auto step = option->number("timestep"); step && *step > 0.0) spec_.settings.step = *step;
    }
    read_assets();
    names_.bodies["world"] = {"ground", {}};
    names_.at["ground"] = {};
    const std::vector<const XmlElement*> worlds = mujoco_.all("worldbody");
    if (worlds.empty()) mujoco_.fail("has no <worldbody>");
    for (const XmlElement* world : worlds) read_children(*world, {"ground", {}, true}, nullptr);
    bound_masses();
    read_mjcf_equalities(mujoco_, names_, context_, spec_);
    read_mjcf_actuation(mujoco_, names_, context_, spec_);
    return std::move(spec_);
  }

 private:
  /// Where children stand: a body, and a frame in it.
  struct Parent {
    std::string body;
    P X;
    bool is_world = false;
  };

  void read_children(const XmlElement& element, const Parent& at, BodySpec* body) {
    for (const XmlElement& child : element.children) {
      if (child.name == "body") {
        child.used = true;
        read_body(child, at);
      } else if (child.name == "frame") {
        child.used = true;
        child.get("childclass"), child.get("name");
        read_children(child, {at.body, at.X * read_mjcf_pose(child, compiler_), at.is_world}, body);
      } else if (child.name == "geom") {
        child.use_all();
        read_geom(child, at, body);
      } else if (child.name == "site") {
        child.use_all();
        read_site(child, at);
      }
    }
  }

  std::string unique_body_name(const XmlElement& element) {
    std::string name = allowed_body_name(element.get("name", ""));
    if (name.empty()) name = fmt::format("body{}", ++unnamed_);
    while (!body_names_.insert(name).second) {
      if (element.has("name")) element.fail("stands twice", "a name of its own");
      name = fmt::format("body{}", ++unnamed_);
    }
    return name;
  }

  void read_body(const XmlElement& element, const Parent& at) {
    const std::string name = unique_body_name(element);
    element.get("childclass");
    const P X_PB = at.X * read_mjcf_pose(element, compiler_);
    const P X_WB = names_.at.at(at.body) * X_PB;
    names_.at[name] = X_WB;
    names_.bodies[element.get("name", name)] = {name, {}};
    BodySpec body;
    body.name = name;
    body.place = element.place();
    std::vector<std::pair<const XmlElement*, P>> joints;
    find_joints(element, {}, joints);
    const bool is_mocap = element.boolean("mocap").value_or(false);
    if (is_mocap) context_.notes.hint(fmt::format("the mocap body '{}' stays where it is", name), body.place);
    hang(element, name, at, X_PB, is_mocap ? std::vector<std::pair<const XmlElement*, P>>{} : joints);
    const XmlElement* const inertial = element.find("inertial");
    const bool from_geoms =
        compiler_.inertia_from_geom == "true" || (compiler_.inertia_from_geom == "auto" && inertial == nullptr);
    if (inertial != nullptr) inertial->use_all();
    if (inertial != nullptr && !from_geoms) read_inertial(*inertial, body);
    // Children first push bodies of their own: this one is kept aside, in its place.
    const std::size_t index = spec_.bodies.size();
    spec_.bodies.push_back({});
    read_children(element, {name, {}}, from_geoms ? &body : nullptr);
    spec_.bodies[index] = std::move(body);
  }

  /// Joints of a body, those in its frames included.
  void find_joints(const XmlElement& element, const P& X, std::vector<std::pair<const XmlElement*, P>>& joints) const {
    for (const XmlElement& child : element.children) {
      if (child.name == "joint" || child.name == "freejoint") {
        child.used = true;
        joints.emplace_back(&child, X);
      }
      if (child.name == "frame") find_joints(child, X * read_mjcf_pose(child, compiler_), joints);
    }
  }

  /// A joint between a body and the one it hangs on; several joints need bodies without mass between them.
  void hang(const XmlElement& element, const std::string& name, const Parent& at, const P& X_PB,
            const std::vector<std::pair<const XmlElement*, P>>& joints) {
    if (joints.empty()) {
      add_joint(weld(name + "_weld", at.body, X_PB, name, element.place()));
      return;
    }
    std::string carrier = at.body;
    P X = X_PB;
    for (std::size_t i = 0; i < joints.size(); ++i) {
      const bool is_last = i + 1 == joints.size();
      std::string carried = name;
      if (!is_last) {
        BodySpec between;
        between.name = carried = fmt::format("{}_{}", name, i + 1);
        while (!body_names_.insert(between.name).second) between.name = carried = between.name + "_";
        between.place = joints[i].first->place();
        spec_.bodies.push_back(between);
        names_.at[carried] = names_.at.at(name);
      }
      read_joint(*joints[i].first, joints[i].second, carrier, X, carried, name, joints.size() == 1 ? 0 : static_cast<int>(i) + 1,
                 at);
      carrier = carried;
      X = {};
    }
  }

  static JointSpec weld(const std::string& name, const std::string& parent, const P& X, const std::string& child,
                        const Place& place) {
    JointSpec joint;
    joint.name = name;
    joint.type = "weld";
    joint.parent = frame_on(parent, X, place);
    joint.child = frame_on(child, {}, place);
    joint.place = place;
    return joint;
  }

  void add_joint(JointSpec joint) {
    joint.name = unique_joint_name(joint.name);
    spec_.joints.push_back(std::move(joint));
  }
  std::string unique_joint_name(std::string name) {
    while (!joint_names_.insert(name).second) name += "_";
    return name;
  }

  void read_joint(const XmlElement& element, const P& X_frame, const std::string& carrier, const P& X_PB,
                  const std::string& carried, const std::string& body, int number, const Parent& at) {
    const bool is_free = element.name == "freejoint";
    const std::string type = is_free ? "free" : element.get("type", "hinge");
    std::string name = allowed_name(element.get("name", ""));
    if (name.empty()) name = number == 0 ? body : fmt::format("{}_{}", body, number);
    JointSpec joint;
    joint.place = element.place();
    MjcfNames::Joint known{name, type, 0.0, spec_.joints.size()};
    for (const char* aside :
         {"group", "class", "user", "align", "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction"})
      element.get(aside);
    if (type == "free") {
      if (!at.is_world) element.fail("is free in a body that is not a child of the world", "a free joint at the top");
      if (context_.options.fixed_base) {
        known.index = static_cast<std::size_t>(-1);
        add_joint(weld(name, carrier, X_PB, carried, element.place()));
        context_.notes.hint(fmt::format("the free joint of '{}' is held: as asked", body));
      } else {
        joint.name = known.name = unique_joint_name(name);
        joint.type = "free";
        joint.parent = frame_on("ground", {}, element.place());
        joint.child = frame_on(carried, {}, element.place());
        const FrameSpec start = frame_on("", X_PB, {});
        joint.position = {start.at.x(),       start.at.y(),       start.at.z(),      start.rotation.w(),
                          start.rotation.x(), start.rotation.y(), start.rotation.z()};
        joint.damping = element.number("damping", 0.0);
        if (element.number("armature", 0.0) != 0.0) context_.notes.ignore("armature of free and ball joints", element.place());
        spec_.joints.push_back(std::move(joint));
      }
      names_.joints.push_back(known);
      return;
    }
    joint.name = known.name = unique_joint_name(name);
    const bool hinge = type == "hinge", slide = type == "slide";
    if (!hinge && !slide && type != "ball")
      throw unknown_name(element.place(), "joint type", type, {"hinge", "slide", "ball", "free"});
    joint.type = hinge ? "revolute" : slide ? "prismatic" : "spherical";
    const P X_BJ{M3::Identity(), X_frame * element.vector("pos", V3::Zero())};
    P X_PJ = X_PB * X_BJ;
    if (type != "ball") {
      const V3 axis = X_frame.R * element.vector("axis", V3::UnitZ());
      if (axis.isZero(0.0)) element.fail("has an axis that is zero");
      joint.axis = unit<3>(axis);
      known.ref = hinge ? compiler_.angle(element.number("ref", 0.0)) : element.number("ref", 0.0);
      if (known.ref != 0.0) {
        const P back = hinge ? P{Eigen::AngleAxisd(-known.ref, joint.axis).toRotationMatrix(), V3::Zero()}
                             : P{M3::Identity(), -known.ref * joint.axis};
        X_PJ = X_PJ * back;
        joint.position = {known.ref};
      }
    }
    joint.parent = frame_on(carrier, X_PJ, element.place());
    joint.child = frame_on(carried, X_BJ, element.place());
    read_joint_forces(element, joint, hinge);
    names_.joints.push_back(known);
    spec_.joints.push_back(std::move(joint));
  }

  void read_joint_forces(const XmlElement& element, JointSpec& joint, bool hinge) {
    const auto first = [&](const char* key) {
      const std::vector<double> n = element.any_numbers(key);
      return n.empty() ? 0.0 : n[0];
    };
    joint.damping = std::max(0.0, first("damping"));
    const double stiffness = std::max(0.0, first("stiffness"));
    const double armature = element.number("armature", 0.0), friction = element.number("frictionloss", 0.0);
    const auto range = element.numbers("range", 2);
    const std::string limited = element.get("limited", "auto");
    if (joint.type == "spherical") {
      if (stiffness != 0.0) context_.notes.ignore("stiffness of ball joints", element.place());
      if (armature != 0.0) context_.notes.ignore("armature of free and ball joints", element.place());
      if (!range.empty() && limited != "false") context_.notes.ignore("limits of ball joints", element.place());
      return;
    }
    const auto angle = [&](double x) { return hinge ? compiler_.angle(x) : x; };
    joint.stiffness = stiffness;
    const double springref = angle(element.number("springref", 0.0));
    if (stiffness != 0.0) joint.rest = springref;
    joint.armature = std::max(0.0, armature);
    joint.friction = std::max(0.0, friction);
    const bool is_limited = limited == "true" || (limited == "auto" && compiler_.autolimits && !range.empty());
    if (!is_limited || range.empty()) return;
    if (range[0] < range[1])
      joint.limits = {angle(range[0]), angle(range[1])};
    else
      context_.notes.hint(fmt::format("the range {} {} of joint '{}' is left out", range[0], range[1], joint.name), joint.place);
  }

  void read_inertial(const XmlElement& inertial, BodySpec& body) const {
    const P X = read_mjcf_pose(inertial, compiler_);
    const auto mass = inertial.number("mass");
    if (!mass || !(*mass >= 0.0) || std::isinf(*mass)) inertial.fail("has no good 'mass'", "a number that is not negative");
    M3 I = M3::Zero();
    if (const auto full = inertial.numbers("fullinertia", 6); !full.empty()) {
      I << full[0], full[3], full[4], full[3], full[1], full[5], full[4], full[5], full[2];
    } else if (const auto diagonal = inertial.vector("diaginertia")) {
      I = diagonal->asDiagonal();
    }
    if (!I.allFinite()) inertial.fail("has an inertia that is not finite");
    add_part(body, *mass, X, I);
  }

  void read_geom(const XmlElement& geom, const Parent& at, BodySpec* body) {
    static const std::vector<std::string> kOthers{"plane", "hfield", "sdf"};
    const std::string type = geom.get("type", geom.has("mesh") ? "mesh" : "sphere");
    if (std::ranges::find(kOthers, type) != kOthers.end()) {
      context_.notes.ignore(fmt::format("<geom> of type {}", type), geom.place());
      return;
    }
    P X = read_mjcf_pose(geom, compiler_);
    VisualSpec shape = type == "mesh" ? mesh_of(geom) : simple_shape(geom, type, X);
    X = at.X * X;
    shape.frame = frame_on(at.body, X, geom.place());
    shape.color = color_of(geom);
    const int group = static_cast<int>(geom.number("group", 0.0));
    if (body != nullptr && group >= compiler_.first_group && group <= compiler_.last_group) add_mass(geom, shape, X, *body);
    const bool is_shown = group < 3 && (!shape.color || (*shape.color)[3] > 0.0);  // as MuJoCo's viewer has it
    if (is_shown && make_drawable(shape, context_, geom.place())) spec_.visuals.push_back(std::move(shape));
  }

  /// With `fromto`, X is between its ends.
  static VisualSpec simple_shape(const XmlElement& geom, const std::string& type, P& X) {
    static const std::map<std::string, std::size_t> kSizes{
        {"sphere", 1}, {"capsule", 2}, {"cylinder", 2}, {"ellipsoid", 3}, {"box", 3}};
    const auto sizes = kSizes.find(type);
    if (sizes == kSizes.end())
      throw unknown_name(geom.place(), "geom type", type,
                         {"plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh"});
    VisualSpec shape;
    shape.shape = type;
    std::vector<double> size = geom.any_numbers("size");
    if (const auto ends = geom.numbers("fromto", 6); !ends.empty()) {
      if (type == "sphere") geom.fail("is a sphere with 'fromto'", "a capsule, cylinder, box or ellipsoid");
      const V3 from(ends[0], ends[1], ends[2]), to(ends[3], ends[4], ends[5]);
      if (from == to) geom.fail("has the same two points in 'fromto'");
      X = {Eigen::Quaterniond::FromTwoVectors(V3::UnitZ(), to - from).toRotationMatrix(), 0.5 * (from + to)};
      const double half = 0.5 * (to - from).norm();
      if (size.empty()) geom.fail("has no 'size'");
      size = sizes->second == 2 ? std::vector<double>{size[0], half} : std::vector<double>{size[0], size[0], half};
    }
    if (size.size() < sizes->second)
      geom.fail(fmt::format("has {} numbers in 'size'", size.size()), fmt::format("{}", sizes->second));
    for (std::size_t i = 0; i < sizes->second; ++i)
      if (!(size[i] > 0.0) || std::isinf(size[i])) geom.fail("has a 'size' that is not positive");
    shape.radius = size[0];
    if (sizes->second == 2) shape.length = 2.0 * size[1];
    if (type == "box") shape.size = 2.0 * V3(size[0], size[1], size[2]);
    if (type == "ellipsoid") shape.size = {size[0], size[1], size[2]};
    return shape;
  }

  VisualSpec mesh_of(const XmlElement& geom) const {
    VisualSpec shape;
    shape.shape = "mesh";
    shape.size = V3::Ones();
    const std::string name = geom.get("mesh", "");
    const auto known = meshes_.find(name);
    if (known == meshes_.end()) {
      context_.notes.hint(fmt::format("there is no mesh '{}'", name), geom.place());
      return shape;
    }
    shape.size = known->second->vector("scale", shape.size);
    shape.file = (fs::path(compiler_.mesh_folder) / known->second->get("file", "")).string();
    return shape;
  }

  std::optional<std::array<double, 4>> color_of(const XmlElement& geom) const {
    if (const auto rgba = read_color(geom.numbers("rgba", 4))) return rgba;
    const auto known = colors_.find(geom.get("material", ""));
    return known == colors_.end() ? std::nullopt : std::optional(known->second);
  }

  void read_assets() {
    for (const XmlElement* assets : mujoco_.all("asset")) {
      for (const XmlElement* material : assets->all("material")) {
        material->use_all();
        if (const auto rgba = read_color(material->numbers("rgba", 4))) colors_[material->get("name", "")] = *rgba;
      }
      for (const XmlElement* mesh : assets->all("mesh")) {
        mesh->use_all();
        meshes_[mesh->get("name", fs::path(mesh->get("file", "")).stem().string())] = mesh;
      }
    }
  }

  void add_mass(const XmlElement& geom, const VisualSpec& shape, const P& X, BodySpec& body) const {
    if (geom.get("shellinertia", "false") == "true") context_.notes.ignore("'shellinertia' of <geom>", geom.place());
    ShapeMass solid = shape.shape == "mesh" ? mesh_mass(shape, context_) : shape_mass(shape);
    const double density = geom.number("density", 1000.0), mass = geom.number("mass", density * solid.volume);
    if (!(mass >= 0.0) || std::isinf(mass)) geom.fail("has a mass that is negative or infinite");
    if (mass > 0.0 && solid.volume == 0.0)
      context_.notes.hint(fmt::format("the {:g} kg of a mesh that cannot be read are taken as a point", mass), geom.place());
    if (!geom.get("mass") && density > 0.0 && solid.volume == 0.0)
      context_.notes.hint(fmt::format("a mesh that cannot be read would tell what '{}' weighs", body.name), geom.place());
    if (mass > 0.0) add_part(body, mass, X * P{M3::Identity(), solid.com}, mass * solid.unit_inertia);
  }

  void read_site(const XmlElement& site, const Parent& at) {
    const auto name = site.get("name");
    if (!name || name->empty()) return;
    const P X = at.X * read_mjcf_pose(site, compiler_);
    names_.sites[*name] = {at.body, X};
    if (at.body == "ground") return;
    SensorSpec sensor;
    sensor.name = allowed_name(*name);
    sensor.type = "point";
    sensor.frame = frame_on(at.body, X, site.place());
    sensor.place = site.place();
    spec_.sensors.push_back(std::move(sensor));
  }

  /// As MuJoCo's compiler does it: principal moments that are too small are made larger, and those of no possible body equal.
  void mend_moments(M3& inertia) const {
    if (!(compiler_.bound_inertia > 0.0) && !compiler_.balance_inertia) return;
    const Eigen::SelfAdjointEigenSolver<M3> principal(inertia);
    const V3 moments = principal.eigenvalues().cwiseMax(compiler_.bound_inertia);  // ascending
    if (compiler_.balance_inertia && moments[0] + moments[1] < (1.0 - 1e-9) * moments[2]) {
      inertia = moments.mean() * M3::Identity();
    } else if (moments != principal.eigenvalues()) {
      const M3& axes = principal.eigenvectors();
      inertia = axes * moments.asDiagonal() * axes.transpose();
    }
  }

  void bound_masses() {
    double total = 0.0;
    for (BodySpec& body : spec_.bodies) {
      const bool is_own = body.mass > 0.0 || !body.inertia.isZero(0.0);
      if (!is_own) continue;
      body.mass = std::max(body.mass, compiler_.bound_mass);
      mend_moments(body.inertia);
      total += body.mass;
    }
    if (compiler_.total_mass <= 0.0 || total <= 0.0) return;
    for (BodySpec& body : spec_.bodies) body.mass *= compiler_.total_mass / total, body.inertia *= compiler_.total_mass / total;
  }

  const XmlElement& mujoco_;
  const ImportContext& context_;
  MjcfCompiler compiler_;
  Spec spec_;
  MjcfNames names_;
  std::set<std::string> body_names_, joint_names_;
  std::map<std::string, std::array<double, 4>> colors_;  // of materials
  std::map<std::string, const XmlElement*> meshes_;
  int unnamed_ = 0;
};

template <class Map>
std::vector<std::string> keys_of(const Map& map) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : map) keys.push_back(key);
  return keys;
}

}  // namespace

const MjcfNames::Joint& MjcfNames::joint(const std::string& name, const Place& place) const {
  const auto found = std::ranges::find(joints, allowed_name(name), &Joint::name);
  if (found != joints.end()) return *found;
  std::vector<std::string> known;
  for (const Joint& one : joints) known.push_back(one.name);
  throw unknown_name(place, "joint", name, known);
}

const MjcfNames::Frame& MjcfNames::body(const std::string& name, const Place& place) const {
  if (const auto found = bodies.find(name); found != bodies.end()) return found->second;
  throw unknown_name(place, "body", name, keys_of(bodies));
}

const MjcfNames::Frame& MjcfNames::site(const std::string& name, const Place& place) const {
  if (const auto found = sites.find(name); found != sites.end()) return found->second;
  throw unknown_name(place, "site", name, keys_of(sites));
}

Spec read_mjcf(XmlElement& mujoco, const ImportContext& context) {
  complete_mjcf(mujoco, context);
  return MjcfReader(mujoco, context).read();
}

}  // namespace linkwork
