#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

#include "linkwork/import/robot_file.h"
#include "linkwork/model/model.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using V3 = Eigen::Vector3d;
constexpr double kDegree = std::numbers::pi / 180.0;

Spec read_mjcf(const std::string& inside, const ImportOptions& options = {}) {
  return read_robot_text("<mujoco model=\"m\">" + inside + "</mujoco>", "m.xml", options);
}

std::string mjcf_trouble(const std::string& inside) {
  try {
    read_mjcf(inside);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

const JointSpec& mjcf_joint(const Spec& spec, const std::string& name) {
  const auto found = std::ranges::find(spec.joints, name, &JointSpec::name);
  EXPECT_NE(found, spec.joints.end()) << name;
  return *found;
}
const BodySpec& body(const Spec& spec, const std::string& name) {
  const auto found = std::ranges::find(spec.bodies, name, &BodySpec::name);
  EXPECT_NE(found, spec.bodies.end()) << name;
  return *found;
}

TEST(Mjcf, ReadsAnglesInDegreesUnlessItIsToldOtherwise) {
  const std::string inside =
      R"(<worldbody><body><joint name="j" range="-90 45" ref="30" springref="10" stiffness="2" damping="0.5" armature="0.1"/>
    <geom size="0.1"/></body></worldbody>)";
  const JointSpec in_degrees = mjcf_joint(read_mjcf(inside), "j");
  EXPECT_NEAR(in_degrees.limits->at(0), -90 * kDegree, 1e-15);
  EXPECT_NEAR(in_degrees.position.at(0), 30 * kDegree, 1e-15);
  EXPECT_NEAR(in_degrees.rest, 10 * kDegree, 1e-15);
  EXPECT_EQ(in_degrees.stiffness, 2.0);
  EXPECT_EQ(in_degrees.damping, 0.5);
  EXPECT_EQ(in_degrees.armature, 0.1);
  EXPECT_EQ(mjcf_joint(read_mjcf("<compiler angle=\"radian\"/>" + inside), "j").limits->at(1), 45.0);
  EXPECT_FALSE(mjcf_joint(read_mjcf("<compiler autolimits=\"false\"/>" + inside), "j").limits);
}

TEST(Mjcf, StandsAsWrittenWhenAJointIsAtItsReference) {
  const Spec spec = read_mjcf(R"(<worldbody><body name="b" pos="1 0 0" euler="0 0 20"><joint name="j" pos="0.1 0 0" ref="50"/>
    <geom type="box" size="0.1 0.1 0.1"/></body></worldbody>)");
  const JointSpec& j = mjcf_joint(spec, "j");
  const Eigen::Matrix3d R = j.parent.rotation * Eigen::AngleAxisd(50 * kDegree, V3::UnitZ()).toRotationMatrix();
  EXPECT_TRUE(R.isApprox(Eigen::AngleAxisd(20 * kDegree, V3::UnitZ()).toRotationMatrix(), 1e-14));
  EXPECT_EQ(j.child.at, V3(0.1, 0.0, 0.0));
}

TEST(Mjcf, GivesElementsTheAttributesOfTheirClasses) {
  const Spec spec = read_mjcf(R"(<default><joint damping="1"/><default class="stiff"><joint stiffness="7"/>
      <default class="stiffer"><joint stiffness="9"/></default></default></default>
    <worldbody><body childclass="stiff"><joint name="a"/><geom size="1"/><body><joint name="b" class="stiffer"/><geom size="1"/></body>
    <body childclass="main"><joint name="c" damping="3"/><geom size="1"/></body></body></worldbody>)");
  EXPECT_EQ(mjcf_joint(spec, "a").stiffness, 7.0);
  EXPECT_EQ(mjcf_joint(spec, "a").damping, 1.0);
  EXPECT_EQ(mjcf_joint(spec, "b").stiffness, 9.0);
  EXPECT_EQ(mjcf_joint(spec, "c").stiffness, 0.0);
  EXPECT_EQ(mjcf_joint(spec, "c").damping, 3.0);
  EXPECT_THAT(mjcf_trouble("<worldbody><body childclass=\"no\"><joint/></body></worldbody>"),
              HasSubstr("unknown default class 'no'"));
}

TEST(Mjcf, FindsTheInertiaOfShapes) {
  const auto one = [](const std::string& geom) {
    return body(read_mjcf("<worldbody><body name=\"b\"><joint/>" + geom + "</body></worldbody>"), "b");
  };
  constexpr double pi = std::numbers::pi;
  EXPECT_NEAR(one("<geom size=\"0.2\"/>").mass, 1000 * 4.0 / 3.0 * pi * 0.008, 1e-10);
  EXPECT_NEAR(one("<geom size=\"0.2\" mass=\"3\"/>").inertia(0, 0), 0.4 * 3 * 0.04, 1e-15);
  EXPECT_NEAR(one("<geom type=\"box\" size=\"0.1 0.2 0.3\" mass=\"3\"/>").inertia(2, 2), 3.0 / 12.0 * (0.04 + 0.16), 1e-15);
  EXPECT_NEAR(one("<geom type=\"ellipsoid\" size=\"0.1 0.2 0.3\" mass=\"5\"/>").inertia(0, 0), 0.04 + 0.09, 1e-15);
  const BodySpec rod = one("<geom type=\"cylinder\" size=\"0.1\" fromto=\"0 0 0 2 0 0\" mass=\"12\"/>");
  EXPECT_TRUE(rod.com.isApprox(V3(1, 0, 0)));
  EXPECT_NEAR(rod.inertia(0, 0), 0.5 * 12 * 0.01, 1e-14);
  EXPECT_NEAR(rod.inertia(1, 1), 3 * 0.01 + 4.0, 1e-14);
  // A capsule by quadrature over its slices.
  const BodySpec capsule = one("<geom type=\"capsule\" size=\"0.3 0.5\" density=\"100\"/>");
  double mass = 0.0, along = 0.0, across = 0.0;
  constexpr int kSlices = 200000;
  for (int i = 0; i < kSlices; ++i) {
    const double dz = 1.6 / kSlices, z = -0.8 + (i + 0.5) * dz, beyond = std::max(0.0, std::abs(z) - 0.5);
    const double r2 = 0.09 - beyond * beyond, dm = 100 * pi * r2 * dz;
    mass += dm, along += 0.5 * dm * r2, across += dm * (0.25 * r2 + z * z);
  }
  EXPECT_NEAR(capsule.mass, mass, 1e-7 * mass);
  EXPECT_NEAR(capsule.inertia(2, 2), along, 1e-7 * along);
  EXPECT_NEAR(capsule.inertia(0, 0), across, 1e-7 * across);
}

TEST(Mjcf, TakesInertiaFromShapesOrFromNumbersAsTheCompilerSays) {
  const std::string inside = R"(<worldbody><body name="b"><joint/><inertial pos="0 0 0" mass="7" diaginertia="1 1 1"/>
    <geom size="0.1" mass="2"/></body></worldbody>)";
  EXPECT_EQ(body(read_mjcf(inside), "b").mass, 7.0);
  EXPECT_EQ(body(read_mjcf("<compiler inertiafromgeom=\"true\"/>" + inside), "b").mass, 2.0);
}

TEST(Mjcf, BoundsAndBalancesPrincipalMoments) {
  const auto with = [](const std::string& compiler, const std::string& numbers) {
    return body(read_mjcf("<compiler " + compiler + R"(/><worldbody><body name="b"><joint/><inertial pos="0 0 0" mass="1" )" +
                          numbers + "/></body></worldbody>"),
                "b")
        .inertia;
  };
  const std::string thin = R"(diaginertia="0.3 0.3 0.001" euler="30 40 0")";
  const Eigen::Matrix3d plain = with("", thin), bounded = with("boundinertia=\"0.01\"", thin);
  const Eigen::Vector3d moments = bounded.selfadjointView<Eigen::Lower>().eigenvalues();
  EXPECT_TRUE(moments.isApprox(V3(0.01, 0.3, 0.3), 1e-12)) << "not what stands on the diagonal";
  EXPECT_TRUE((plain * bounded).isApprox(bounded * plain, 1e-12)) << "the axes stay";
  const std::string impossible = R"(fullinertia="0.1 0.2 0.6 0 0 0")";
  EXPECT_TRUE(with("balanceinertia=\"true\"", impossible).isApprox(0.3 * Eigen::Matrix3d::Identity(), 1e-12));
  EXPECT_EQ(with("balanceinertia=\"true\"", thin), plain);
}

TEST(Mjcf, MakesCopiesAndPlacesFrames) {
  const Spec spec = read_mjcf(
      R"(<worldbody><replicate count="3" offset="1 0 0" euler="0 0 90" sep="_"><body name="b" pos="0.5 0 0"><joint name="j"/>
    <geom size="0.1"/></body></replicate></worldbody>)");
  ASSERT_EQ(spec.bodies.size(), 3U);
  EXPECT_TRUE(mjcf_joint(spec, "j_0").parent.at.isApprox(V3(0.5, 0, 0)));
  EXPECT_TRUE(mjcf_joint(spec, "j_1").parent.at.isApprox(V3(1, 0.5, 0)));
  EXPECT_TRUE(mjcf_joint(spec, "j_2").parent.at.isApprox(V3(0.5, 1, 0)));
  const Spec framed =
      read_mjcf(R"(<worldbody><frame pos="1 2 3" euler="0 0 90"><body name="b" pos="1 0 0"><joint name="j"/><geom size="0.1"/>
    </body></frame></worldbody>)");
  EXPECT_TRUE(mjcf_joint(framed, "j").parent.at.isApprox(V3(1, 3, 3)));
}

TEST(Mjcf, PutsMasslessBodiesBetweenSeveralJoints) {
  const Spec spec = read_mjcf(
      R"(<worldbody><body name="b"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="turn"/><geom size="0.1"/></body></worldbody>)");
  EXPECT_EQ(spec.bodies.size(), 3U);
  EXPECT_EQ(build_model(spec).tree.nv, 3);
  EXPECT_EQ(mjcf_joint(spec, "turn").child.body, "b");
  EXPECT_EQ(mjcf_joint(spec, "y").parent.body, mjcf_joint(spec, "x").child.body);
}

TEST(Mjcf, ClosesConnectAndWeldAsWrittenAndSitesWhereTheyAre) {
  const std::string bodies =
      R"(<worldbody><body name="a" pos="0 0 1"><joint name="ja"/><geom size="0.1"/><site name="sa" pos="0.3 0 0"/></body>
    <body name="b" pos="1 0 1" euler="0 0 90"><joint name="jb"/><geom size="0.1"/><site name="sb" pos="0.1 0 0"/></body></worldbody>)";
  const Spec connected = read_mjcf(bodies + R"(<equality><connect body1="a" body2="b" anchor="0.5 0 0"/></equality>)");
  EXPECT_TRUE(connected.closures.at(0).b.at.isApprox(V3(0, 0.5, 0), 1e-15));
  const Spec sites = read_mjcf(bodies + R"(<equality><connect site1="sa" site2="sb"/></equality>)");
  EXPECT_EQ(sites.closures.at(0).b.at, V3(0.1, 0, 0));
  const Spec welded = read_mjcf(bodies + R"(<equality><weld body1="a" body2="b"/></equality>)");
  EXPECT_EQ(welded.closures.at(0).type, "weld");
  EXPECT_TRUE(welded.closures.at(0).a.at.isApprox(V3(1, 0, 0)));
  const Spec off = read_mjcf(bodies + R"(<equality><weld body1="a" body2="b" active="false"/></equality>)");
  EXPECT_TRUE(off.closures.empty());
  EXPECT_THAT(off.notes, Contains(HasSubstr("ignored: 1 <weld> that is not active")));
}

TEST(Mjcf, CouplesJointsByPolynomialsAboutTheirReferences) {
  const std::string bodies = R"(<compiler angle="radian"/><worldbody><body><joint name="y" ref="0.5"/><geom size="0.1"/></body>
    <body><joint name="x" ref="0.2"/><geom size="0.1"/></body></worldbody>)";
  const Spec linear = read_mjcf(bodies + R"(<equality><joint joint1="y" joint2="x" polycoef="0.1 3"/></equality>)");
  EXPECT_THAT(linear.closures.at(0).joints, ElementsAre("y", "x"));
  EXPECT_THAT(linear.closures.at(0).coefficients, ElementsAre(1.0, -3.0));
  EXPECT_NEAR(linear.closures.at(0).offset, 0.5 + 0.1 - 3 * 0.2, 1e-15);
  const Spec curved = read_mjcf(bodies + R"(<equality><joint joint1="y" joint2="x" polycoef="0.1 0 2"/></equality>)");
  EXPECT_EQ(curved.closures.at(0).type, "expression");
  const std::vector<double> at{0.5 + 0.1 + 2 * 0.49, 0.9};
  EXPECT_NEAR(curved.closures.at(0).value.evaluate<double>(at), 0.0, 1e-14);
  const Spec held = read_mjcf(bodies + R"(<equality><joint joint1="y" polycoef="0.1"/></equality>)");
  EXPECT_EQ(held.closures.at(0).type, "drive");
  EXPECT_NEAR(held.closures.at(0).value.constant_value(), 0.6, 1e-15);
}

TEST(Mjcf, CouplesAndDrivesFixedTendons) {
  const Spec spec = read_mjcf(R"(<compiler angle="radian"/><worldbody><body><joint name="p"/><geom size="0.1"/></body>
    <body><joint name="q"/><geom size="0.1"/></body></worldbody>
    <tendon><fixed name="t" stiffness="4"><joint joint="p" coef="2"/><joint joint="q" coef="-1"/></fixed></tendon>
    <equality><tendon tendon1="t"/></equality><actuator><motor tendon="t" gear="3"/></actuator>)");
  EXPECT_THAT(spec.closures.at(0).joints, ElementsAre("p", "q"));
  EXPECT_THAT(spec.closures.at(0).coefficients, ElementsAre(2.0, -1.0));
  EXPECT_EQ(spec.inputs.size(), 1U);
  EXPECT_EQ(spec.forces.size(), 4U) << "a spring and a motor on two joints";
}

TEST(Mjcf, MakesActuatorsInputsWithTheirLaws) {
  const Spec spec =
      read_mjcf(R"(<compiler angle="radian"/><worldbody><body><joint name="j"/><geom size="0.1"/></body></worldbody><actuator>
    <motor name="m" joint="j" gear="10" ctrlrange="-1 1"/><position name="p" joint="j" kp="5" kv="0.5"/><velocity name="v" joint="j" kv="2"/>
    <general name="g" joint="j" gainprm="3" biastype="affine" biasprm="1 -3 -0.2" forcerange="-4 4"/><muscle name="x" joint="j"/></actuator>)");
  ASSERT_EQ(spec.forces.size(), 4U);
  const auto value = [&](std::size_t i, double u, double q, double v) {
    const Expression& e = spec.forces[i].value;
    std::vector<double> slots;
    for (const std::string& name : e.variables()) slots.push_back(name[0] == 'u' ? u : name[0] == 'q' ? q : v);
    return e.evaluate<double>(slots);
  };
  EXPECT_NEAR(value(0, 0.5, 0, 0), 5.0, 1e-14);
  EXPECT_NEAR(value(0, 7.0, 0, 0), 10.0, 1e-14) << "the control is limited";
  EXPECT_NEAR(value(1, 0.3, 0.1, 0.2), 5 * 0.2 - 0.5 * 0.2, 1e-14);
  EXPECT_NEAR(value(2, 0.3, 0.1, 0.2), 2 * 0.1, 1e-14);
  EXPECT_NEAR(value(3, 0.3, 0.1, 0.2), 3 * 0.3 + 1 - 0.3 - 0.04, 1e-14);
  EXPECT_NEAR(value(3, 30.0, 0.1, 0.2), 4.0, 1e-14);
  EXPECT_THAT(spec.notes, Contains(HasSubstr("<muscle>")));
}

TEST(Mjcf, StartsAtTheFirstKeyframe) {
  const Spec spec = read_mjcf(
      R"(<worldbody><body name="f"><freejoint name="f"/><geom size="0.1"/><body><joint name="j"/><geom size="0.1"/></body></body>
    </worldbody><keyframe><key name="home" qpos="1 2 3 1 0 0 0 0.4" qvel="0 0 0 0 0 5 6"/><key/></keyframe>)");
  EXPECT_THAT(mjcf_joint(spec, "f").position, ElementsAre(1, 2, 3, 1, 0, 0, 0));
  EXPECT_THAT(mjcf_joint(spec, "j").position, ElementsAre(0.4));
  EXPECT_THAT(mjcf_joint(spec, "f").velocity, ElementsAre(0, 0, 0, 0, 0, 5));
  EXPECT_THAT(mjcf_joint(spec, "j").velocity, ElementsAre(6));
  EXPECT_THAT(
      mjcf_trouble("<worldbody><body><joint/><geom size=\"1\"/></body></worldbody><keyframe><key qpos=\"1 2\"/></keyframe>"),
      HasSubstr("has 2 numbers in 'qpos'"));
  ImportOptions held;
  held.fixed_base = true;
  EXPECT_EQ(read_mjcf("<worldbody><body name=\"f\"><freejoint/><geom size=\"0.1\"/><body><joint name=\"j\"/><geom "
                      "size=\"0.1\"/></body></body></worldbody>",
                      held)
                .joints.size(),
            1U);
}

TEST(Mjcf, PutsIncludedFilesIn) {
  ReadOptions reading;
  reading.load = [](const std::filesystem::path& file) {
    EXPECT_EQ(file, "dir/part.xml");
    return "<mujocoinclude><body name=\"b\"><joint name=\"j\" type=\"sldie\"/><geom size=\"0.1\"/></body></mujocoinclude>";
  };
  try {
    read_robot_text("<mujoco><worldbody><include file=\"part.xml\"/></worldbody></mujoco>", "dir/m.xml", {}, reading);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("dir/part.xml:1:31: unknown joint type 'sldie'; did you mean 'slide'?"));
  }
}

/// A pendulum with a rotor: the armature adds to its inertia, whatever the rest moves like.
TEST(Mjcf, SwingsSlowerByTheArmature) {
  const double m = 2.0, l = 0.7, armature = 0.5, g = 9.81, small = 1e-4;
  Spec spec = read_mjcf(R"(<compiler angle="radian"/><worldbody><body><joint name="j" axis="0 1 0" armature="0.5"/>
    <inertial pos="0 0 -0.7" mass="2" diaginertia="0.1 0.1 0.1"/></body></worldbody><keyframe><key qpos="0.0001"/></keyframe>)");
  const double period = 2.0 * std::numbers::pi * std::sqrt((m * l * l + 0.1 + armature) / (m * g * l));
  spec.settings.end = period;
  spec.settings.integrator = {"dopri45", {}, {}};
  spec.settings.rtol = 1e-12, spec.settings.atol = 1e-16;
  const test::RecordedRun run(spec);
  EXPECT_NEAR(run.last("q.j"), small, 1e-8 * small);
  EXPECT_NEAR(run.last("energy.total"), run.rows.front()[run.column("energy.total")], 1e-15);
}

}  // namespace
}  // namespace linkwork
