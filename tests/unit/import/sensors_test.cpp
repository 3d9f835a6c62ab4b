#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "linkwork/import/robot_file.h"
#include "tests/support/recorded_run.h"

// Sensors, motors and bushings of robot files.

namespace linkwork {
namespace {

using test::RecordedRun;
using testing::Contains;
using testing::HasSubstr;

constexpr const char* kUrdf =
    R"(<robot name="r"><link name="base"/><link name="arm"><inertial><origin xyz="0.5 0 0"/><mass value="2"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/><limit lower="-3" upper="3" effort="10" velocity="1"/></joint>
<ros2_control name="c" type="system"><joint name="j"><command_interface name="effort"/></joint></ros2_control>
<gazebo reference="arm"><sensor name="box" type="imu"><pose>0.5 0 0 0 0 0</pose></sensor></gazebo>
<gazebo reference="j"><sensor name="ft" type="force_torque"/></gazebo></robot>)";

TEST(RobotSensors, OfUrdf) {
  Spec spec = read_robot_text(kUrdf, "r.urdf");
  ASSERT_EQ(spec.inputs.size(), 1U);
  EXPECT_EQ(spec.inputs[0].name, "j");
  EXPECT_THAT(spec.notes, Contains(HasSubstr("is in the columns force.j and torque.j")));
  spec.settings.end = 0.1;
  const RecordedRun run(spec);
  // It falls about y: the centre's acceleration is what the pin does not hold.
  const double a = run.rows.front()[run.column("a.j")];
  EXPECT_NEAR(run.rows.front()[run.column("imu.box.az")], 9.81 - 0.5 * a, 1e-9);
  EXPECT_NEAR(run.last("imu.box.wy"), run.last("v.j"), 1e-12);
}

TEST(RobotSensors, OfMjcf) {
  Spec spec = read_robot_text(
      R"(<mujoco><worldbody><body name="b"><joint name="j" axis="0 1 0"/><geom type="sphere" size="0.1" pos="0.5 0 0"/>
<site name="s" pos="0.5 0 0"/></body></worldbody><sensor><gyro site="s"/><accelerometer site="s"/><force name="f" site="s"/></sensor></mujoco>)",
      "m.xml");
  EXPECT_EQ(std::ranges::count(spec.sensors, "imu", &SensorSpec::type), 1);
  EXPECT_THAT(spec.notes, Contains(HasSubstr("is in the columns force.j")));
  spec.settings.end = 0.05;
  EXPECT_NEAR(RecordedRun(spec).rows.front()[RecordedRun(spec).column("imu.s_imu.wx")], 0.0, 1e-12);
}

std::string bushing_sdf(double stiffness) {
  return R"(<sdf version="1.9" xmlns:drake="d"><model name="m"><link name="a"><pose>0 0 0 0 0 0</pose><inertial><pose>0.5 0 0 0 0 0</pose><mass>2</mass>
<inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.2</izz></inertia></inertial></link><frame name="fa" attached_to="a"><pose>0 0 0 1.5707963267948966 0 0</pose></frame>
<frame name="fw"><pose relative_to="world">0 0 0 1.5707963267948966 0 0</pose></frame><frame name="top" attached_to="base"/>
<link name="base"><inertial><mass>1</mass></inertial></link><joint name="w" type="fixed"><parent>world</parent><child>base</child></joint>
<drake:linear_bushing_rpy><drake:bushing_frameA>top2</drake:bushing_frameA><drake:bushing_frameC>fa</drake:bushing_frameC>
<drake:bushing_torque_stiffness>)" +
         fmt::format(
             "{0} {0} 0</drake:bushing_torque_stiffness><drake:bushing_torque_damping>5 5 0</drake:bushing_torque_damping>"
             "<drake:bushing_force_stiffness>{0} {0} {0}</drake:bushing_force_stiffness><drake:bushing_force_damping>50 50 "
             "50</drake:bushing_force_damping></drake:linear_bushing_rpy>"
             "<frame name=\"top2\" attached_to=\"base\"><pose relative_to=\"base\">0 0 0 1.5707963267948966 0 0</pose></frame>"
             "</model></sdf>",
             stiffness);
}

TEST(RobotBushing, IsElasticAndAlmostAHingeIfStiff) {
  Spec spec = read_robot_text(bushing_sdf(2e5), "m.sdf");
  ASSERT_EQ(spec.forces.size(), 1U);
  EXPECT_EQ(spec.forces[0].type, "bushing");
  spec.settings.end = 0.4;
  spec.settings.step = 2e-4;
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed);
  // The centre falls on a circle about the hinge: the speed it has is that of a rigid pendulum, within the elasticity.
  const double x = run.last("q.a.x"), z = run.last("q.a.z");
  EXPECT_LT(std::hypot(x, z), 5e-3) << "it hardly leaves its place";
  EXPECT_LT(run.summary.energy_drift, 1e-4);
  const double pitch = run.last("v.a.wy");
  EXPECT_GT(std::abs(pitch), 3.0) << "and swings";
  Spec same = read_model_text(model_text(import_robot(bushing_sdf(2e5), "m.sdf"), "m.sdf"), "m.toml");
  same.settings.end = 0.4, same.settings.step = 2e-4;
  EXPECT_EQ(RecordedRun(same).rows, run.rows) << "the same once it is written";
}

TEST(RobotMotors, OfSdfAreJointsWithAnEffort) {
  const Spec spec =
      read_robot_text(R"(<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial></link>
<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz><limit><effort>12</effort></limit></axis></joint></model></sdf>)",
                      "m.sdf");
  ASSERT_EQ(spec.inputs.size(), 1U);
  EXPECT_EQ(spec.inputs[0].name, "j");
}

}  // namespace
}  // namespace linkwork
