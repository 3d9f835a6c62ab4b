#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>

#include "linkwork/import/readers.h"
#include "linkwork/import/robot_parts.h"

namespace linkwork {
namespace {

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

class LoopsReader {
 public:
  LoopsReader(const std::string& file, Spec& spec, const ImportContext& context) : file_(file), spec_(spec), context_(context) {}

  void read(const YAML::Node& root) {
    if (!root.IsDefined() || root.IsNull()) return;
    if (!root.IsMap()) throw InputError(place(root), "the file is no table", "closed_loop: [[frame, frame], ...] and the like");
    replace_joints(list(root, "joint_name"), list(root, "joint_type"));
    close_loops(list(root, "closed_loop"), list(root, "type"));
    for (const YAML::Node& motor : list(root, "name_mot")) {
      const JointSpec& joint = joint_named(text(motor), motor);
      const bool known = std::ranges::find(spec_.inputs, joint.name, &InputSpec::name) != spec_.inputs.end();
      if (known || (joint.type != "revolute" && joint.type != "prismatic")) continue;
      add_motor(spec_, joint.name, joint.name, 1.0, place(motor));
    }
    for (const auto& entry : root) {
      const std::string key = entry.first.IsScalar() ? entry.first.Scalar() : "?";
      const bool known =
          std::ranges::count(std::vector<std::string>{"closed_loop", "type", "name_mot", "joint_name", "joint_type"}, key) > 0;
      if (!known) context_.notes.hint(fmt::format("'{}' in {} is not used", key, file_));
    }
  }

 private:
  Place place(const YAML::Node& node) const { return {file_, node.Mark().line + 1, node.Mark().column + 1}; }

  std::vector<YAML::Node> list(const YAML::Node& root, const char* key) const {
    const YAML::Node node = root[key];
    if (!node.IsDefined() || node.IsNull()) return {};
    if (!node.IsSequence()) throw InputError(place(node), fmt::format("'{}' is no list", key), "[...]");
    return {node.begin(), node.end()};
  }

  std::string text(const YAML::Node& node) const {
    if (!node.IsScalar()) throw InputError(place(node), "there is no name here", "a name");
    return node.Scalar();
  }

  JointSpec& joint_named(const std::string& name, const YAML::Node& at) const {
    const auto found = std::ranges::find(spec_.joints, allowed_name(name), &JointSpec::name);
    if (found != spec_.joints.end()) return *found;
    std::vector<std::string> known;
    for (const JointSpec& joint : spec_.joints) known.push_back(joint.name);
    throw unknown_name(place(at), "joint", name, known);
  }

  /// A link, or the frame that a joint carries.
  FrameSpec frame_named(const YAML::Node& node) const {
    const std::string name = text(node);
    if (std::ranges::find(spec_.bodies, allowed_body_name(name), &BodySpec::name) != spec_.bodies.end())
      return frame_on(allowed_body_name(name), {}, place(node));
    const auto joint = std::ranges::find(spec_.joints, allowed_name(name), &JointSpec::name);
    if (joint != spec_.joints.end()) return frame_on(joint->child.body, pose_of(joint->child), place(node));
    std::vector<std::string> known;
    for (const BodySpec& body : spec_.bodies) known.push_back(body.name);
    throw unknown_name(place(node), "frame", name, known);
  }

  void replace_joints(const std::vector<YAML::Node>& names, const std::vector<YAML::Node>& types) const {
    if (names.size() != types.size())
      throw InputError({file_, 0, 0}, fmt::format("there are {} joint_name and {} joint_type", names.size(), types.size()),
                       "as many of one as of the other");
    for (std::size_t i = 0; i < names.size(); ++i) {
      JointSpec& joint = joint_named(text(names[i]), names[i]);
      set_type(joint, upper(text(types[i])), types[i]);
      joint.limits.reset();
      if (joint.type == "spherical") joint.friction = 0.0;
    }
  }

  void set_type(JointSpec& joint, const std::string& type, const YAML::Node& at) const {
    using V3 = Vec3<double>;
    const auto axis = [](char c) -> V3 { return V3::Unit(c == 'X' ? 0 : c == 'Y' ? 1 : 2); };
    const auto is_axis = [](char c) { return c == 'X' || c == 'Y' || c == 'Z'; };
    joint.axis2.reset();
    if (type == "SPHERICAL" || type == "BALL") {
      joint.type = "spherical";
    } else if (type == "FIXED") {
      joint.type = "weld";
      joint.damping = joint.friction = 0.0;
    } else if (type == "FREE" || type == "FREEFLYER") {
      joint.type = "free";
      joint.friction = 0.0;
    } else if (type == "REVOLUTE" || type == "PRISMATIC") {
      joint.type = type == "REVOLUTE" ? "revolute" : "prismatic";
    } else if (type.starts_with("UJOINT_") && type.size() == 9 && is_axis(type[7]) && is_axis(type[8]) && type[7] != type[8]) {
      joint.type = "universal";
      joint.axis = axis(type[7]);
      joint.axis2 = axis(type[8]);
    } else {
      throw unknown_name(place(at), "joint type", text(at),
                         {"SPHERICAL", "FIXED", "REVOLUTE", "PRISMATIC", "FREE", "UJOINT_XY", "UJOINT_XZ", "UJOINT_YX",
                          "UJOINT_YZ", "UJOINT_ZX", "UJOINT_ZY"});
    }
  }

  void close_loops(const std::vector<YAML::Node>& pairs, const std::vector<YAML::Node>& types) const {
    if (!types.empty() && types.size() != pairs.size())
      throw InputError(place(types.front()), fmt::format("there are {} closed_loop and {} type", pairs.size(), types.size()),
                       "as many of one as of the other");
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      if (!pairs[i].IsSequence() || pairs[i].size() != 2)
        throw InputError(place(pairs[i]), "a loop is no pair", "[frame, frame]");
      const std::string type = types.empty() ? "6D" : upper(text(types[i]));
      if (type != "6D" && type != "3D") throw unknown_name(place(types[i]), "type of loop", text(types[i]), {"3d", "6d"});
      ClosureSpec closure;
      closure.name = names_.free(fmt::format("loop{}", i + 1));
      closure.type = type == "6D" ? "weld" : "spherical";
      closure.a = frame_named(pairs[i][0]);
      closure.b = frame_named(pairs[i][1]);
      closure.place = place(pairs[i]);
      if (closure.a.body == closure.b.body) throw InputError(closure.place, "the loop joins a link to itself", "two links");
      spec_.closures.push_back(std::move(closure));
    }
  }

  const std::string& file_;
  Spec& spec_;
  const ImportContext& context_;
  mutable ConstraintNames names_{spec_};
};

}  // namespace

void apply_loops_file(std::string_view text, const std::string& file_name, Spec& spec, const ImportContext& context) {
  try {
    LoopsReader(file_name, spec, context).read(YAML::Load(std::string(text)));
  } catch (const YAML::Exception& error) {
    throw InputError({file_name, error.mark.line + 1, error.mark.column + 1}, "the YAML cannot be read: " + error.msg);
  }
}

}  // namespace linkwork
