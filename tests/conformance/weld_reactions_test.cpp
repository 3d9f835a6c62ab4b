// What welds transmit that make bodies one node of the tree. The same mechanism with each weld replaced by a free joint and a
// closure that holds all six directions has nothing that is merged, and gives it as multipliers: an independent way.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <set>

#include "linkwork/modules/model_run.h"
#include "tests/attack/random_mechanism.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::Contains;

bool reports_reaction(const std::string& column) { return column.starts_with("force.") || column.starts_with("torque."); }

Spec without_welds(Spec spec) {
  for (JointSpec& joint : spec.joints) {
    if (joint.type != "weld") continue;
    ClosureSpec closure;
    closure.name = joint.name;
    closure.type = "weld";
    closure.a = joint.parent;
    closure.b = joint.child;
    spec.closures.push_back(closure);
    joint.name += "~";
    joint.type = "free";
    joint.cut = false;
  }
  return spec;
}

KeptRun first_rows(Spec spec, const char* coordinates) {
  spec.settings.coordinates = {coordinates, {}, {}};
  spec.settings.glue = {"none", {}, {}};
  spec.settings.end = 2e-6;
  spec.settings.step = spec.settings.output_every = 1e-6;
  return run_model(spec);
}

std::set<std::string> reactions_not_unique(const Summary& summary) {
  std::set<std::string> names;
  for (const std::string& column : summary.not_unique)
    if (reports_reaction(column)) names.insert(column);
  return names;
}

/// The number of reactions of welds that were compared.
int compare(const KeptRun& run, const KeptRun& oracle, const std::string& what) {
  std::set<std::string> welds;
  for (const std::string& column : oracle.columns)
    if (column.starts_with("q.") && column.find('~') != std::string::npos) welds.insert(column.substr(2, column.find('~') - 2));
  double largest = 1e-6;
  for (const std::string& column : oracle.columns)
    if (reports_reaction(column)) largest = std::max(largest, std::abs(oracle[column][0]));
  const std::set<std::string> open = reactions_not_unique(oracle.summary);
  EXPECT_EQ(reactions_not_unique(run.summary), open) << what;
  int compared = 0;
  for (const std::string& column : oracle.columns) {
    if (!reports_reaction(column) || column.find('~') != std::string::npos || open.contains(column)) continue;
    EXPECT_THAT(run.columns, Contains(column)) << what;
    if (std::ranges::find(run.columns, column) == run.columns.end()) continue;
    const double a = run[column][0], b = oracle[column][0];
    EXPECT_LT(std::abs(a - b), 1e-9 * largest) << what << ": " << column << " is " << a << " instead of " << b;
    const std::string joint = column.substr(column.find('.') + 1, column.rfind('.') - column.find('.') - 1);
    compared += welds.contains(joint);
  }
  return compared;
}

/// Welds on welds, on the ground, from child to parent; joints, closures, springs, wrenches, friction and joint laws on what is
/// welded; two welds between the same bodies.
constexpr const char* kWelded = R"(
[settings]
gravity = [1, -9.81, 2]
[[body]]
name = "post"
mass = 3.0
com = [0.1, 0.2, 0.3]
inertia = [0.1, 0.2, 0.25]
[[body]]
name = "arm"
mass = 2.0
com = [0.3, 0.1, -0.1]
inertia = [0.1, 0.2, 0.2]
[[body]]
name = "plate"
mass = 1.5
com = [0.1, -0.2, 0.1]
inertia = [0.05, 0.04, 0.03]
[[body]]
name = "horn"
mass = 0.7
com = [0.0, 0.1, 0.2]
inertia = [0.01, 0.02, 0.02]
[[body]]
name = "bob"
mass = 1.1
com = [0.1, -0.3, 0.05]
inertia = [0.03, 0.02, 0.04]
[[joint]]
name = "foot"
type = "weld"
parent = { body = "ground", at = [0.2, 0.1, 0] }
child = { body = "post", at = [-0.1, 0.3, 0.2] }
[[joint]]
name = "theta"
type = "revolute"
parent = { body = "post", at = [0.5, 0, 0.1] }
child = { body = "arm" }
axis = [0.2, 0.1, 1]
velocity = 2.0
damping = 0.3
stiffness = 4.0
[[joint]]
name = "backwards"
type = "weld"
parent = { body = "plate", at = [0.1, 0.1, 0] }
child = { body = "arm", at = [0.4, 0, 0.2] }
[[joint]]
name = "stack"
type = "weld"
parent = { body = "plate", at = [0.2, 0, 0] }
child = { body = "horn", at = [0, 0.1, -0.1] }
[[joint]]
name = "hang"
type = "universal"
parent = { body = "horn", at = [0.3, 0.1, 0] }
child = { body = "bob" }
axis = [1, 0, 0]
axis2 = [0, 1, 0]
velocity = [1.0, -0.5]
friction = 0.2
[[force]]
type = "spring"
a = { body = "ground", at = [1, 1, 0] }
b = { body = "horn", at = [0.1, 0.2, 0] }
stiffness = 10
length = 0.5
damping = 0.2
[[force]]
type = "spring"
a = { body = "post", at = [0.1, 0, 0] }
b = { body = "plate", at = [0.1, 0.2, 0] }
stiffness = 25
length = 0.1
[[force]]
type = "wrench"
body = "plate"
at = [0.6, 0.1, 0]
force = ["1 + t", 0, 2]
torque = [0, 1, "v.theta"]
axes = "body"
[[force]]
type = "wrench"
body = "post"
force = [4, 5, 6]
torque = [1, 2, 3]
)";

TEST(WeldReactions, AreThoseOfClosuresInTheirPlace) {
  const Spec spec = test::spec_of(kWelded);
  const KeptRun oracle = first_rows(without_welds(spec), "TA");
  for (const char* const coordinates : {"TA", "CE", "FA"})
    EXPECT_EQ(compare(first_rows(spec, coordinates), oracle, coordinates), 18) << coordinates;
}

TEST(WeldReactions, CarryWhatHangsOnThem) {
  const Spec spec = test::spec_of(R"(
[[body]]
name = "post"
mass = 3.0
[[body]]
name = "top"
mass = 2.0
[[joint]]
name = "foot"
type = "weld"
parent = { body = "ground" }
child = { body = "post" }
[[joint]]
name = "neck"
type = "weld"
parent = { body = "post", at = [1, 0, 0] }
child = { body = "top" }
)");
  const KeptRun run = first_rows(spec, "TA");
  EXPECT_NEAR(run["force.neck.y"][0], 2.0 * 9.81, 1e-12);
  EXPECT_NEAR(run["force.foot.y"][0], 5.0 * 9.81, 1e-12);
  EXPECT_NEAR(run["torque.foot.z"][0], 2.0 * 9.81, 1e-12);  // of the part that stands out by 1 m
  EXPECT_NEAR(run["torque.neck.z"][0], 0.0, 1e-12);
}

TEST(WeldReactions, OfALoopOfWeldsAreNotUniqueAndNamed) {
  Spec spec = test::spec_of(kWelded);
  JointSpec second = spec.joints[3];
  second.name = "again";
  second.parent.at += Vec3<double>(0.1, 0.2, 0.3);
  second.child.at += Vec3<double>(0.1, 0.2, 0.3);
  spec.joints.push_back(second);
  const KeptRun expected = first_rows(without_welds(spec), "TA");
  for (const char* const coordinates : {"TA", "FA"}) {
    const KeptRun run = first_rows(spec, coordinates);
    for (const char* const weld : {"stack", "again"})
      for (const char* const part : {"force", "torque"})
        EXPECT_THAT(run.summary.not_unique, Contains(fmt::format("{}.{}.y", part, weld))) << coordinates;
    EXPECT_EQ(compare(run, expected, coordinates), 12) << coordinates;
  }
}

/// Every body of a random mechanism gets another that is welded to it, and what acts on it, joints included, moves there by
/// chance.
TEST(WeldReactions, OfRandomMechanismsAreThoseOfClosuresInTheirPlace) {
  int compared = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    Spec spec = test::random_mechanism(seed);
    std::mt19937 random(static_cast<unsigned>(seed));
    const auto somewhere = [&] { return Vec3<double>(test::uniform(random), test::uniform(random), test::uniform(random)); };
    const std::size_t count = spec.bodies.size();
    std::vector<JointSpec> welds;
    for (std::size_t b = 0; b < count; ++b) {
      BodySpec part = spec.bodies[b];
      part.name += "_part";
      part.com += somewhere() * 0.1;
      JointSpec weld;
      weld.name = fmt::format("weld{}", b);
      weld.type = "weld";
      weld.parent.body = spec.bodies[b].name;
      weld.child.body = part.name;
      if (b % 2 == 1) std::swap(weld.parent, weld.child);
      welds.push_back(weld);
      spec.bodies.push_back(part);
    }
    // The frames of body and part are the same, so that frames can move from one to the other.
    const auto move = [&](FrameSpec& frame) {
      if (frame.body != "ground" && test::uniform(random) > 0.0) frame.body += "_part";
    };
    for (JointSpec& joint : spec.joints) move(joint.parent), move(joint.child);
    for (ClosureSpec& closure : spec.closures) move(closure.a), move(closure.b);
    for (ForceSpec& force : spec.forces) move(force.a), move(force.b);
    spec.joints.insert(spec.joints.end(), welds.begin(), welds.end());
    KeptRun oracle;
    try {
      oracle = first_rows(without_welds(spec), "TA");
    } catch (const InputError&) {
      continue;
    }
    if (oracle.rows.empty() || !oracle.summary.completed) continue;
    for (const char* const coordinates : {"TA", "FA"}) {
      KeptRun run;
      try {
        run = first_rows(spec, coordinates);
      } catch (const InputError&) {
        continue;
      }
      if (!run.rows.empty() && run.summary.completed)
        compared += compare(run, oracle, fmt::format("seed {} in {}", seed, coordinates));
    }
  }
  EXPECT_GT(compared, 300);
}

}  // namespace
}  // namespace linkwork
