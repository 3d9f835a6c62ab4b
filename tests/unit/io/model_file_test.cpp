#include "linkwork/io/model_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "four_bar_text.h"

namespace linkwork {
namespace {

using testing::ElementsAre;

Spec read(const std::string& text) { return read_model_text("linkwork = 1\n" + text, "model.toml"); }

/// Files that exist only in memory.
ReadOptions with_files(const std::map<std::string, std::string>& files) {
  ReadOptions options;
  options.load = [files](const std::filesystem::path& file) -> std::string {
    const auto found = files.find(file.string());
    if (found == files.end()) throw InputError({file.string()}, "not there");
    return "linkwork = 1\n" + found->second;
  };
  return options;
}

template <class T>
std::vector<std::string> names(const std::vector<T>& items) {
  std::vector<std::string> result;
  for (const T& item : items) result.push_back(item.name);
  return result;
}

// ---- The example of the documentation ----

TEST(ModelFileTest, ReadsTheFourBar) {
  const Spec spec = read_model_text(kFourBarText, "four_bar.toml");
  EXPECT_EQ(spec.name, "four-bar");
  EXPECT_EQ(spec.source_text, kFourBarText);
  EXPECT_EQ(spec.settings.end, 10.0);
  EXPECT_EQ(spec.settings.integrator.name, "rk4");
  EXPECT_EQ(spec.settings.stabilization.options.at("alpha"), 5.0);
  EXPECT_THAT(names(spec.bodies), ElementsAre("crank", "coupler", "rocker"));
  EXPECT_EQ(spec.bodies[0].com, Eigen::Vector3d(0.5, 0.0, 0.0));
  EXPECT_EQ(spec.bodies[0].inertia, Eigen::Matrix3d(Eigen::Vector3d(0.0, 1.0 / 12.0, 1.0 / 12.0).asDiagonal()));
  EXPECT_EQ(to_string(spec.bodies[0].place), "four_bar.toml:17:1");
  ASSERT_EQ(spec.joints.size(), 3U);
  EXPECT_EQ(spec.joints[0].type, "revolute");
  EXPECT_EQ(spec.joints[0].position, std::vector<double>{1.5708});
  EXPECT_TRUE(spec.joints[0].fixed);
  EXPECT_EQ(spec.joints[1].parent.at, Eigen::Vector3d(1.0, 0.0, 0.0));
  ASSERT_EQ(spec.closures.size(), 1U);
  EXPECT_EQ(spec.closures[0].a.body, "coupler");
  EXPECT_EQ(spec.closures[0].b.at, Eigen::Vector3d(2.5, 0.0, 0.0));
  ASSERT_EQ(spec.forces.size(), 1U);
  EXPECT_EQ(spec.forces[0].value.constant_value(), 6.0);
  EXPECT_THAT(names(spec.sensors), ElementsAre("tip"));
  EXPECT_THAT(names(spec.ports), ElementsAre("tip"));
}

TEST(ModelFileTest, IsNamedAfterItsFileIfItHasNoName) {
  const Spec spec = read_model_text("linkwork = 1\n[[body]]\nname = \"a\"\nmass = 1\n", "models/double_pendulum.toml");
  EXPECT_EQ(spec.name, "double_pendulum");
}

TEST(ModelFileTest, IsReadFromDiskWithItsModules) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "model_file_test";
  std::filesystem::create_directories(folder / "parts");
  std::ofstream(folder / "main.toml") << "linkwork = 1\n[[module]]\nname = \"m\"\nfile = \"parts/../parts/bar.toml\"\n";
  std::ofstream(folder / "parts" / "bar.toml") << "linkwork = 1\n[[body]]\nname = \"bar\"\nmass = 1\n";
  const Spec spec = read_model_file(folder / "main.toml");
  EXPECT_THAT(names(spec.bodies), ElementsAre("m.bar"));
  EXPECT_EQ(spec.bodies[0].place.file, (folder / "parts" / "bar.toml").string());
  std::filesystem::remove_all(folder);
}

TEST(ModelFileTest, ByteOrderMarkAndWindowsLinesAreFine) {
  EXPECT_NO_THROW(read_model_text("\xEF\xBB\xBFlinkwork = 1\r\n[[body]]\r\nname = \"a\"\r\nmass = 1\r\n", "model.toml"));
}

// ---- Parameters ----

const std::string kBar = "[[body]]\nname = \"bar\"\nmass = \"m\"\n";

TEST(ParametersTest, MayUseOneAnotherInAnyOrder) {
  const Spec spec = read("[parameters]\nm = \"2*a + b\"\na = \"b^2\"\nb = 3\n" + kBar);
  EXPECT_EQ(spec.bodies[0].mass, 21.0);
}

TEST(ParametersTest, CanBeSetFromOutside) {
  const std::string text = "linkwork = 1\n[parameters]\nm = \"2*b\"\nb = 3\n" + kBar;
  const auto mass = [&](const std::vector<std::pair<std::string, std::string>>& set) {
    ReadOptions options;
    options.set = set;
    return read_model_text(text, "model.toml", options).bodies[0].mass;
  };
  EXPECT_EQ(mass({}), 6.0);
  EXPECT_EQ(mass({{"b", "4"}}), 8.0);
  EXPECT_EQ(mass({{"m", "b + 0.5"}, {"b", "sqrt(16)"}}), 4.5);
}

TEST(ParametersTest, LongChainsOfDependenciesNeedNoDeepRecursion) {
  std::string text = "[parameters]\np0 = 1\n";
  const int count = 20'000;
  for (int i = 1; i <= count; ++i) text += "p" + std::to_string(i) + " = \"p" + std::to_string(i - 1) + "\"\n";
  const Spec spec = read(text + "m = \"p20000\"\n" + kBar);
  EXPECT_EQ(spec.bodies[0].mass, 1.0);
}

TEST(ParametersTest, CanBeNamedLikeMathematicalConstantsAndStates) {
  const Spec spec = read("[parameters]\ne = 2\nq = 3\nv = 4\nm = \"e + q + v\"\n" + kBar);
  EXPECT_EQ(spec.bodies[0].mass, 9.0);
}

// ---- Repetition ----

TEST(RepeatTest, MakesAChain) {
  const Spec spec = read(R"(
[parameters]
n = 4
[[body]]
repeat = { i = [1, "n"] }
name = "link{i}"
mass = "i^2"
[[joint]]
name = "j1"
type = "revolute"
parent = { body = "ground" }
child = { body = "link1" }
[[joint]]
repeat = { i = [2, "n"] }
name = "j{i}"
type = "revolute"
parent = { body = "link{i-1}", at = ["i", 0, 0] }
child = { body = "link{i}" }
[[force]]
repeat = { i = [1, "n"] }
type = "torque"
joint = "j{n + 1 - i}"
value = "-i*v.j{i}"
[[closure]]
repeat = { i = [1, "n/2"] }
name = "gear{{{i}}}"
type = "gear"
joints = ["j{2*i-1}", "j{2*i}"]
coefficients = [1, "i"]
)");
  EXPECT_THAT(names(spec.bodies), ElementsAre("link1", "link2", "link3", "link4"));
  EXPECT_EQ(spec.bodies[3].mass, 16.0);
  EXPECT_EQ(spec.joints[3].parent.body, "link3");
  EXPECT_EQ(spec.joints[3].parent.at.x(), 4.0);
  EXPECT_EQ(spec.forces[0].joint, "j4");
  EXPECT_THAT(spec.forces[1].value.variables(), ElementsAre("v.j2"));
  EXPECT_THAT(names(spec.closures), ElementsAre("gear{1}", "gear{2}"));
  EXPECT_THAT(spec.closures[1].joints, ElementsAre("j3", "j4"));
}

TEST(RepeatTest, SeveralIndicesGiveAllCombinationsTheFirstOutermost) {
  const Spec spec = read("[[body]]\nrepeat = { j = [1, 2], i = [-1, 0] }\nname = \"b{j},{i}\"\nmass = \"10*j + i\"\n");
  EXPECT_THAT(names(spec.bodies), ElementsAre("b1,-1", "b1,0", "b2,-1", "b2,0"));
  EXPECT_EQ(spec.bodies[2].mass, 19.0);
}

TEST(RepeatTest, EmptyRangeGivesNothing) {
  const Spec spec = read("[[body]]\nname = \"a\"\nmass = 1\n[[body]]\nrepeat = { i = [1, 0] }\nname = \"x{i}\"\nmass = 1\n");
  EXPECT_THAT(names(spec.bodies), ElementsAre("a"));
}

TEST(RepeatTest, EmptyRangeBesideAHugeOneGivesNothingAtOnce) {
  const Spec spec =
      read("[[body]]\nname = \"a\"\nmass = 1\n[[body]]\nrepeat = { i = [1, 1e15], j = [1, 0] }\nname = \"x{i}\"\nmass = 1\n");
  EXPECT_EQ(spec.bodies.size(), 1U);
}

TEST(RepeatTest, BracesMeanNothingElsewhere) {
  const Spec spec = read("[[body]]\nname = \"a{i}\"\nmass = 1\n");
  EXPECT_THAT(names(spec.bodies), ElementsAre("a{i}"));
}

TEST(RepeatTest, ThousandsOfLinksAreReadWithoutQuadraticWork) {
  const Spec spec = read("[[body]]\nrepeat = { i = [1, 50000] }\nname = \"b{i}\"\nmass = 1\n");
  EXPECT_EQ(spec.bodies.size(), 50'000U);
}

// ---- Joints and closures ----

Spec read_joint(const std::string& keys) {
  return read(
      "[[body]]\nname = \"a\"\nmass = 1\n[[joint]]\nname = \"j\"\nparent = { body = \"ground\" }\nchild = { body = \"a\" }\n" +
      keys);
}

TEST(JointTableTest, AxesAreOfUnitLength) {
  EXPECT_EQ(read_joint("type = \"revolute\"\naxis = [0, 3, 4]\n").joints[0].axis, Eigen::Vector3d(0.0, 0.6, 0.8));
  EXPECT_EQ(read_joint("type = \"revolute\"\naxis = [1e-300, 0, 0]\n").joints[0].axis, Eigen::Vector3d::UnitX());
  EXPECT_EQ(read_joint("type = \"revolute\"\n").joints[0].axis, Eigen::Vector3d::UnitZ());
}

TEST(JointTableTest, UniversalJointHasASecondAxis) {
  const auto second = [](const std::string& axis) { return *read_joint("type = \"universal\"\n" + axis).joints[0].axis2; };
  EXPECT_EQ(second(""), Eigen::Vector3d::UnitY());
  EXPECT_EQ(second("axis = [0, -2, 0]\n"), Eigen::Vector3d::UnitZ());
  EXPECT_EQ(second("axis = [0, 0, 1]\n"), Eigen::Vector3d::UnitX());
  const Spec slanted = read_joint("type = \"universal\"\naxis = [1, 1, 0]\naxis2 = [\"1 + 1e-10\", -1, 0]\n");
  EXPECT_NEAR(slanted.joints[0].axis.dot(*slanted.joints[0].axis2), 0.0, 3e-16);
  EXPECT_NEAR(slanted.joints[0].axis2->norm(), 1.0, 1e-15);
}

TEST(JointTableTest, QuaternionsAreNormalized) {
  EXPECT_EQ(read_joint("type = \"spherical\"\nposition = [2, 0, 0, 0]\n").joints[0].position, (std::vector<double>{1, 0, 0, 0}));
  EXPECT_EQ(read_joint("type = \"free\"\nposition = [1, 2, 3, 0, 0, -5, 0]\nvelocity = [1, 2, 3, 4, 5, 6]\n").joints[0].position,
            (std::vector<double>{1, 2, 3, 0, 0, -1, 0}));
}

TEST(JointTableTest, FramesTurnByRollPitchYawOrQuaternion) {
  const Spec spec = read(R"([[body]]
name = "a"
mass = 1
[[joint]]
name = "j"
type = "weld"
parent = { body = "ground", rpy = ["pi/2", 0, "pi/2"] }
child = { body = "a", quat = [0, 0, 0, 2] }
)");
  // x, y and z turned about x, then about the fixed z.
  const Eigen::Matrix3d R = spec.joints[0].parent.rotation.toRotationMatrix();
  EXPECT_TRUE(R.col(0).isApprox(Eigen::Vector3d::UnitY(), 1e-15));
  EXPECT_TRUE(R.col(1).isApprox(Eigen::Vector3d::UnitZ(), 1e-15));
  EXPECT_TRUE(R.col(2).isApprox(Eigen::Vector3d::UnitX(), 1e-15));
  EXPECT_EQ(spec.joints[0].child.rotation.coeffs(), Eigen::Vector4d(0.0, 0.0, 1.0, 0.0));
}

TEST(JointTableTest, OtherKeysAreTaken) {
  const JointSpec joint = read_joint(R"(type = "screw"
pitch = 0.01
velocity = "2*pi"
cut = true
damping = 0.1
stiffness = 2
rest = -1
friction = 0.3
limits = [-1, "pi"]
)")
                              .joints[0];
  EXPECT_EQ(joint.pitch, 0.01);
  EXPECT_TRUE(joint.position.empty());
  EXPECT_EQ(joint.velocity, std::vector<double>{2.0 * std::numbers::pi});
  EXPECT_TRUE(joint.cut);
  EXPECT_FALSE(joint.fixed);
  EXPECT_EQ(joint.damping, 0.1);
  EXPECT_EQ(joint.stiffness, 2.0);
  EXPECT_EQ(joint.rest, -1.0);
  EXPECT_EQ(joint.friction, 0.3);
  EXPECT_EQ(*joint.limits, (std::array<double, 2>{-1.0, std::numbers::pi}));
}

TEST(ModelFileTest, ReadsForcesAndSensorsOfTheState) {
  const Spec spec = read_joint(R"toml(type = "free"
[[force]]
name = "wind"
type = "wrench"
body = "a"
at = [1, 0, 0]
force = ["sin(t)", 0, "-v.j.z"]
axes = "body"
[[force]]
type = "spring"
a = { body = "ground" }
b = { body = "a" }
stiffness = 10
length = 0.5
damping = 0.2
[[force]]
type = "force"
joint = "j.z"
value = 1
[[sensor]]
name = "tilt"
type = "expression"
expression = "q.j.qx^2 + q.j.qy^2 + v.j.wx"
[[sensor]]
name = "pose"
type = "body"
body = "a"
[[closure]]
name = "height"
type = "drive"
joint = "j.z"
value = "1 + t"
[[closure]]
name = "circle"
type = "expression"
expression = "hypot(q.j.x, q.j.y) - 1"
)toml");
  EXPECT_TRUE(spec.forces[0].in_body_axes);
  EXPECT_EQ(spec.forces[0].a.at.x(), 1.0);
  EXPECT_THAT(spec.forces[0].force[2].variables(), ElementsAre("v.j.z"));
  EXPECT_TRUE(spec.forces[0].torque[0].is_constant());
  EXPECT_EQ(spec.forces[1].damping, 0.2);
  EXPECT_EQ(spec.forces[2].joint, "j.z");
  EXPECT_THAT(spec.sensors[0].value.variables(), ElementsAre("q.j.qx", "q.j.qy", "v.j.wx"));
  EXPECT_EQ(spec.sensors[1].frame.body, "a");
  EXPECT_THAT(spec.closures[0].joints, ElementsAre("j.z"));
  EXPECT_THAT(spec.closures[1].value.variables(), ElementsAre("q.j.x", "q.j.y"));
}

// ---- Modules ----

const std::string kArm = R"(
name = "arm"
[parameters]
length = 1
[settings]
end = 99
[[body]]
name = "bar"
solid = { shape = "rod", to = ["length", 0, 0], mass = 1 }
[[joint]]
name = "hinge"
type = "revolute"
parent = { body = "ground" }
child = { body = "bar" }
[[force]]
type = "torque"
joint = "hinge"
value = "-v.hinge*t"
[[closure]]
name = "gear"
type = "expression"
expression = "q.hinge - t"
[[sensor]]
name = "end"
type = "point"
body = "bar"
[[port]]
name = "tip"
body = "bar"
at = ["length", 0, 0]
[[port]]
name = "base"
body = "ground"
)";

TEST(ModuleTest, BecomesPartOfTheModelUnderItsName) {
  const std::string text = R"(linkwork = 1
[parameters]
l = 3
[settings]
end = 2
[[body]]
name = "table"
mass = 1
[[module]]
name = "left"
file = "arm.toml"
parameters = { length = "2*l" }
[[module]]
name = "right"
file = "arm.toml"
[[port]]
name = "corner"
body = "table"
at = [0, 1, 0]
[[connection]]
name = "clamp"
type = "distance"
a = "left.tip"
b = "right.tip"
length = 5
[[connection]]
name = "pin"
type = "pin"
a = "corner"
b = "right.tip"
axis = [0, 1, 0]
[[connection]]
name = "rest"
type = "weld"
a = "ground"
b = "corner"
[[force]]
type = "torque"
joint = "left.hinge"
value = "q.right.hinge - q.left.hinge"
[[sensor]]
name = "watch"
type = "point"
body = "left.bar"
)";
  const Spec spec = read_model_text(text, "model.toml", with_files({{"arm.toml", kArm}}));
  EXPECT_EQ(spec.name, "model");
  EXPECT_EQ(spec.settings.end, 2.0);
  EXPECT_THAT(names(spec.bodies), ElementsAre("table", "left.bar", "right.bar"));
  EXPECT_EQ(spec.bodies[1].com.x(), 3.0);
  EXPECT_EQ(spec.bodies[2].com.x(), 0.5);
  EXPECT_THAT(names(spec.joints), ElementsAre("left.hinge", "right.hinge"));
  EXPECT_EQ(spec.joints[0].parent.body, "ground");
  EXPECT_EQ(spec.joints[0].child.body, "left.bar");
  EXPECT_THAT(names(spec.closures), ElementsAre("clamp", "pin", "rest", "left.gear", "right.gear"));
  EXPECT_EQ(spec.closures[0].a.body, "left.bar");
  EXPECT_EQ(spec.closures[0].a.at.x(), 6.0);
  EXPECT_EQ(spec.closures[0].b.at.x(), 1.0);
  EXPECT_EQ(spec.closures[1].a.body, "table");
  EXPECT_EQ(spec.closures[1].axis, Eigen::Vector3d::UnitY());
  EXPECT_EQ(spec.closures[2].a.body, "ground");
  EXPECT_THAT(spec.closures[3].value.variables(), ElementsAre("q.left.hinge", "t"));
  EXPECT_THAT(names(spec.forces), ElementsAre("", "", ""));
  EXPECT_EQ(spec.forces[2].joint, "right.hinge");
  EXPECT_THAT(spec.forces[2].value.variables(), ElementsAre("v.right.hinge", "t"));
  EXPECT_THAT(names(spec.sensors), ElementsAre("watch", "left.end", "right.end"));
  EXPECT_THAT(names(spec.ports), ElementsAre("corner", "left.tip", "left.base", "right.tip", "right.base"));
  EXPECT_EQ(spec.ports[2].frame.body, "ground");
}

TEST(ModuleTest, MayBeNestedAndRepeated) {
  const std::string pair = R"(
[parameters]
size = 1
[[module]]
repeat = { i = [1, 2] }
name = "arm{i}"
file = "arm.toml"
parameters = { length = "i*size" }
[[connection]]
name = "hold"
type = "point"
a = "arm1.tip"
b = "arm2.tip"
)";
  const std::string text =
      "linkwork = 1\n[[module]]\nrepeat = { k = [1, 2] }\nname = \"pair{k}\"\nfile = \"parts/pair.toml\"\n"
      "parameters = { size = \"10*k\" }\n[[connection]]\nname = \"both\"\ntype = \"point\"\na = \"pair1.arm2.tip\"\n"
      "b = \"pair2.arm1.tip\"\n";
  const Spec spec =
      read_model_text(text, "main/model.toml", with_files({{"main/parts/pair.toml", pair}, {"main/parts/arm.toml", kArm}}));
  EXPECT_THAT(names(spec.bodies), ElementsAre("pair1.arm1.bar", "pair1.arm2.bar", "pair2.arm1.bar", "pair2.arm2.bar"));
  EXPECT_EQ(spec.bodies[3].com.x(), 20.0);
  EXPECT_THAT(spec.closures[2].value.variables(), ElementsAre("q.pair1.arm1.hinge", "t"));
  EXPECT_EQ(spec.closures[0].name, "both");
  EXPECT_EQ(spec.closures[0].a.at.x(), 20.0);
  EXPECT_EQ(spec.closures[1].name, "pair1.hold");
  EXPECT_EQ(spec.closures[1].b.body, "pair1.arm2.bar");
}

}  // namespace
}  // namespace linkwork
