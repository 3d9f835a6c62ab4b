#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "linkwork/import/robot_parts.h"
#include "linkwork/import/xml.h"

namespace linkwork {

/// The names of an SDF model, and where what they stand for is. Links, joints, frames and nested models are all frames; each has
/// a pose relative to another.
class SdfScope {
 public:
  /// Of the world (no parent), or of a model: `prefix` stands before the names of its links in the Spec.
  SdfScope(const SdfScope* parent, std::string prefix, const XmlElement& element);

  const XmlElement& element() const { return *element_; }
  const std::string& name() const { return name_; }
  const std::string& prefix() const { return prefix_; }
  /// Also before the names of models in it.
  void set_prefix(const std::string& prefix);
  bool is_world() const { return is_world_; }

  SdfScope& add_model(const XmlElement& model, const std::string& name, const XmlElement* pose_holder);
  const std::vector<std::unique_ptr<SdfScope>>& models() const { return models_; }

  /// Where a frame is in the world, as written.
  Pose<double> pose(const std::string& name, const Place& asked_at) const;
  Pose<double> model_pose() const;
  /// The body of the Spec that a frame is fixed to: "ground" for the world.
  std::string body(const std::string& name, const Place& asked_at) const;
  /// Of a <pose> in a link: relative to it unless it says otherwise.
  Pose<double> pose_in(const XmlElement& holder, const std::string& otherwise) const;
  std::string first_link() const;

 private:
  struct Frame {
    const XmlElement* element = nullptr;  // that has the <pose>
    std::string attached_to;              // of frames and joints
    bool is_link = false;
    mutable std::optional<Pose<double>> in_world = {};  // once it is known
  };
  struct Found {
    const SdfScope* scope;
    const Frame* frame;  // null: the model itself, or the world
  };

  Found find(const std::string& name, const Place& asked_at) const;
  Pose<double> pose_in_world(const std::string& name, const Place& asked_at, int depth) const;
  std::string body(const std::string& name, const Place& asked_at, int depth) const;

  const SdfScope* parent_;
  std::string prefix_;
  const XmlElement* element_;
  const XmlElement* pose_holder_ = nullptr;
  std::string name_;
  bool is_world_;
  std::map<std::string, Frame> frames_;
  std::vector<std::unique_ptr<SdfScope>> models_;
};

/// x y z roll pitch yaw, or with a quaternion (rotation_format="quat_xyzw"), or none.
Pose<double> read_sdf_pose(const XmlElement* pose);

}  // namespace linkwork
