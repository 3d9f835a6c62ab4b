#include <fmt/format.h>

#include <algorithm>

#include "linkwork/import/mjcf.h"

namespace linkwork {
namespace {

/// The forces that act along joint coordinates: actuators, and springs and dampers of tendons.
class ActuationReader {
 public:
  ActuationReader(const XmlElement& mujoco, const MjcfNames& names, const ImportContext& context, Spec& spec)
      : mujoco_(mujoco), names_(names), tendons_(read_mjcf_tendons(mujoco, names)), context_(context), spec_(spec) {}

  void read() {
    for (const XmlElement* section : mujoco_.all("tendon"))
      for (const XmlElement* tendon : section->all("fixed")) read_tendon_forces(*tendon);
    for (const XmlElement* section : mujoco_.all("actuator"))
      for (const XmlElement& actuator : section->children) read_actuator(actuator);
    for (const XmlElement* section : mujoco_.all("sensor")) read_sensors(*section);
    for (const XmlElement* section : mujoco_.all("keyframe")) read_keyframes(*section);
  }

 private:
  /// What something acts along: a sum of joint coordinates.
  struct Path {
    std::vector<std::string> joints;
    std::vector<double> coefficients;
    std::string sum(const char* prefix, double scale) const {
      std::string text;
      for (std::size_t i = 0; i < joints.size(); ++i)
        text += fmt::format("{}({})*{}", i == 0 ? "" : " + ", scale * coefficients[i], variable(prefix, joints[i]));
      return "(" + text + ")";
    }
  };

  /// A scalar force along a path, as one on each of its joints.
  void push_along(const Path& path, const std::string& force, double gear, const std::string& name, const Place& place) {
    for (std::size_t i = 0; i < path.joints.size(); ++i) {
      const auto joint = std::ranges::find(spec_.joints, path.joints[i], &JointSpec::name);
      ForceSpec one;
      one.name = free_force_name(path.joints.size() == 1 ? name : fmt::format("{}_{}", name, path.joints[i]));
      one.type = joint != spec_.joints.end() && !turns(*joint) ? "force" : "torque";
      one.joint = path.joints[i];
      const double factor = gear * path.coefficients[i];
      one.value = expression(factor == 1.0 ? force : fmt::format("({})*({})", factor, force), place);
      one.place = place;
      spec_.forces.push_back(std::move(one));
    }
  }

  std::string free_force_name(std::string name) const {
    while (std::ranges::find(spec_.forces, name, &ForceSpec::name) != spec_.forces.end()) name += "_";
    return name;
  }

  void read_tendon_forces(const XmlElement& tendon) {
    const auto found = tendons_.find(tendon.get("name", ""));
    if (found == tendons_.end()) return;
    const auto first = [&](const char* key) {
      const std::vector<double> n = tendon.any_numbers(key);
      return n.empty() ? 0.0 : n[0];
    };
    const double stiffness = first("stiffness"), damping = first("damping");
    if (stiffness == 0.0 && damping == 0.0) return;
    const std::vector<double> spring = tendon.any_numbers("springlength");
    const double rest = spring.empty() || spring[0] < 0.0 ? found->second.rest : spring[0];
    const Path path{found->second.joints, found->second.coefficients};
    push_along(path, fmt::format("-({})*({} - ({})) - ({})*{}", stiffness, path.sum("q", 1.0), rest, damping, path.sum("v", 1.0)),
               1.0, allowed_name(found->first), tendon.place());
  }

  bool find_path(const XmlElement& actuator, Path& path) const {
    if (const auto joint = actuator.get("joint")) {
      const MjcfNames::Joint& known = names_.joint(*joint, actuator.place());
      if (known.type != "hinge" && known.type != "slide") return false;
      path = {{known.name}, {1.0}};
      return true;
    }
    if (const auto tendon = actuator.get("tendon")) {
      const auto known = tendons_.find(*tendon);
      if (known == tendons_.end()) return false;
      path = {known->second.joints, known->second.coefficients};
      return true;
    }
    return false;
  }

  /// force = gain * u + bias0 + bias1 * length + bias2 * velocity, where the length is the gear ratio times the coordinate.
  struct Law {
    double gain = 1.0, bias0 = 0.0, bias1 = 0.0, bias2 = 0.0;
    bool known = true;
  };

  static Law law_of(const XmlElement& actuator) {
    Law law;
    const std::string& kind = actuator.name;
    if (kind == "motor") return law;
    if (kind == "position") {
      law.gain = actuator.number("kp", 1.0);
      law.bias1 = -law.gain;
      law.bias2 = -actuator.number("kv", 0.0);
      if (actuator.has("dampratio") || actuator.has("timeconst")) law.known = false;
    } else if (kind == "velocity") {
      law.gain = actuator.number("kv", 1.0);
      law.bias2 = -law.gain;
    } else if (kind == "general") {
      const auto parameters = [&](const char* key, std::vector<double> usual) {
        std::vector<double> n = actuator.any_numbers(key);
        if (n.empty()) n = std::move(usual);
        n.resize(std::max<std::size_t>(n.size(), 3), 0.0);
        return n;
      };
      const std::vector<double> gain = parameters("gainprm", {1.0}), bias = parameters("biasprm", {0.0});
      const std::string gain_type = actuator.get("gaintype", "fixed"), bias_type = actuator.get("biastype", "none");
      law.known =
          gain_type == "fixed" && (bias_type == "none" || bias_type == "affine") && actuator.get("dyntype", "none") == "none";
      law.gain = gain[0];
      if (bias_type == "affine") law.bias0 = bias[0], law.bias1 = bias[1], law.bias2 = bias[2];
    } else {
      law.known = false;
    }
    return law;
  }

  void read_actuator(const XmlElement& actuator) {
    Path path;
    const Law law = law_of(actuator);
    const bool takes = law.known && find_path(actuator, path);
    if (!takes) {
      actuator.use_all();
      inputs_.emplace_back();
      context_.notes.ignore(fmt::format("<{}> of another kind than a linear one on a joint or fixed tendon", actuator.name),
                            actuator.place());
      return;
    }
    actuator.used = true;
    actuator.get("class"), actuator.get("group");
    std::string name = allowed_name(actuator.get("name", ""));
    if (name.empty()) name = path.joints[0];
    while (std::ranges::find(spec_.inputs, name, &InputSpec::name) != spec_.inputs.end()) name += "_";
    inputs_.push_back(name);
    const std::vector<double> gears = actuator.any_numbers("gear");
    const double gear = gears.empty() ? 1.0 : gears[0];
    std::string u = variable("u", name);
    if (const auto range = limits(actuator, "ctrlrange", "ctrllimited"))
      u = fmt::format("clamp({}, {}, {})", u, (*range)[0], (*range)[1]);
    std::string force = law.gain == 1.0 ? u : fmt::format("({})*{}", law.gain, u);
    if (law.bias0 != 0.0) force += fmt::format(" + ({})", law.bias0);
    if (law.bias1 != 0.0) force += fmt::format(" + ({})*{}", law.bias1, path.sum("q", gear));
    if (law.bias2 != 0.0) force += fmt::format(" + ({})*{}", law.bias2, path.sum("v", gear));
    if (const auto range = limits(actuator, "forcerange", "forcelimited"))
      force = fmt::format("clamp({}, {}, {})", force, (*range)[0], (*range)[1]);
    spec_.inputs.push_back({name, Expression::constant(0.0), nullptr, false, actuator.place()});
    push_along(path, force, gear, name, actuator.place());
  }

  static std::optional<std::array<double, 2>> limits(const XmlElement& actuator, const char* range, const char* limited) {
    const std::vector<double> n = actuator.numbers(range, 2);
    const std::string asked = actuator.get(limited, "auto");
    if (n.empty() || asked == "false" || !(n[0] < n[1])) return {};
    return std::array{n[0], n[1]};
  }

  /// Positions of frames, and what inertial sensors show; what else has a meaning here is in the output anyway.
  void read_sensors(const XmlElement& section) {
    static const std::vector<std::string> kInOutput{"jointpos",    "jointvel", "actuatorpos", "actuatorvel",
                                                    "actuatorfrc", "ballquat", "ballangvel"};
    for (const XmlElement& element : section.children) {
      if (std::ranges::find(kInOutput, element.name) != kInOutput.end()) {
        element.use_all();
      } else if (element.name == "gyro" || element.name == "accelerometer") {
        element.use_all();
        add_imu(element);
      } else if (element.name == "force" || element.name == "torque") {
        element.use_all();
        note_load(element);
      } else if (element.name == "framepos") {
        read_frame_position(element);
      }
    }
  }

  void read_frame_position(const XmlElement& element) {
    const std::string type = element.get("objtype", ""), object = element.get("objname", "");
    if (type != "body" && type != "xbody" && type != "site") return;
    element.use_all();
    if (type == "site") return;  // every site is one already
    const MjcfNames::Frame& frame = names_.body(object, element.place());
    if (frame.body == "ground") return;
    SensorSpec& sensor = add_sensor(element.get("name", object), "point", frame, element);
    if (type != "body") return;  // else it is its centre of mass
    const auto body = std::ranges::find(spec_.bodies, frame.body, &BodySpec::name);
    if (body != spec_.bodies.end()) sensor.frame.at = body->com;
  }

  SensorSpec& add_sensor(const std::string& name, const char* type, const MjcfNames::Frame& frame, const XmlElement& element) {
    SensorSpec sensor;
    sensor.name = allowed_name(name);
    while (std::ranges::find(spec_.sensors, sensor.name, &SensorSpec::name) != spec_.sensors.end()) sensor.name += "_";
    sensor.type = type;
    sensor.place = element.place();
    sensor.frame = frame_on(frame.body, frame.X, element.place());
    spec_.sensors.push_back(std::move(sensor));
    return spec_.sensors.back();
  }

  /// One for the gyroscope and the accelerometer of a site.
  void add_imu(const XmlElement& element) {
    const std::string site = element.need_text("site");
    const MjcfNames::Frame& frame = names_.site(site, element.place());
    if (std::ranges::find(imus_, site) != imus_.end() || frame.body == "ground") return;
    imus_.push_back(site);
    add_sensor(site + "_imu", "imu", frame, element);
  }

  /// What passes between a body and the one it hangs on.
  void note_load(const XmlElement& element) {
    const MjcfNames::Frame& frame = names_.site(element.need_text("site"), element.place());
    for (const JointSpec& joint : spec_.joints)
      if (joint.child.body == frame.body && joint.type != "weld")
        context_.notes.hint(
            fmt::format("{} is in the columns {}.{}, in world axes", element.described(), element.name, joint.name),
            element.place());
  }

  /// The first one is the start.
  void read_keyframes(const XmlElement& section) {
    bool first = keys_ == 0;
    for (const XmlElement* key : section.all("key")) {
      ++keys_;
      key->use_all();
      if (!first) {
        context_.notes.ignore("<key> beside the first", key->place());
        continue;
      }
      first = false;
      set_coordinates(key->any_numbers("qpos"), true, *key);
      set_coordinates(key->any_numbers("qvel"), false, *key);
      const std::vector<double> ctrl = key->any_numbers("ctrl");
      for (std::size_t i = 0; i < ctrl.size() && i < inputs_.size(); ++i)
        if (const auto input = std::ranges::find(spec_.inputs, inputs_[i], &InputSpec::name); input != spec_.inputs.end())
          input->value = Expression::constant(ctrl[i]);
      context_.notes.hint(fmt::format("the start is that of {}", key->described()), key->place());
    }
  }

  void set_coordinates(const std::vector<double>& values, bool positions, const XmlElement& key) {
    if (values.empty()) return;
    std::size_t at = 0;
    for (const MjcfNames::Joint& joint : names_.joints) {
      const std::size_t count = joint.type == "free" ? (positions ? 7 : 6) : joint.type == "ball" ? (positions ? 4 : 3) : 1;
      if (at + count > values.size()) break;
      const std::vector<double> own(values.begin() + static_cast<std::ptrdiff_t>(at),
                                    values.begin() + static_cast<std::ptrdiff_t>(at + count));
      at += count;
      if (joint.index >= spec_.joints.size()) continue;
      (positions ? spec_.joints[joint.index].position : spec_.joints[joint.index].velocity) = own;
    }
    std::size_t needed = 0;
    for (const MjcfNames::Joint& joint : names_.joints)
      needed += joint.type == "free" ? (positions ? 7U : 6U) : joint.type == "ball" ? (positions ? 4U : 3U) : 1U;
    if (needed != values.size())
      key.fail(fmt::format("has {} numbers in '{}'", values.size(), positions ? "qpos" : "qvel"), fmt::format("{}", needed));
  }

  const XmlElement& mujoco_;
  const MjcfNames& names_;
  std::map<std::string, MjcfTendon> tendons_;
  const ImportContext& context_;
  Spec& spec_;
  std::vector<std::string> inputs_;  // by actuator; empty: it was not taken over
  std::vector<std::string> imus_;    // sites that have one
  int keys_ = 0;
};

}  // namespace

std::map<std::string, MjcfTendon> read_mjcf_tendons(const XmlElement& mujoco, const MjcfNames& names) {
  std::map<std::string, MjcfTendon> tendons;
  for (const XmlElement* section : mujoco.all("tendon"))
    for (const XmlElement* element : section->all("fixed")) {
      MjcfTendon tendon;
      for (const XmlElement* part : element->all("joint")) {
        const MjcfNames::Joint& joint = names.joint(part->need_text("joint"), part->place());
        if (joint.type != "hinge" && joint.type != "slide")
          part->fail(fmt::format("names the {} joint '{}'", joint.type, joint.name), "hinges and slides");
        tendon.joints.push_back(joint.name);
        tendon.coefficients.push_back(part->number("coef", 1.0));
        tendon.rest += tendon.coefficients.back() * joint.ref;
      }
      if (!tendon.joints.empty()) tendons[element->get("name", "")] = std::move(tendon);
    }
  return tendons;
}

void read_mjcf_actuation(const XmlElement& mujoco, const MjcfNames& names, const ImportContext& context, Spec& spec) {
  ActuationReader(mujoco, names, context, spec).read();
}

}  // namespace linkwork
