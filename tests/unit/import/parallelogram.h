#pragma once

#include <fmt/format.h>

#include <cmath>
#include <numbers>
#include <random>
#include <string>

namespace linkwork::test {

/// A coupler on two equal cranks that hang from the ground and swing in the x-z plane: it is moved without turning, so the whole
/// is a pendulum. Written out of its rest position by `tilt`, in the ways in which robot files write loops.
struct Parallelogram {
  double crank = 0.5, base = 0.8, tilt = 0.4;          // m, m, rad
  double crank_mass = 1.5, coupler_mass = 2.0;         // kg
  double crank_inertia = 0.04, coupler_inertia = 0.1;  // about y at the centre of mass, which is the middle
  static constexpr double kGravity = 9.81;

  static Parallelogram random(std::mt19937& random) {
    const auto between = [&](double low, double high) {
      return low + (high - low) * static_cast<double>(random()) / static_cast<double>(std::mt19937::max());
    };
    return {between(0.2, 1.0), between(0.3, 1.2),  between(0.2, 0.9), between(0.5, 3.0),
            between(0.5, 5.0), between(0.01, 0.1), between(0.02, 0.2)};
  }

  /// Of a full swing to and fro.
  double period() const {
    const double inertia = 2.0 * (crank_inertia + 0.25 * crank_mass * crank * crank) + coupler_mass * crank * crank;
    const double moment = (crank_mass + coupler_mass) * crank * kGravity;
    return 4.0 * std::sqrt(inertia / moment) * std::comp_ellint_1(std::sin(0.5 * tilt));
  }

  std::string inertial(double mass, double inertia, const std::string& at) const {
    return fmt::format(
        R"(<inertial><origin xyz="{}"/><mass value="{}"/><inertia ixx="{}" iyy="{}" izz="{}" ixy="0" ixz="0" iyz="0"/></inertial>)",
        at, mass, inertia, inertia, inertia);
  }

  std::string urdf_tree() const {
    return fmt::format(R"(<robot name="parallelogram">
  <link name="base"/>
  <link name="left">{0}</link>
  <link name="right">{0}</link>
  <link name="coupler">{1}</link>
  <joint name="a" type="continuous"><parent link="base"/><child link="left"/><origin rpy="0 {4} 0"/><axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous"><parent link="left"/><child link="coupler"/><origin xyz="0 0 {3}" rpy="0 {5} 0"/><axis xyz="0 1 0"/></joint>
  <joint name="d" type="continuous"><parent link="base"/><child link="right"/><origin xyz="{2} 0 0" rpy="0 {4} 0"/><axis xyz="0 1 0"/></joint>
)",
                       inertial(crank_mass, crank_inertia, fmt::format("0 0 {}", -0.5 * crank)),
                       inertial(coupler_mass, coupler_inertia, fmt::format("{} 0 0", 0.5 * base)), base, -crank, tilt, -tilt);
  }

  std::string urdf_plus() const {
    return urdf_tree() + fmt::format(R"(  <loop name="c" type="revolute">
    <predecessor link="coupler"><origin xyz="{} 0 0"/></predecessor>
    <successor link="right"><origin xyz="0 0 {}" rpy="0 {} 0"/></successor>
    <axis xyz="0 1 0"/>
  </loop>
</robot>
)",
                                     base, -crank, -tilt);
  }

  /// With frames for the loops file.
  std::string urdf_frames() const {
    return urdf_tree() + fmt::format(R"(  <link name="tip_coupler"/>
  <link name="tip_right"/>
  <joint name="f1" type="fixed"><parent link="coupler"/><child link="tip_coupler"/><origin xyz="{} 0 0"/></joint>
  <joint name="f2" type="fixed"><parent link="right"/><child link="tip_right"/><origin xyz="0 0 {}"/></joint>
</robot>
)",
                                     base, -crank);
  }
  static std::string loops_yaml() { return "closed_loop: [['tip_coupler', 'tip_right']]\ntype: ['3D']\nname_mot: ['a']\n"; }

  std::string sdf() const {
    const double x = -crank * std::sin(tilt), z = -crank * std::cos(tilt);
    const auto link = [&](const char* name, const std::string& pose, double mass, double inertia, const std::string& com) {
      return fmt::format(R"(    <link name="{}"><pose>{}</pose><inertial><pose>{} 0 0 0</pose><mass>{}</mass>
      <inertia><ixx>{}</ixx><iyy>{}</iyy><izz>{}</izz></inertia></inertial></link>
)",
                         name, pose, com, mass, inertia, inertia, inertia);
    };
    const auto joint = [](const char* name, const char* parent, const char* child, const std::string& pose) {
      return fmt::format(
          R"(    <joint name="{}" type="revolute"><parent>{}</parent><child>{}</child>{}<axis><xyz>0 1 0</xyz></axis></joint>
)",
          name, parent, child, pose);
    };
    return "<sdf version=\"1.7\">\n  <model name=\"parallelogram\">\n" +
           link("left", fmt::format("0 0 0 0 {} 0", tilt), crank_mass, crank_inertia, fmt::format("0 0 {}", -0.5 * crank)) +
           link("right", fmt::format("{} 0 0 0 {} 0", base, tilt), crank_mass, crank_inertia,
                fmt::format("0 0 {}", -0.5 * crank)) +
           link("coupler", fmt::format("{} 0 {} 0 0 0", x, z), coupler_mass, coupler_inertia, fmt::format("{} 0 0", 0.5 * base)) +
           joint("a", "world", "left", "") + joint("b", "left", "coupler", "") + joint("d", "world", "right", "") +
           joint("c", "right", "coupler", fmt::format("<pose>{} 0 0 0 0 0</pose>", base)) + "  </model>\n</sdf>\n";
  }

  std::string mjcf() const {
    return fmt::format(R"(<mujoco model="parallelogram">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.81"/>
  <default><joint axis="0 1 0"/></default>
  <worldbody>
    <body name="left" euler="0 {4} 0">
      <joint name="a"/>
      <inertial pos="0 0 {6}" mass="{0}" diaginertia="{1} {1} {1}"/>
      <body name="coupler" pos="0 0 {3}" euler="0 {5} 0">
        <joint name="b"/>
        <inertial pos="{7} 0 0" mass="{8}" diaginertia="{9} {9} {9}"/>
      </body>
    </body>
    <body name="right" pos="{2} 0 0" euler="0 {4} 0">
      <joint name="d"/>
      <inertial pos="0 0 {6}" mass="{0}" diaginertia="{1} {1} {1}"/>
    </body>
  </worldbody>
  <equality><connect name="c" body1="coupler" body2="right" anchor="{2} 0 0"/></equality>
</mujoco>
)",
                       crank_mass, crank_inertia, base, -crank, tilt, -tilt, -0.5 * crank, 0.5 * base, coupler_mass,
                       coupler_inertia);
  }
};

}  // namespace linkwork::test
