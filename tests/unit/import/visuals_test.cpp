#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "linkwork/import/robot_file.h"
#include "linkwork/model/model.h"

namespace linkwork {
namespace {

using testing::Contains;
using testing::Each;
using testing::HasSubstr;
namespace fs = std::filesystem;
using V3 = Eigen::Vector3d;

/// A folder like that of a ROS package, with a cube of edge 2 as a mesh.
class RobotFolder : public testing::Test {
 protected:
  RobotFolder() {
    fs::create_directories(package_ / "urdf");
    fs::create_directories(package_ / "meshes");
    std::ofstream cube(package_ / "meshes/cube.obj");
    for (const int x : {-1, 1})
      for (const int y : {-1, 1})
        for (const int z : {-1, 1}) cube << "v " << x << ' ' << y << ' ' << z << '\n';
    cube << "f 1 2 4 3\nf 5 7 8 6\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n";
  }
  ~RobotFolder() override { fs::remove_all(package_.parent_path()); }

  Spec read(const std::string& text, const std::string& name, const ImportOptions& options = {}) const {
    return read_robot_text(text, (package_ / "urdf" / name).string(), options);
  }
  static std::string urdf(const std::string& visual) {
    return R"(<robot name="r"><material name="orange"><color rgba="1 0.5 0 1"/></material><link name="base"/><link name="arm">
<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial>)" +
           visual +
           R"(</link><joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>)";
  }
  static std::string mesh(const std::string& file) {
    return "<visual><geometry><mesh filename=\"" + file + "\"/></geometry></visual>";
  }

  fs::path package_ = fs::temp_directory_path() / "linkwork_robot_folder" / "my_robot";
};

TEST_F(RobotFolder, GivesTheVisualsOfAUrdfWithTheirColours) {
  const Spec spec = read(
      urdf(
          R"(<visual><origin xyz="1 2 3" rpy="0 0 1.5"/><geometry><box size="1 2 3"/></geometry><material name="orange"/></visual>
<visual><geometry><cylinder radius="0.1" length="0.5"/></geometry><material name=""><color rgba="0 1 0 0.5"/></material></visual>
<visual><geometry><sphere radius="0"/></geometry></visual>)"),
      "r.urdf");
  ASSERT_EQ(spec.visuals.size(), 2U);
  EXPECT_EQ(spec.visuals[0].frame.at, V3(1, 2, 3));
  EXPECT_EQ(spec.visuals[0].color, (std::array<double, 4>{1, 0.5, 0, 1}));
  EXPECT_EQ(spec.visuals[1].color, (std::array<double, 4>{0, 1, 0, 0.5}));
  EXPECT_EQ(spec.visuals[1].length, 0.5);
  EXPECT_THAT(spec.notes, Contains(HasSubstr("sphere without a size")));
}

TEST_F(RobotFolder, FindsMeshesHoweverTheyAreNamed) {
  for (const std::string& file :
       {std::string("package://my_robot/meshes/cube.obj"), std::string("model://my_robot/meshes/cube.obj"),
        std::string("../meshes/cube.obj"), "file://" + (package_ / "meshes/cube.obj").string()}) {
    const Spec spec = read(urdf(mesh(file)), "r.urdf");
    ASSERT_EQ(spec.visuals.size(), 1U) << file;
    EXPECT_TRUE(fs::exists(spec.visuals[0].file)) << spec.visuals[0].file;
  }
  ImportOptions options;
  options.packages["other"] = package_ / "meshes";
  EXPECT_EQ(read(urdf(mesh("package://other/cube.obj")), "r.urdf", options).visuals.size(), 1U);
}

TEST_F(RobotFolder, ListsMeshesThatAreNotThereOnce) {
  const Spec spec = read(urdf(mesh("package://my_robot/meshes/a.stl") + mesh("b.dae") + mesh("c.ply")), "r.urdf");
  EXPECT_TRUE(spec.visuals.empty());
  EXPECT_THAT(spec.notes, Contains(HasSubstr("ignored: 2 meshes that are not there, such as a.stl (first at line 2)")));
  EXPECT_THAT(spec.notes, Contains(HasSubstr("neither .stl nor .obj nor .dae")));
}

TEST_F(RobotFolder, WritesVisualsThatAreReadAgainFromAnotherFolder) {
  const fs::path file = package_ / "urdf" / "r.urdf";
  const ImportedRobot robot = import_robot(
      urdf(mesh("../meshes/cube.obj") + "<visual><geometry><sphere radius=\"0.5\"/></geometry></visual>"), file.string());
  const fs::path elsewhere = package_.parent_path() / "models" / "deep";
  const std::string text = model_text(robot, "r.urdf", elsewhere);
  EXPECT_THAT(text, HasSubstr("file = \"../../my_robot/meshes/cube.obj\""));
  const Spec spec = read_model_text(text, (elsewhere / "r.toml").string());
  ASSERT_EQ(spec.visuals.size(), 2U);
  EXPECT_TRUE(fs::exists(spec.visuals[0].file));
}

TEST_F(RobotFolder, ReadsVisualsOfSdf) {
  const Spec spec =
      read(R"(<sdf version="1.9"><model name="m"><link name="a"><pose>0 0 1 0 0 0</pose><inertial><mass>1</mass></inertial>
<visual name="v"><pose>0.1 0 0 0 0 0</pose><geometry><mesh><uri>model://my_robot/meshes/cube.obj</uri><scale>0.1 0.1 0.1</scale></mesh></geometry>
<material><diffuse>0 0 1 1</diffuse></material></visual>
<visual name="w"><geometry><ellipsoid><radii>1 2 3</radii></ellipsoid></geometry></visual></link>
<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>)",
           "m.sdf");
  ASSERT_EQ(spec.visuals.size(), 2U);
  EXPECT_EQ(spec.visuals[0].size, V3(0.1, 0.1, 0.1));
  EXPECT_EQ(spec.visuals[0].frame.at, V3(0.1, 0, 0));
  EXPECT_EQ(spec.visuals[0].color, (std::array<double, 4>{0, 0, 1, 1}));
  EXPECT_EQ(spec.visuals[1].size, V3(1, 2, 3));
}

TEST_F(RobotFolder, ReadsGeomsAndMassesOfMeshesOfMjcf) {
  const Spec spec =
      read(R"(<mujoco><compiler meshdir="../meshes" angle="radian"/><asset><mesh name="cube" file="cube.obj" scale="0.1 0.2 0.3"/>
<material name="red" rgba="1 0 0 1"/></asset><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 1"><joint name="j" axis="0 1 0"/>
<geom type="mesh" mesh="cube" pos="0.5 0 0" density="500" material="red"/><geom type="box" size="1 1 1" group="3" mass="0"/></body></worldbody></mujoco>)",
           "m.xml");
  ASSERT_EQ(spec.visuals.size(), 1U) << "group 3 is hidden";
  EXPECT_EQ(spec.visuals[0].color, (std::array<double, 4>{1, 0, 0, 1}));
  // A box of 0.2 x 0.4 x 0.6.
  const double mass = 500.0 * 0.2 * 0.4 * 0.6;
  ASSERT_EQ(spec.bodies.size(), 1U);
  EXPECT_NEAR(spec.bodies[0].mass, mass, 1e-12);
  EXPECT_TRUE(spec.bodies[0].com.isApprox(V3(0.5, 0, 0), 1e-12));
  EXPECT_TRUE(spec.bodies[0].inertia.diagonal().isApprox(mass / 12.0 * V3(0.52, 0.40, 0.20), 1e-12));
}

}  // namespace
}  // namespace linkwork
