#include "linkwork/model/topology.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkwork/simulation/simulation.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

/// A loop of bodies by revolute joints: ground - b1 - ... - bn - ground, joint i from body i to i+1.
std::string ring(int bodies, const std::string& extra_on_joint = "", int extra_joint = -1) {
  std::string toml;
  const auto name = [&](int i) { return i == 0 || i == bodies + 1 ? std::string("ground") : "b" + std::to_string(i); };
  for (int i = 1; i <= bodies; ++i) toml += "[[body]]\nname = \"" + name(i) + "\"\nmass = 1\ninertia = [1, 1, 1]\n";
  for (int i = 0; i <= bodies; ++i)
    toml += "[[joint]]\nname = \"j" + std::to_string(i) + "\"\ntype = \"revolute\"\nparent = { body = \"" + name(i) +
            "\", at = [1, 0, 0] }\nchild = { body = \"" + name(i + 1) + "\" }\n" + (i == extra_joint ? extra_on_joint : "");
  return toml;
}

std::vector<int> cut_joints(const Topology& topology) {
  std::vector<int> cut;
  for (std::size_t j = 0; j < topology.cut.size(); ++j)
    if (topology.cut[j]) cut.push_back(static_cast<int>(j));
  return cut;
}

TEST(Topology, CutsALoopInTheMiddleSoThatBranchesStayShort) {
  EXPECT_EQ(cut_joints(choose_topology(test::spec_of(ring(5)))), std::vector<int>{3});
}

TEST(Topology, ObeysTheUser) {
  EXPECT_EQ(cut_joints(choose_topology(test::spec_of(ring(5, "cut = true\n", 1)))), std::vector<int>{1});
}

TEST(Topology, KeepsJointsWithStartValuesInTheTree) {
  EXPECT_NE(cut_joints(choose_topology(test::spec_of(ring(5, "position = 0.3\n", 3)))), std::vector<int>{3});
}

TEST(Topology, LeavesSmallLoops) {
  // A ladder: two rails on the ground and rungs between neighbours; every loop can be as small as four joints.
  std::string toml;
  const int n = 5;
  for (const char* rail : {"l", "r"})
    for (int i = 1; i <= n; ++i)
      toml += "[[body]]\nname = \"" + std::string(rail) + std::to_string(i) + "\"\nmass = 1\ninertia = [1, 1, 1]\n";
  int j = 0;
  const auto joint = [&](const std::string& a, const std::string& b) {
    toml += "[[joint]]\nname = \"j" + std::to_string(j++) + "\"\ntype = \"revolute\"\nparent = { body = \"" + a +
            "\" }\nchild = { body = \"" + b + "\" }\n";
  };
  for (const char* rail : {"l", "r"})
    for (int i = 1; i <= n; ++i) joint(i == 1 ? "ground" : rail + std::to_string(i - 1), rail + std::to_string(i));
  for (int i = 1; i <= n; ++i) joint("l" + std::to_string(i), "r" + std::to_string(i));
  const Topology topology = choose_topology(test::spec_of(toml));
  ASSERT_EQ(topology.loops.size(), 5u);
  int total = 0;
  for (const Topology::Loop& loop : topology.loops) total += loop.length;
  EXPECT_LE(total, 3 + 4 * 4 + 4);
}

TEST(Topology, SaysWhichBodyHangsOnNothing) {
  try {
    build_model(test::spec_of("[[body]]\nname = \"lost\"\nmass = 1\ninertia = [1, 1, 1]\n"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("test.toml:3:1: body 'lost' is not connected to the ground"));
  }
}

TEST(Topology, NamesTheCutThatLeavesABodyHangingOnNothing) {
  Spec spec = test::library_spec("double_pendulum");
  spec.joints.front().cut = true;
  try {
    build_model(spec);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("is not connected to the ground by joints: 'cut = true' takes '" +
                                        spec.joints.front().name + "' out of the tree"));
  }
}

TEST(Topology, MotionDoesNotDependOnWhichJointIsCut) {
  std::vector<std::vector<std::pair<std::string, double>>> ends;
  for (const char* cut : {"psi", "x", "wrist"}) {
    Spec spec = test::library_spec("slider_crank");
    const ClosureSpec wrist = spec.closures.at(0);
    spec.closures.clear();
    JointSpec joint;
    joint.name = "wrist";
    joint.type = "revolute";
    joint.parent = wrist.a;
    joint.child = wrist.b;
    spec.joints.push_back(joint);
    for (JointSpec& j : spec.joints) j.cut = j.name == cut;
    spec.settings.end = 0.2;
    const Model model = build_model(spec);
    Simulation simulation(model);
    ends.push_back(simulation.run().final_state);
  }
  for (std::size_t i = 1; i < ends.size(); ++i)
    for (std::size_t k = 0; k < ends[0].size(); ++k) EXPECT_NEAR(ends[i][k].second, ends[0][k].second, 1e-7) << ends[0][k].first;
}

TEST(Topology, AJointTheTreeRunsThroughBackwardsKeepsItsOwnCoordinates) {
  // The joint's child is the ground, so the tree enters it from the child.
  for (const std::string start :
       {"type = \"spherical\"\nposition = [0.5, 0.5, -0.5, 0.5]\nvelocity = [0.3, -1, 2]",
        "type = \"free\"\nposition = [1, -2, 0.5, 0.5, 0.5, -0.5, 0.5]\nvelocity = [0.7, 0.1, -0.4, 0.3, -1, 2]",
        "type = \"universal\"\nposition = [0.4, -0.7]\nvelocity = [1, 2]",
        "type = \"planar\"\nposition = [0.4, -0.7, 0.9]\nvelocity = [1, 2, 3]"}) {
    const Spec spec = test::spec_of("[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"j\"\n" + start +
                                    "\nparent = { body = \"b\", at = [0.2, 0.3, 0], rpy = [0.1, 0.2, 0.3] }\n" +
                                    "child = { body = \"ground\", at = [0, 0, 1] }\n");
    const Model model = build_model(spec);
    const State state = test::start_state(model);
    System system(model);
    system.update(state);
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system.joint_motion(model.joints[0], {}, q, v, a);
    for (std::size_t k = 0; k < spec.joints[0].position.size(); ++k)
      EXPECT_NEAR(q[k], spec.joints[0].position[k], 1e-14) << start;
    for (std::size_t k = 0; k < spec.joints[0].velocity.size(); ++k)
      EXPECT_NEAR(v[k], spec.joints[0].velocity[k], 1e-14) << start;
  }
}

}  // namespace
}  // namespace linkwork
