#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "linkwork/import/robot_file.h"
#include "linkwork/model/model.h"
#include "linkwork/simulation/check.h"

namespace linkwork {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr const char* kInertial =
    R"(<inertial><origin xyz="0.1 0 0"/><mass value="1"/><inertia ixx="0.01" iyy="0.02" izz="0.02"/></inertial>)";

/// Links on a base, each on a revolute joint about z at its place, and what else there is.
std::string robot(const std::string& rest, const std::string& base = "") {
  std::string text = "<robot name=\"r\"><link name=\"base\">" + base + "</link>\n";
  for (const char* name : {"one", "two"}) text += std::string("<link name=\"") + name + "\">" + kInertial + "</link>\n";
  text +=
      R"(<joint name="j1" type="revolute"><parent link="base"/><child link="one"/><axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="3" velocity="4"/></joint>
<joint name="j2" type="prismatic"><parent link="base"/><child link="two"/><origin xyz="0.5 0 0"/><axis xyz="0 1 0"/><dynamics damping="0.3" friction="0.1"/></joint>
)";
  return text + rest + "</robot>";
}

Spec read_urdf(const std::string& text, const ImportOptions& options = {}) {
  ReadOptions reading;
  reading.load = [](const std::filesystem::path& file) -> std::string {
    throw InputError({file.string(), 0, 0}, "is not there");
  };
  return read_robot_text(text, "r.urdf", options, reading);
}

Spec read_with(const std::string& text, const std::string& yaml) {
  ReadOptions reading;
  reading.load = [&](const std::filesystem::path&) { return yaml; };
  return read_robot_text(text, "r.urdf", {}, reading);
}

std::string urdf_trouble(const std::string& text) {
  try {
    read_urdf(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const JointSpec& urdf_joint(const Spec& spec, const std::string& name) {
  return *std::ranges::find(spec.joints, name, &JointSpec::name);
}

TEST(Urdf, TakesJointsWithLimitsDampingAndAxes) {
  const Spec spec = read_urdf(robot(""));
  ASSERT_EQ(spec.joints.size(), 2U);
  EXPECT_EQ(urdf_joint(spec, "j1").limits, (std::array{-1.0, 2.0}));
  EXPECT_EQ(urdf_joint(spec, "j2").type, "prismatic");
  EXPECT_EQ(urdf_joint(spec, "j2").damping, 0.3);
  EXPECT_EQ(urdf_joint(spec, "j2").friction, 0.1);
  EXPECT_EQ(urdf_joint(spec, "j2").parent.at, Eigen::Vector3d(0.5, 0.0, 0.0));
  EXPECT_EQ(spec.settings.gravity, Eigen::Vector3d(0.0, 0.0, -9.81));
}

TEST(Urdf, HoldsARootWithoutMassAndLetsOneWithMassFloat) {
  EXPECT_THAT(read_urdf(robot("")).notes, Contains(HasSubstr("the root 'base' is fixed to the ground: it has no mass")));
  const Spec floating = read_urdf(robot("", kInertial));
  EXPECT_THAT(floating.notes, Contains(HasSubstr("the root 'base' floats")));
  EXPECT_EQ(floating.joints.size(), 3U);
  ImportOptions held;
  held.fixed_base = true;
  EXPECT_EQ(read_urdf(robot("", kInertial), held).joints.size(), 2U);
}

TEST(Urdf, MakesLinksThatAreFixedToOneAnotherOneBody) {
  const Spec spec = read_urdf(robot(std::string("<link name=\"tool\">") + kInertial + R"(</link>
<joint name="f" type="fixed"><parent link="one"/><child link="tool"/><origin xyz="0 0.2 0" rpy="0 0 1.5707963267948966"/></joint>)"));
  ASSERT_EQ(spec.bodies.size(), 2U);
  EXPECT_DOUBLE_EQ(spec.bodies[0].mass, 2.0);
  EXPECT_TRUE(spec.bodies[0].com.isApprox(Eigen::Vector3d(0.05, 0.15, 0.0), 1e-14)) << spec.bodies[0].com;
  // Each about its own centre, the second turned by 90 degrees, and both at the distance from the common centre.
  const double d2 = 0.05 * 0.05 + 0.15 * 0.15;
  EXPECT_NEAR(spec.bodies[0].inertia(2, 2), 0.04 + 2.0 * d2, 1e-14);
  EXPECT_NEAR(spec.bodies[0].inertia(0, 0), 0.03 + 2.0 * 0.15 * 0.15, 1e-14);
  EXPECT_NEAR(spec.bodies[0].inertia(0, 1), -(0.05 * -0.15 + -0.05 * 0.15), 1e-14);
}

TEST(Urdf, ReadsEveryWayToWriteALoop) {
  const std::string plus = R"(<loop name="l" type="revolute"><predecessor link="one"><origin xyz="0.2 0 0"/></predecessor>
    <successor link="two"><origin xyz="0 0.1 0"/></successor><axis xyz="0 0 1"/></loop>)";
  const std::string ros = R"(<constraint name="l" type="revolute"><parent link="one"/><parent_origin xyz="0.2 0 0"/>
    <parent_axis xyz="0 0 1"/><child link="two"/><child_origin xyz="0 0.1 0"/><child_axis xyz="0 0 1"/></constraint>)";
  const std::string vendor = R"(<loop_joint name="l" type="revolute"><link1 link="one" xyz="0.2 0 0" rpy="0 0 0"/>
    <link1 link="two" xyz="0 0.1 0" rpy="0 0 0"/><axis xyz="0 0 1"/></loop_joint>)";
  const std::string vendor2 = R"(<loop_joint name="l" type="revolute"><parent link="one"/><parent_origin xyz="0.2 0 0"/>
    <child link="two"/><child_origin xyz="0 0.1 0"/><axis xyz="0 0 1"/></loop_joint>)";
  for (const std::string& text : {plus, ros, vendor, vendor2}) {
    const Spec spec = read_urdf(robot(text));
    ASSERT_EQ(spec.closures.size(), 1U) << text;
    const ClosureSpec& loop = spec.closures[0];
    EXPECT_EQ(loop.name, "l");
    EXPECT_EQ(loop.type, "revolute");
    EXPECT_EQ(loop.a.body, "one");
    EXPECT_EQ(loop.a.at, Eigen::Vector3d(0.2, 0.0, 0.0));
    EXPECT_EQ(loop.b.body, "two");
    EXPECT_EQ(loop.b.at, Eigen::Vector3d(0.0, 0.1, 0.0));
    EXPECT_EQ(loop.axis, Eigen::Vector3d::UnitZ());
  }
}

TEST(Urdf, TurnsTheSecondFrameOfALoopWhoseAxesAreWrittenInDifferentDirections) {
  const Spec spec = read_urdf(robot(R"(<constraint name="l" type="revolute"><parent link="one"/><parent_axis xyz="0 0 1"/>
    <child link="two"/><child_axis xyz="1 0 0"/></constraint>)"));
  EXPECT_TRUE((spec.closures[0].b.rotation * spec.closures[0].axis).isApprox(Eigen::Vector3d::UnitX(), 1e-15));
}

TEST(Urdf, ClosesALoopByASecondJointWithTheSameChild) {
  const Spec spec = read_urdf(
      robot(R"(<joint name="j3" type="continuous"><parent link="one"/><child link="two"/><axis xyz="0 0 1"/></joint>)"));
  EXPECT_TRUE(urdf_joint(spec, "j3").cut);
  EXPECT_THAT(spec.notes, Contains(HasSubstr("joint 'j3' closes a loop: its child 'two' already hangs on joint 'j2'")));
}

TEST(Urdf, ClosesALoopByAGazeboJointInTheWrittenPoses) {
  const Spec spec = read_urdf(robot(R"(<gazebo><joint name="g" type="revolute"><parent>one</parent><child>two</child>
    <pose>0.1 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis></joint></gazebo>)"));
  ASSERT_EQ(spec.closures.size(), 1U);
  EXPECT_EQ(spec.closures[0].b.at, Eigen::Vector3d(0.1, 0.0, 0.0));
  EXPECT_EQ(spec.closures[0].a.at, Eigen::Vector3d(0.6, 0.0, 0.0)) << "where it is as written";
}

TEST(Urdf, CouplesJointsByMimicAndByRatio) {
  const Spec mimic =
      read_urdf(robot(R"(<link name="three"/><joint name="j3" type="continuous"><parent link="base"/><child link="three"/>
    <axis xyz="0 0 1"/><mimic joint="j1" multiplier="-2" offset="0.5"/></joint>)"));
  ASSERT_EQ(mimic.closures.size(), 1U);
  EXPECT_EQ(mimic.closures[0].joints, (std::vector<std::string>{"j3", "j1"}));
  EXPECT_EQ(mimic.closures[0].coefficients, (std::vector{1.0, 2.0}));
  EXPECT_EQ(mimic.closures[0].offset, 0.5);

  // The way to the predecessor leads over two joints, that to the rotor over one.
  const Spec coupled = read_urdf(robot(R"(<link name="three"/><link name="rotor"/>
    <joint name="j3" type="continuous"><parent link="one"/><child link="three"/><axis xyz="0 0 1"/></joint>
    <joint name="jr" type="continuous" independent="false"><parent link="base"/><child link="rotor"/><axis xyz="0 0 1"/></joint>
    <coupling name="gear"><predecessor link="three"/><successor link="rotor"/><ratio value="6"/></coupling>)"));
  ASSERT_EQ(coupled.closures.size(), 1U);
  EXPECT_EQ(coupled.closures[0].joints, (std::vector<std::string>{"jr", "j3", "j1"}));
  EXPECT_EQ(coupled.closures[0].coefficients, (std::vector{1.0, -6.0, -6.0}));
}

TEST(Urdf, TakesLoopsJointTypesAndMotorsFromTheFileBeside) {
  const Spec spec = read_with(robot(""), R"(closed_loop: [[one, two]]
type: ["6D"]
name_mot: [j2]
joint_name: [j1]
joint_type: [UJOINT_XZ]
)");
  EXPECT_EQ(spec.closures.at(0).type, "weld");
  EXPECT_EQ(urdf_joint(spec, "j1").type, "universal");
  EXPECT_EQ(urdf_joint(spec, "j1").axis, Eigen::Vector3d::UnitX());
  EXPECT_EQ(*urdf_joint(spec, "j1").axis2, Eigen::Vector3d::UnitZ());
  ASSERT_EQ(spec.inputs.size(), 1U);
  EXPECT_EQ(spec.forces.at(0).type, "force");
  EXPECT_EQ(spec.forces.at(0).value.text(), "u.j2");
}

TEST(Urdf, SaysWhereTheLoopsFileIsWrong) {
  const auto wrong = [](const std::string& yaml) -> std::string {
    try {
      read_with(robot(""), yaml);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(wrong("closed_loop:\n  - [one, tow]\n"), HasSubstr("robot.yaml:2:11: unknown frame 'tow'; did you mean 'two'?"));
  EXPECT_THAT(wrong("closed_loop: [[one, two]]\ntype: [4d]"), HasSubstr("robot.yaml:2:8: unknown type of loop '4d'"));
  EXPECT_THAT(wrong("joint_name: [j1]\njoint_type: [CUBIC]"), HasSubstr("robot.yaml:2:14: unknown joint type 'CUBIC'"));
  EXPECT_THAT(wrong("closed_loop: [[one]]"), HasSubstr("a loop is no pair"));
  EXPECT_THAT(wrong("a: [b"), HasSubstr("robot.yaml:1"));
}

TEST(Urdf, ListsWhatItDoesNotTakeOverOnceWithTheLine) {
  const Spec spec =
      read_urdf(robot(R"(<link name="shell"><visual><geometry><mesh filename="package://x/y.stl"/></geometry></visual>
<collision><geometry><box size="1 1 1"/></geometry></collision><collision/></link>
<joint name="f" type="fixed"><parent link="one"/><child link="shell"/></joint><sound/>)"));
  EXPECT_THAT(spec.notes, Contains("ignored: 1 meshes that are not there, such as y.stl (line 6)"));
  EXPECT_THAT(spec.notes, Contains("ignored: 2 <collision> in <link> (first at line 7)"));
  EXPECT_THAT(spec.notes, Contains("ignored: 1 <sound> in <robot> (line 8)"));
}

TEST(Urdf, SaysWhatIsDoubtful) {
  const Spec spec = read_urdf(R"(<robot name="r"><link name="base"/><link name="one"><inertial><mass value="2e6"/>
<inertia ixx="1" iyy="1" izz="3"/></inertial></link>
<joint name="j" type="continuous"><parent link="base"/><child link="one"/></joint></robot>)");
  EXPECT_THAT(spec.notes, Contains(HasSubstr("has a mass of 2e+06 kg")));
  EXPECT_THAT(spec.notes, Contains(HasSubstr("no body has the inertia of 'one'")));
  EXPECT_EQ(build_model(spec).bodies.size(), 2U) << "it is taken nevertheless";
}

TEST(Urdf, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(urdf_trouble(robot("<link name=\"stray\"/>")),
              HasSubstr("r.urdf:6:1: there are 2 roots: 'base' (line 1) and 'stray'"));
  EXPECT_THAT(urdf_trouble(robot("<loop name=\"l\" type=\"fixed\"><predecessor link=\"one\"/><successor link=\"tow\"/></loop>")),
              HasSubstr("unknown link 'tow'; did you mean 'two'?"));
  EXPECT_THAT(urdf_trouble(robot("<joint name=\"j3\" type=\"revolut\"><parent link=\"one\"/><child link=\"two\"/></joint>")),
              HasSubstr("unknown joint type 'revolut'; did you mean 'revolute'?"));
  EXPECT_THAT(
      urdf_trouble("<robot><link name=\"a\"/><link name=\"b\"/><joint name=\"x\" type=\"fixed\"><parent link=\"a\"/><child "
                   "link=\"b\"/></joint>"
                   "<joint name=\"y\" type=\"fixed\"><parent link=\"b\"/><child link=\"a\"/></joint></robot>"),
      HasSubstr("has no root"));
  EXPECT_THAT(urdf_trouble("<robot>\n<link name=\"a\">"), HasSubstr("r.urdf:2:"));
  EXPECT_THAT(urdf_trouble("<robot><xacro:include filename=\"a\"/></robot>"), HasSubstr("xacro"));
  EXPECT_THAT(urdf_trouble("<html/>"), HasSubstr("the root element is <html>"));
  EXPECT_THAT(urdf_trouble(""), HasSubstr("r.urdf:1:1"));
  EXPECT_THAT(urdf_trouble(robot("<link name=\"n\"><inertial><mass value=\"-1\"/></inertial></link>")), HasSubstr("r.urdf:6:"));
  EXPECT_THAT(urdf_trouble(robot("<link name=\"n\"><inertial><mass value=\"1e999\"/></inertial></link>")),
              HasSubstr("out of range"));
}

}  // namespace
}  // namespace linkwork
