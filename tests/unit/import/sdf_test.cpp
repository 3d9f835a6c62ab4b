#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numbers>

#include "linkwork/import/robot_file.h"
#include "linkwork/model/model.h"

namespace linkwork {
namespace {

using testing::Contains;
using testing::HasSubstr;
using V3 = Eigen::Vector3d;

constexpr const char* kMass = "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial>";

Spec read_sdf(const std::string& inside, const std::string& version = "1.9", const ReadOptions& reading = {}) {
  return read_robot_text("<sdf version=\"" + version + "\">" + inside + "</sdf>", "m.sdf", {}, reading);
}

std::string sdf_trouble(const std::string& inside) {
  try {
    read_sdf(inside);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const JointSpec& sdf_joint(const Spec& spec, const std::string& name) {
  const auto found = std::ranges::find(spec.joints, name, &JointSpec::name);
  EXPECT_NE(found, spec.joints.end()) << name;
  return *found;
}

std::string link(const std::string& name, const std::string& inside = "") {
  return "<link name=\"" + name + "\">" + inside + kMass + "</link>";
}

TEST(Sdf, FollowsPosesFromFrameToFrame) {
  const Spec spec =
      read_sdf("<model name=\"m\"><pose>0 0 1 0 0 0</pose>" + link("a", "<pose>1 0 0 0 0 1.5707963267948966</pose>") +
               "<frame name=\"f\" attached_to=\"a\"><pose>0.5 0 0 0 0 0</pose></frame>" +
               link("b", "<pose relative_to=\"f\">0 0.25 0 0 0 0</pose>") +
               R"(<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint>
<joint name="k" type="prismatic"><pose relative_to="f"/><parent>a</parent><child>b</child><axis><xyz expressed_in="__model__">1 0 0</xyz></axis></joint></model>)");
  EXPECT_TRUE(sdf_joint(spec, "j").parent.at.isApprox(V3(1, 0, 1)));
  EXPECT_TRUE(sdf_joint(spec, "k").parent.at.isApprox(V3(0.5, 0, 0)));
  EXPECT_TRUE(sdf_joint(spec, "k").child.at.isApprox(V3(0, -0.25, 0)));
  EXPECT_TRUE(sdf_joint(spec, "k").axis.isApprox(V3(0, -1, 0), 1e-15)) << "the model's x in the turned joint frame";
}

TEST(Sdf, ReadsAxesInTheModelsFrameBeforeVersion15) {
  const std::string inside =
      "<model name=\"m\">" + link("a", "<pose>0 0 0 0 0 1.5707963267948966</pose>") +
      R"(<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>1 0 0</xyz></axis></joint></model>)";
  EXPECT_TRUE(sdf_joint(read_sdf(inside, "1.4"), "j").axis.isApprox(V3(0, -1, 0), 1e-15));
  for (const char* const version : {"1.5", "1.9", "1.10", "1.11", "1.12"})
    EXPECT_TRUE(sdf_joint(read_sdf(inside, version), "j").axis.isApprox(V3(1, 0, 0), 1e-15)) << version;
  EXPECT_TRUE(
      sdf_joint(read_sdf("<model name=\"m\">" + link("a", "<pose>0 0 0 0 0 1.5707963267948966</pose>") +
                             R"(<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>1 0 0</xyz>
<use_parent_model_frame>1</use_parent_model_frame></axis></joint></model>)",
                         "1.6"),
                "j")
          .axis.isApprox(V3(0, -1, 0), 1e-15));
}

TEST(Sdf, NamesLinksOfNestedModelsByTheirPath) {
  const Spec spec =
      read_sdf("<model name=\"m\">" + link("a") + "<model name=\"arm\"><pose>0 0 2 0 0 0</pose>" + link("b") + "</model>" +
               R"(<joint name="j" type="fixed"><parent>world</parent><child>a</child></joint>
<joint name="k" type="revolute"><parent>a</parent><child>arm::b</child><axis><xyz>0 1 0</xyz></axis></joint></model>)");
  ASSERT_EQ(spec.bodies.size(), 1U) << "the other is fixed to the ground";
  EXPECT_EQ(spec.bodies[0].name, "arm::b");
  EXPECT_EQ(sdf_joint(spec, "k").parent.body, "ground");
  EXPECT_TRUE(sdf_joint(spec, "k").parent.at.isApprox(V3(0, 0, 2)));
}

TEST(Sdf, CouplesJointsOfAModelBesideAndWithThoseOfNestedOnes) {
  const auto turns = [](const std::string& name, const std::string& parent, const std::string& child, const std::string& mimic) {
    return "<joint name=\"" + name + "\" type=\"revolute\"><parent>" + parent + "</parent><child>" + child + "</child><axis>" +
           (mimic.empty() ? "" : "<mimic joint=\"" + mimic + "\"><multiplier>2</multiplier></mimic>") + "</axis></joint>";
  };
  const Spec spec =
      read_sdf("<model name=\"m\">" + link("a") + link("b") + link("c") + "<model name=\"arm\">" + link("d") + link("e") +
               turns("j", "d", "e", "") + turns("k", "world", "d", "j") + "</model>" + turns("j", "world", "a", "") +
               turns("k", "a", "b", "j") + turns("l", "b", "c", "arm::j") + "</model>");
  std::map<std::string, std::string> leaders;
  for (const ClosureSpec& closure : spec.closures) leaders[closure.joints.at(0)] = closure.joints.at(1);
  EXPECT_EQ(leaders, (std::map<std::string, std::string>{{"k", "j"}, {"l", "arm::j"}, {"arm::k", "arm::j"}}));
}

TEST(Sdf, LetsFloatWhatNoJointLeadsTo) {
  const Spec spec = read_sdf("<model name=\"m\"><pose>0 0 3 0 0 0</pose>" + link("a") + link("b") +
                             R"(<joint name="j" type="ball"><parent>a</parent><child>b</child></joint></model>)");
  EXPECT_EQ(sdf_joint(spec, "a").type, "free");
  EXPECT_EQ(sdf_joint(spec, "a").position.at(2), 3.0);
  EXPECT_EQ(build_model(spec).tree.nv, 9);
  EXPECT_EQ(sdf_trouble("<model name=\"m\"><static>true</static>" + link("a") + "</model>"),
            "m.sdf:1:1: nothing in the file can move; expected a link that hangs on a joint");
}

TEST(Sdf, WeighsCollisionShapesIfItIsToldTo) {
  const Spec spec = read_sdf(R"(<model name="m"><link name="a"><inertial auto="true"><density>500</density></inertial>
<collision name="c"><pose>1 0 0 0 0 0</pose><geometry><box><size>0.2 0.4 0.6</size></box></geometry></collision>
<collision name="d"><density>1000</density><pose>-1 0 0 0 0 0</pose><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model>)");
  const double box = 500 * 0.048, ball = 1000 * 4.0 / 3.0 * std::numbers::pi * 0.001;
  EXPECT_NEAR(spec.bodies.at(0).mass, box + ball, 1e-12);
  EXPECT_NEAR(spec.bodies.at(0).com.x(), (box - ball) / (box + ball), 1e-14);
  EXPECT_NEAR(spec.bodies.at(0).inertia(0, 0), box / 12 * (0.16 + 0.36) + 0.4 * ball * 0.01, 1e-13);
}

TEST(Sdf, ReadsTheElementsOfDrake) {
  const std::string links =
      link("a") + link("b", "<pose>1 0 0 0 0 0</pose>") +
      R"(<joint name="j" type="revolute"><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint>
<joint name="k" type="revolute"><parent>world</parent><child>b</child><axis><xyz>0 0 1</xyz></axis><drake:mimic joint="j" multiplier="2" offset="0.1"/></joint>)";
  const Spec spec = read_sdf("<model name=\"m\" xmlns:drake=\"x\">" + links + R"(<drake:ball_constraint>
<drake:ball_constraint_body_A>a</drake:ball_constraint_body_A><drake:ball_constraint_p_AP>0.5 0 0</drake:ball_constraint_p_AP>
<drake:ball_constraint_body_B>b</drake:ball_constraint_body_B><drake:ball_constraint_p_BQ>-0.5 0 0</drake:ball_constraint_p_BQ></drake:ball_constraint>
<frame name="fa" attached_to="a"/><frame name="fc" attached_to="b"><pose>-1 0 0 0 0 0</pose></frame>
<drake:linear_bushing_rpy><drake:bushing_frameA>fa</drake:bushing_frameA><drake:bushing_frameC>fc</drake:bushing_frameC>
<drake:bushing_torque_stiffness>100 100 0</drake:bushing_torque_stiffness><drake:bushing_torque_damping>1 1 0</drake:bushing_torque_damping>
<drake:bushing_force_stiffness>100 100 100</drake:bushing_force_stiffness><drake:bushing_force_damping>1 1 1</drake:bushing_force_damping>
</drake:linear_bushing_rpy></model>)");
  ASSERT_EQ(spec.closures.size(), 2U);
  EXPECT_EQ(spec.closures[0].type, "spherical");
  EXPECT_EQ(spec.closures[0].b.at, V3(-0.5, 0, 0));
  EXPECT_EQ(spec.closures[1].type, "gear");
  EXPECT_EQ(spec.closures[1].offset, 0.1);
  ASSERT_EQ(spec.forces.size(), 1U);
  EXPECT_EQ(spec.forces[0].type, "bushing");
  EXPECT_EQ(spec.forces[0].torque_stiffness, (std::vector<double>{100, 100, 0}));
  EXPECT_EQ(spec.forces[0].force_damping, (std::vector<double>{1, 1, 1}));
  EXPECT_EQ(spec.forces[0].b.at, V3(-1, 0, 0));
}

TEST(Sdf, IncludesModelsOfPackages) {
  ReadOptions reading;
  reading.load = [](const std::filesystem::path& file) {
    EXPECT_EQ(file, "/models/hand/model.sdf");
    return "<sdf version=\"1.9\"><model name=\"h\"><link name=\"palm\"/></model></sdf>";
  };
  ImportOptions options;
  options.packages["hand"] = "/models/hand";
  const Spec spec = read_robot_text(
      "<sdf version=\"1.9\"><world name=\"w\"><gravity>0 0 "
      "-1.62</gravity><include><uri>model://hand</uri><name>left</name><pose>1 0 0 0 0 0</pose></include>"
      "<include><uri>model://hand</uri><name>right</name></include></world></sdf>",
      "w.sdf", options, reading);
  EXPECT_EQ(spec.bodies.at(0).name, "left::palm");
  EXPECT_EQ(spec.bodies.at(1).name, "right::palm");
  EXPECT_EQ(spec.settings.gravity.z(), -1.62);
  EXPECT_EQ(sdf_joint(spec, "left::palm").position.at(0), 1.0);
}

TEST(Sdf, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(sdf_trouble("<model name=\"m\">\n" + link("a") +
                          "\n<joint name=\"j\" type=\"revolute\"><parent>world</parent><child>b</child></joint></model>"),
              HasSubstr("m.sdf:3:"));
  EXPECT_THAT(sdf_trouble("<model name=\"m\">" + link("a", "<pose>1 2</pose>") + "</model>"), HasSubstr("has 2 numbers"));
  EXPECT_THAT(sdf_trouble("<model name=\"m\">" + link("a") + link("a") + "</model>"), HasSubstr("stands twice"));
  EXPECT_THAT(sdf_trouble("<world name=\"w\"/>"), HasSubstr("has no <model>"));
}

}  // namespace
}  // namespace linkwork
