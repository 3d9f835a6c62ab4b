#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "linkwork/import/mjcf.h"
#include "linkwork/spatial/unit.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using V3 = Vec3<double>;
using M3 = Mat3<double>;

constexpr std::size_t kDeepestInclude = 32, kMostIncluded = 1'000'000;

std::size_t count(const XmlElement& element) {
  std::size_t sum = 1;
  for (const XmlElement& child : element.children) sum += count(child);
  return sum;
}

class Includes {
 public:
  explicit Includes(const ImportContext& context) : context_(context), open_{context.file.lexically_normal()} {}

  void put_in(XmlElement& element) {
    for (std::size_t i = 0; i < element.children.size();) {
      if (element.children[i].name != "include") {
        put_in(element.children[i++]);
        continue;
      }
      const XmlElement include = element.children[i];
      std::vector<XmlElement> inside = contents(include);
      element.children.erase(element.children.begin() + static_cast<std::ptrdiff_t>(i));
      element.children.insert(element.children.begin() + static_cast<std::ptrdiff_t>(i), inside.begin(), inside.end());
      i += inside.size();
    }
  }

 private:
  std::vector<XmlElement> contents(const XmlElement& include) {
    const fs::path file = (context_.file.parent_path() / include.need_text("file")).lexically_normal();
    if (std::ranges::find(open_, file) != open_.end()) include.fail("includes a file that includes it: " + file.string());
    if (open_.size() >= kDeepestInclude) include.fail("is nested too deeply", fmt::format("at most {} files", kDeepestInclude));
    std::string text;
    try {
      text = context_.load(file);
    } catch (const InputError& error) {
      include.fail(fmt::format("names '{}': {}", file.string(), error.message()));
    }
    XmlElement root = parse_xml(text, file.string());
    if (root.name != "mujoco" && root.name != "mujocoinclude")
      throw InputError(root.place(), fmt::format("the root element is <{}>", root.name), "<mujoco> or <mujocoinclude>");
    elements_ += count(root);
    if (elements_ > kMostIncluded) include.fail("makes the model too large", fmt::format("at most {} elements", kMostIncluded));
    open_.push_back(file);
    put_in(root);
    open_.pop_back();
    return std::move(root.children);
  }

  const ImportContext& context_;
  std::vector<fs::path> open_;
  std::size_t elements_ = 0;
};

std::string written(const V3& v) { return fmt::format("{} {} {}", v.x(), v.y(), v.z()); }

class Copies {
 public:
  explicit Copies(const MjcfCompiler& compiler) : compiler_(compiler) {}

  void make(XmlElement& element) {
    for (std::size_t i = 0; i < element.children.size(); ++i) {
      make(element.children[i]);
      if (element.children[i].name != "replicate") continue;
      std::vector<XmlElement> frames = copies(element.children[i]);
      element.children.erase(element.children.begin() + static_cast<std::ptrdiff_t>(i));
      element.children.insert(element.children.begin() + static_cast<std::ptrdiff_t>(i), frames.begin(), frames.end());
      i += frames.size();
      --i;
    }
  }

 private:
  /// Each copy stands to the one before as the first would to the place of the element.
  std::vector<XmlElement> copies(const XmlElement& replicate) {
    const double written_count = replicate.number("count", 0.0);
    if (!(written_count >= 1.0) || written_count > 1e5 || written_count != std::floor(written_count))
      replicate.fail("has no good 'count'", "a whole number from 1 to 100000");
    const int number = static_cast<int>(written_count);
    elements_ += static_cast<std::size_t>(number) * count(replicate);
    if (elements_ > kMostIncluded) replicate.fail("makes too many elements", fmt::format("at most {}", kMostIncluded));
    const std::string separator = replicate.get("sep", "");
    Pose<double> step;
    step.p = replicate.vector("offset", V3::Zero());
    step.R = read_mjcf_orientation(replicate, compiler_);
    const auto digits = std::to_string(number - 1).size();
    Pose<double> X;
    std::vector<XmlElement> frames;
    for (int i = 0; i < number; ++i, X = X * step) {
      XmlElement frame = replicate;
      frame.name = "frame";
      const Eigen::Quaterniond q(X.R);
      frame.attributes = {{"pos", written(X.p), true}, {"quat", fmt::format("{} {} {} {}", q.w(), q.x(), q.y(), q.z()), true}};
      if (const auto childclass = replicate.get("childclass")) frame.attributes.push_back({"childclass", *childclass, true});
      const std::string suffix = fmt::format("{}{:0{}}", separator, i, digits);
      for (XmlElement& child : frame.children) rename(child, suffix);
      frames.push_back(std::move(frame));
    }
    return frames;
  }

  static void rename(XmlElement& element, const std::string& suffix) {
    for (XmlElement::Attribute& attribute : element.attributes)
      if (attribute.name == "name") attribute.value += suffix;
    for (XmlElement& child : element.children) rename(child, suffix);
  }

  const MjcfCompiler& compiler_;
  std::size_t elements_ = 0;
};

bool is_actuator(const std::string& tag) {
  static const std::set<std::string> kTags{"general", "motor",    "position", "velocity", "intvelocity",
                                           "damper",  "cylinder", "muscle",   "adhesion", "plugin"};
  return kTags.contains(tag);
}

/// The attributes that classes give to elements.
class Defaults {
 public:
  void read(const XmlElement& mujoco) {
    for (const XmlElement* section : mujoco.all("default")) read_class(*section, section->get("class", "main"), {});
  }

  void apply(XmlElement& element, const std::string& inherited) const {
    const std::string childclass = element.get("childclass").value_or(inherited);
    for (XmlElement& child : element.children) {
      if (child.name == "default") continue;
      const std::string of = child.get("class").value_or(childclass.empty() ? "main" : childclass);
      fill(child, of);
      apply(child, childclass);
    }
  }

 private:
  using Attributes = std::map<std::string, std::string>;
  using Class = std::map<std::string, Attributes>;  // by tag

  void read_class(const XmlElement& section, const std::string& name, Class values) {
    section.used = true;
    for (const XmlElement& child : section.children) {
      child.used = true;
      if (child.name == "default") continue;
      Attributes& of_tag = values[is_actuator(child.name) ? "general" : child.name];
      for (const XmlElement::Attribute& attribute : child.attributes) {
        attribute.used = true;
        of_tag[attribute.name] = attribute.value;
      }
    }
    classes_[name] = values;
    for (const XmlElement& child : section.children)
      if (child.name == "default") read_class(child, child.need_text("class"), values);
  }

  void fill(XmlElement& element, const std::string& name) const {
    const auto found = classes_.find(name);
    if (found == classes_.end()) {
      if (name == "main") return;
      std::vector<std::string> known;
      for (const auto& [one, values] : classes_) known.push_back(one);
      throw unknown_name(element.place(), "default class", name, known);
    }
    const auto values = found->second.find(is_actuator(element.name) ? "general" : element.name);
    if (values == found->second.end()) return;
    static const std::set<std::string> kTurns{"quat", "axisangle", "euler", "xyaxes", "zaxis"};
    const bool is_turned = std::ranges::any_of(element.attributes, [](const auto& a) { return kTurns.contains(a.name); });
    for (const auto& [attribute, value] : values->second)
      if (!element.has(attribute) && !(is_turned && kTurns.contains(attribute)))
        element.attributes.push_back({attribute, value, true});
  }

  std::map<std::string, Class> classes_;
};

M3 about_axis(int axis, double angle) { return Eigen::AngleAxisd(angle, V3::Unit(axis)).toRotationMatrix(); }

}  // namespace

double MjcfCompiler::angle(double written) const { return degrees ? written * std::numbers::pi / 180.0 : written; }

MjcfCompiler read_mjcf_compiler(const XmlElement& mujoco) {
  MjcfCompiler compiler;
  for (const XmlElement* element : mujoco.all("compiler")) {
    if (const auto angle = element->get("angle")) {
      if (*angle != "degree" && *angle != "radian") throw unknown_name(element->place(), "angle", *angle, {"degree", "radian"});
      compiler.degrees = *angle == "degree";
    }
    if (element->get("coordinate", "local") != "local")
      element->fail("has global coordinates, which MuJoCo gave up", "local ones");
    compiler.autolimits = element->boolean("autolimits").value_or(compiler.autolimits);
    compiler.eulerseq = element->get("eulerseq", compiler.eulerseq);
    const bool fits = compiler.eulerseq.size() == 3 && compiler.eulerseq.find_first_not_of("xyzXYZ") == std::string::npos;
    if (!fits) element->fail(fmt::format("has the eulerseq '{}'", compiler.eulerseq), "three of x, y, z, X, Y, Z");
    compiler.inertia_from_geom = element->get("inertiafromgeom", compiler.inertia_from_geom);
    compiler.bound_mass = element->number("boundmass", compiler.bound_mass);
    compiler.bound_inertia = element->number("boundinertia", compiler.bound_inertia);
    if (const auto balance = element->get("balanceinertia")) compiler.balance_inertia = *balance == "true";
    compiler.total_mass = element->number("settotalmass", compiler.total_mass);
    if (const auto range = element->numbers("inertiagrouprange", 2); !range.empty())
      compiler.first_group = static_cast<int>(range[0]), compiler.last_group = static_cast<int>(range[1]);
    compiler.mesh_folder = element->get("meshdir", element->get("assetdir", compiler.mesh_folder));
    for (const char* of_drawing : {"texturedir", "strippath", "discardvisual", "convexhull", "usethread", "fusestatic",
                                   "exactmeshinertia", "alignfree", "saveinertial"})
      element->get(of_drawing);
  }
  return compiler;
}

M3 read_mjcf_orientation(const XmlElement& element, const MjcfCompiler& compiler) {
  const auto need_length = [&](const V3& v, const char* key) {
    if (v.isZero(0.0)) element.fail(fmt::format("has a zero vector in '{}'", key));
    return unit<3>(v);
  };
  if (element.has("quat")) {
    const std::vector<double> q = element.numbers("quat", 4);
    const Eigen::Vector4d wxyz(q[0], q[1], q[2], q[3]);
    if (wxyz.isZero(0.0) || !wxyz.allFinite()) element.fail("has a quaternion that is zero");
    return quaternion_rotation(wxyz);
  }
  if (element.has("axisangle")) {
    const std::vector<double> a = element.numbers("axisangle", 4);
    return Eigen::AngleAxisd(compiler.angle(a[3]), need_length({a[0], a[1], a[2]}, "axisangle")).toRotationMatrix();
  }
  if (element.has("euler")) {  // small letters: about axes that turn along; capitals: about those of the parent
    const std::vector<double> angles = element.numbers("euler", 3);
    M3 R = M3::Identity();
    for (std::size_t i = 0; i < 3; ++i) {
      const char c = compiler.eulerseq[i];
      const bool fixed = c < 'a';
      const M3 turn = about_axis((fixed ? c - 'X' : c - 'x'), compiler.angle(angles[i]));
      R = fixed ? M3(turn * R) : M3(R * turn);
    }
    return R;
  }
  if (element.has("xyaxes")) {
    const std::vector<double> n = element.numbers("xyaxes", 6);
    const V3 x = need_length({n[0], n[1], n[2]}, "xyaxes");
    V3 y(n[3], n[4], n[5]);
    y = need_length(y - x.dot(y) * x, "xyaxes");
    M3 R;
    R << x, y, x.cross(y);
    return R;
  }
  if (element.has("zaxis")) {
    const std::vector<double> n = element.numbers("zaxis", 3);
    return Eigen::Quaterniond::FromTwoVectors(V3::UnitZ(), need_length({n[0], n[1], n[2]}, "zaxis")).toRotationMatrix();
  }
  return M3::Identity();
}

Pose<double> read_mjcf_pose(const XmlElement& element, const MjcfCompiler& compiler) {
  return {read_mjcf_orientation(element, compiler), element.vector("pos", V3::Zero())};
}

void complete_mjcf(XmlElement& mujoco, const ImportContext& context) {
  Includes(context).put_in(mujoco);
  Copies(read_mjcf_compiler(mujoco)).make(mujoco);
  Defaults defaults;
  defaults.read(mujoco);
  for (XmlElement& section : mujoco.children)
    if (section.name != "default") defaults.apply(section, "");
}

}  // namespace linkwork
