#pragma once

#include <map>
#include <string>
#include <vector>

#include "linkwork/import/readers.h"
#include "linkwork/import/robot_parts.h"

// The parts of read_mjcf(), in their order.

namespace linkwork {

/// How angles and frames are written.
struct MjcfCompiler {
  bool degrees = true;
  bool autolimits = true;
  bool balance_inertia = false;
  std::string eulerseq = "xyz";
  std::string inertia_from_geom = "auto";
  double bound_mass = 0.0, bound_inertia = 0.0, total_mass = -1.0;
  int first_group = 0, last_group = 5;  // of geoms that have mass
  std::string mesh_folder;

  double angle(double written) const;
};
MjcfCompiler read_mjcf_compiler(const XmlElement& mujoco);

/// quat, axisangle, euler, xyaxes or zaxis; none: no rotation.
Mat3<double> read_mjcf_orientation(const XmlElement& element, const MjcfCompiler& compiler);
Pose<double> read_mjcf_pose(const XmlElement& element, const MjcfCompiler& compiler);

/// Puts included files in, and copies for <replicate>, which become frames; then gives every element the attributes that its
/// default classes have for it.
void complete_mjcf(XmlElement& mujoco, const ImportContext& context);

/// What the sections after the bodies refer to.
struct MjcfNames {
  struct Joint {
    std::string name;  // in the Spec
    std::string type;  // hinge, slide, ball, free
    double ref = 0.0;
    std::size_t index = 0;  // of Spec::joints; beyond them: it was left out
  };
  struct Frame {
    std::string body;
    Pose<double> X;  // in the body
  };
  std::vector<Joint> joints;               // in MuJoCo's order
  std::map<std::string, Frame> bodies;     // by the name in the file
  std::map<std::string, Frame> sites;      // likewise
  std::map<std::string, Pose<double>> at;  // by body of the Spec: where it is in the world as written

  const Joint& joint(const std::string& name, const Place& place) const;
  const Frame& body(const std::string& name, const Place& place) const;
  const Frame& site(const std::string& name, const Place& place) const;
};

void read_mjcf_equalities(const XmlElement& mujoco, const MjcfNames& names, const ImportContext& context, Spec& spec);
/// Tendons that are sums of joint coordinates, actuators, sensors, and the first keyframe.
void read_mjcf_actuation(const XmlElement& mujoco, const MjcfNames& names, const ImportContext& context, Spec& spec);

/// A tendon that is a sum of joint coordinates.
struct MjcfTendon {
  std::vector<std::string> joints;
  std::vector<double> coefficients;
  double rest = 0.0;  // its length as written
};
std::map<std::string, MjcfTendon> read_mjcf_tendons(const XmlElement& mujoco, const MjcfNames& names);

}  // namespace linkwork
