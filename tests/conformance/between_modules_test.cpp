#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>
#include <map>

#include "linkwork/io/model_file.h"
#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/model/joints/joint_kind.h"
#include "linkwork/model/kinds.h"
#include "linkwork/modules/assembly_plan.h"
#include "tests/support/assemblies.h"
#include "tests/support/random_text.h"

namespace linkwork {
namespace {

using test::body_text;
using test::frame_text;
using test::Random;
using test::Rows;
using test::written;

/// An arm on a pivot, a forearm on it, and a loose body: a module to which anything can be tied.
std::string module_text(Random& random) {
  std::string text =
      "linkwork = 1\n" + body_text(random, "arm", 0.5) + body_text(random, "forearm", 0.5) + body_text(random, "loose", 0.5);
  const auto pivot = [&](const char* name, const std::string& parent) {
    return fmt::format(
        "[[joint]]\nname = \"{}\"\ntype = \"revolute\"\naxis = {}\nposition = {}\nvelocity = {}\nparent = {}child = {}", name,
        written(random.axis()), random.uniform(-1, 1), random.uniform(-1, 1), frame_text(random, parent),
        frame_text(random, name));
  };
  text += pivot("arm", "ground") + pivot("forearm", "arm");
  return text +
         fmt::format(
             "[[joint]]\nname = \"loose\"\ntype = \"free\"\nvelocity = [0.3, 0.1, {}, 0.2, 0.5, -0.3]\n"
             "parent = {{ body = \"ground\" }}\nchild = {{ body = \"loose\" }}\n",
             random.uniform(-1, 1)) +
         "[[port]]\nname = \"hand\"\nbody = \"forearm\"\nat = [0, 0.4, 0.1]\n[[port]]\nname = \"knob\"\nbody = \"loose\"\n";
}

/// Three such modules with something between them.
Spec assembly(unsigned seed, const std::string& between) {
  Random random(seed);
  std::map<std::string, std::string> files;
  for (const char* const name : {"m1.toml", "m2.toml", "m3.toml"}) files[name] = module_text(random);
  ReadOptions options;
  options.load = [&](const std::filesystem::path& file) { return files.at(file.filename().string()); };
  std::string text = "linkwork = 1\n[settings]\nend = 0.04\nstep = 1e-3\n";
  for (const char* const name : {"m1", "m2", "m3"})
    text += fmt::format("[[module]]\nname = \"{0}\"\nfile = \"{0}.toml\"\n", name);
  text += "[[connection]]\nname = \"knot\"\ntype = \"spherical\"\na = \"m2.knob\"\nb = \"m3.hand\"\n";
  return read_model_text(text + between, "between.toml", options);
}

/// Every way of solving the modules apart gives what one piece gives, on any number of threads to the last bit.
void expect_the_motion_of_one_piece(Spec spec, const std::string& what, std::size_t couplings = 1) {
  EXPECT_EQ(plan_assembly(spec).couplings.size(), couplings) << what;
  const Rows whole = test::run_in_one_piece(spec);
  ASSERT_TRUE(whole.summary.completed) << what << ": " << whole.summary.status;
  spec.settings.glue = {"hierarchical", {}, {}};
  const Rows parts = test::run_modules(spec);
  ASSERT_TRUE(parts.summary.completed) << what << ": " << parts.summary.status;
  const auto [difference, column] = test::largest_difference(parts, whole);
  EXPECT_LE(difference, 1e-9) << what << ", " << column;
  EXPECT_EQ(parts.summary.dof, whole.summary.dof) << what;
  for (const int threads : {2, 3})
    EXPECT_EQ(test::run_modules(spec, threads).rows, parts.rows) << what << ", threads " << threads;
  // All other columns: reactions, efforts, multipliers, sensors. Those that are not unique may differ.
  for (std::size_t c = 0; c < parts.columns.size() && whole.summary.redundant.empty(); ++c) {
    const std::string& name = parts.columns[c];
    if (name.starts_with("error.") || std::ranges::find(whole.columns, name) == whole.columns.end()) continue;
    EXPECT_NEAR(parts.rows.back()[c], whole.last(name), 1e-6 * std::max(1.0, std::abs(whole.last(name)))) << what << ", " << name;
  }
}

std::string closure_between(Random& random, const std::string& type) {
  const auto number = [&] { return random.uniform(0.2, 1.0); };
  std::string text = fmt::format("[[closure]]\nname = \"c\"\ntype = \"{}\"\n", type);
  if (type == "gear")
    return text +
           fmt::format("joints = [\"m1.arm\", \"m2.loose.x\", \"m3.forearm\"]\ncoefficients = [{}, {}, {}]\noffset = 0.1\n",
                       number(), -number(), number());
  if (type == "expression")
    return text + fmt::format("expression = \"sin(q.m1.arm)*q.m2.loose.y + {}*q.m1.forearm - 0.1\"\n", number());
  if (type == "pfaffian")
    return text + fmt::format("expression = \"sin(q.m1.arm)*v.m2.loose.y + {}*v.m1.arm - 0.1*t*q.m3.arm\"\n", number());
  if (type == "friction-drive")
    return text + fmt::format("joints = [\"m1.arm\", \"m2.loose.x\"]\nratio = \"{} + q.m3.arm^2\"\n", number());
  if (type.starts_with("rolling")) text += fmt::format("radius = {}\n", number());
  if (type == "rolling-discs") text += "radius_a = 1.3\n";
  if (type == "distance") text += fmt::format("length = {}\n", 2.0 * number());
  if (type == "screw") text += fmt::format("pitch = {}\n", number());
  const FrameClosureKind* const kind = find_frame_closure_kind(type);
  const JointKind* const joint = find_joint_kind(type);
  if (kind != nullptr && kind->on_plane) text += fmt::format("normal = {}\n", written(random.axis()));
  if (kind != nullptr ? kind->has_axis : joint->has_axis) {
    const Eigen::Vector3d axis = random.axis();
    text += fmt::format("axis = {}\n", written(axis));
    if (type == "universal") text += fmt::format("axis2 = {}\n", written(axis.cross(random.axis()).normalized()));
  }
  return text + "a = " + frame_text(random, "m1.forearm") + "b = " + frame_text(random, "m2.loose");
}

std::vector<std::string> types_between_modules() {
  std::vector<std::string> types;
  for (const JointKind& kind : joint_kinds())
    if (!kind.rows.empty()) types.emplace_back(kind.name);
  for (const FrameClosureKind& kind : frame_closure_kinds())
    if (kind.name != "rolling-discs")
      types.emplace_back(kind.name);  // random discs seldom touch; rolling_modules has some that do
  for (const char* const name : {"gear", "expression", "pfaffian", "friction-drive"}) types.emplace_back(name);
  return types;
}

class ClosuresBetweenModules : public testing::TestWithParam<std::string> {};

TEST_P(ClosuresBetweenModules, GiveTheMotionOfOnePiece) {
  const FrameClosureKind* const kind = find_frame_closure_kind(GetParam());
  const bool plain = find_joint_kind(GetParam()) != nullptr || (kind != nullptr && kind->is_holonomic());
  int done = 0;
  for (unsigned seed = 1; seed <= 12 && done < 3; ++seed) {
    Random random(100 + seed);
    const Spec spec = assembly(seed, closure_between(random, GetParam()));
    try {
      test::started_plan(spec);
    } catch (const InputError&) {
      continue;  // frames at random need not fit together
    }
    ++done;
    expect_the_motion_of_one_piece(spec, fmt::format("seed {}", seed), plain ? 0 : 1);
  }
  EXPECT_EQ(done, 3);
}

INSTANTIATE_TEST_SUITE_P(EveryType, ClosuresBetweenModules, testing::ValuesIn(types_between_modules()), [](const auto& type) {
  std::string name = type.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

class JointsBetweenModules : public testing::TestWithParam<std::string> {};

TEST_P(JointsBetweenModules, GiveTheMotionOfOnePiece) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Random random(200 + seed);
    const JointKind& kind = *find_joint_kind(GetParam());
    std::string text = fmt::format("[[joint]]\nname = \"j\"\ntype = \"{}\"\n", GetParam());
    if (kind.has_axis) text += "axis = [0, 0, 1]\n";
    if (GetParam() == "universal") text = "[[joint]]\nname = \"j\"\ntype = \"universal\"\n";
    if (GetParam() == "screw") text += "pitch = 0.3\n";
    if (kind.nv() == 1) text += "stiffness = 3\ndamping = 0.2\nrest = 0.1\n";
    text += "cut = true\nparent = " + frame_text(random, "m1.forearm") + "child = " + frame_text(random, "m2.loose");
    expect_the_motion_of_one_piece(assembly(seed, text), fmt::format("seed {}", seed));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryType, JointsBetweenModules,
                         testing::Values("revolute", "prismatic", "screw", "cylindrical", "universal", "spherical", "planar",
                                         "weld"));

TEST(ForcesBetweenModules, GiveTheMotionOfOnePiece) {
  const std::string sensor =
      "[[sensor]]\nname = \"gap\"\ntype = \"distance\"\na = { body = \"m1.forearm\" }\nb = { body = \"m2.loose\", at = [0.1, 0, "
      "0] }\n";
  const std::vector<std::string> forces = {
      "[[connection]]\nname = \"s\"\ntype = \"spring\"\na = \"m1.hand\"\nb = \"m2.knob\"\nlaw = \"3*(d - 0.2) + d^3 + "
      "0.4*dv*q.m3.arm\"\n",
      "[[force]]\nname = \"s\"\ntype = \"torque\"\njoint = \"m1.arm\"\nvalue = \"2*sin(q.m2.forearm) - 0.3*v.m3.arm + t\"\n",
      "[[force]]\nname = \"s\"\ntype = \"wrench\"\nbody = \"m1.forearm\"\nat = [0.1, 0.2, 0]\nforce = [\"q.m2.arm\", "
      "\"v.m2.loose.x\", 1]\n"
      "torque = [0, \"0.2*sin(3*t)\", \"q.m3.forearm\"]\n",
      sensor + "[[force]]\nname = \"s\"\ntype = \"torque\"\njoint = \"m3.arm\"\nvalue = \"2*(d.gap - 0.3) + 0.1*dv.gap\"\n"};
  for (unsigned seed = 1; seed <= 2; ++seed)
    for (const std::string& force : forces)
      expect_the_motion_of_one_piece(assembly(seed, force), force, force.starts_with("[[sensor]]") ? 2 : 1);
}

/// Coordinates of a free joint that is anywhere, used elsewhere.
TEST(ForcesBetweenModules, MayUseCoordinatesOfFreeJoints) {
  for (unsigned seed = 1; seed <= 2; ++seed) {
    Random random(300 + seed);
    const std::string floating =
        body_text(random, "float", 0.5) + "[[joint]]\nname = \"float\"\ntype = \"free\"\nvelocity = [0.2, 0.1, " +
        "-0.3, 0.4, 0.5, -0.2]\nparent = " + frame_text(random, "ground") + "child = " + frame_text(random, "float");
    const std::string force =
        "[[force]]\nname = \"s\"\ntype = \"torque\"\njoint = \"m1.arm\"\nvalue = \"2*q.float.x - v.float.wz + q.float.z^2\"\n";
    const std::string gear =
        "[[closure]]\nname = \"g\"\ntype = \"gear\"\njoints = [\"m2.arm\", \"float.y\"]\ncoefficients = [1, 0.7]\n";
    expect_the_motion_of_one_piece(assembly(seed, floating + force + gear), fmt::format("seed {}", seed), 2);
  }
}

TEST(ForcesBetweenModules, LinearSpringsAndDampersOfPortsNeedNoModelOfTheirOwn) {
  const std::string text =
      "[[connection]]\nname = \"s\"\ntype = \"spring\"\na = \"m1.hand\"\nb = \"m2.knob\"\nstiffness = 5\nlength = 0.2\ndamping = "
      "0.3\n"
      "[[connection]]\nname = \"d\"\ntype = \"damper\"\na = \"ground\"\nb = \"m3.knob\"\ndamping = 0.3\n";
  expect_the_motion_of_one_piece(assembly(4, text), "springs", 0);
}

TEST(AnglesBetweenModules, AreCountedThroughFullTurns) {
  const std::string text =
      "[[closure]]\nname = \"mesh\"\ntype = \"gear\"\njoints = [\"m1.arm\", \"m2.arm\"]\ncoefficients = [1, 2.5]\n"
      "[[force]]\ntype = \"torque\"\njoint = \"m1.arm\"\nvalue = 400\n";
  Spec spec = assembly(5, text);
  spec.settings.end = 1.0;
  const Rows whole = test::run_in_one_piece(spec), parts = test::run_modules(spec);
  ASSERT_TRUE(parts.summary.completed) << parts.summary.status;
  EXPECT_GT(std::abs(whole.last("q.m1.arm")), 10.0);  // turns
  EXPECT_LE(test::largest_difference(parts, whole).first, 1e-6);
}

}  // namespace
}  // namespace linkwork
