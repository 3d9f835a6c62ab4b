#include "linkwork/dynamics/diagnosis.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkwork/coordinates/fully_augmented.h"
#include "linkwork/dynamics/redundancy.h"
#include "linkwork/simulation/assembly.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using RowKind = RowDiagnosis::Kind;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

Diagnosis diagnosis_of_start(const Model& model) { return diagnose(model, test::start_state(model)); }

/// A parallelogram at a crank angle, closed by the given type, beside what else there is.
Model parallelogram(double angle, const std::string& type = "pin", const std::string& more = "") {
  return test::model_of(fmt::format(R"toml(
[[body]]
name = "crank"
solid = {{ shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 1 }}
[[body]]
name = "coupler"
solid = {{ shape = "rod", from = [0, 0, 0], to = [2, 0, 0], mass = 1 }}
[[body]]
name = "rocker"
solid = {{ shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 1 }}
[[joint]]
name = "theta"
type = "revolute"
parent = {{ body = "ground" }}
child = {{ body = "crank" }}
position = {0}
[[joint]]
name = "alpha"
type = "revolute"
parent = {{ body = "crank", at = [1, 0, 0] }}
child = {{ body = "coupler" }}
position = -{0}
[[joint]]
name = "phi"
type = "revolute"
parent = {{ body = "ground", at = [2, 0, 0] }}
child = {{ body = "rocker" }}
position = {0}
[[closure]]
name = "last"
type = "{1}"
a = {{ body = "coupler", at = [2, 0, 0] }}
b = {{ body = "rocker", at = [1, 0, 0] }}
{2})toml",
                                    angle, type, more));
}

TEST(Diagnosis, IndependentRowsHaveUniqueReactions) {
  const Model model = parallelogram(1.0);
  const Diagnosis diagnosis = diagnosis_of_start(model);
  EXPECT_EQ(diagnosis.rank, 2);
  EXPECT_EQ(diagnosis.usual_rank, 2);
  EXPECT_THAT(diagnosis.of_kind(RowKind::kIndependent), ElementsAre(0, 1));
  EXPECT_THAT(diagnosis.undetermined, IsEmpty());
  EXPECT_THAT(diagnosis.determined, ElementsAre("'last'"));
  EXPECT_THAT(describe_dependence(model, diagnosis), IsEmpty());
  EXPECT_EQ(describe_reactions(model, diagnosis), "");
  EXPECT_EQ(advise(model, diagnosis), "");
  EXPECT_EQ(describe_contradiction(model, diagnosis), "");
  EXPECT_GT(diagnosis.distance, 0.05);
}

TEST(Diagnosis, DistanceFromASingularPositionIsProportionalToTheAngleFromIt) {
  const double far = diagnosis_of_start(parallelogram(1e-2)).distance, near = diagnosis_of_start(parallelogram(1e-4)).distance;
  EXPECT_NEAR(far / near, 100.0, 5.0);
  EXPECT_LT(near, 1e-3);
}

TEST(Diagnosis, ARowThatVanishesHereButNotNearbyIsDegenerate) {
  const Model model = parallelogram(0.0);
  const Diagnosis diagnosis = diagnosis_of_start(model);
  EXPECT_EQ(diagnosis.rank, 1);
  EXPECT_EQ(diagnosis.usual_rank, 2);
  EXPECT_THAT(diagnosis.of_kind(RowKind::kDegenerate), ElementsAre(0));  // all links lie along x
  EXPECT_TRUE(diagnosis.rows[0].vanishes());
  EXPECT_THAT(describe_dependence(model, diagnosis),
              ElementsAre("last.x vanishes at this position, though not nearby: a singular position"));
  EXPECT_THAT(advise(model, diagnosis), HasSubstr("start a little beside the singular position"));
}

TEST(Diagnosis, RowsAcrossAPlanarLoopActOnNothingAndOnlyTheirReactionsAreOpen) {
  const Model model = parallelogram(1.0, "revolute");
  const Diagnosis diagnosis = diagnosis_of_start(model);
  EXPECT_EQ(diagnosis.rank, 2);
  EXPECT_THAT(diagnosis.of_kind(RowKind::kRedundant), ElementsAre(2, 3, 4));
  for (int row : {2, 3, 4}) EXPECT_TRUE(diagnosis.rows[static_cast<std::size_t>(row)].vanishes());
  EXPECT_THAT(diagnosis.undetermined,
              UnorderedElementsAre("lambda.last.z", "lambda.last.rx", "lambda.last.ry", "force.last.z", "torque.last.x",
                                   "torque.last.y", "force.theta.z", "torque.theta.x", "torque.theta.y", "force.alpha.z",
                                   "torque.alpha.x", "torque.alpha.y", "force.phi.z", "torque.phi.x", "torque.phi.y"));
  EXPECT_THAT(describe_dependence(model, diagnosis),
              ElementsAre("last.z, last.rx, last.ry act on no motion that the joints of the tree allow"));
}

/// In models/five_bar_redundant.toml both couplers are horizontal, so that only the rows along x repeat one another: the forces
/// along y follow from the balance of each coupler.
TEST(Diagnosis, OfTheRedundantFiveBarNamesTheTwoRowsThatShareALoad) {
  const Model model = build_model(test::library_spec("five_bar_redundant"));
  const Diagnosis diagnosis = diagnosis_of_start(model);
  EXPECT_EQ(diagnosis.rank, 3);
  EXPECT_EQ(diagnosis.usual_rank, 3);
  EXPECT_THAT(diagnosis.of_kind(RowKind::kRedundant), ElementsAre(2));
  EXPECT_THAT(diagnosis.undetermined,
              UnorderedElementsAre("lambda.top.x", "lambda.middle.x", "force.top.x", "force.middle.x", "force.theta2.x",
                                   "force.theta3.x", "force.theta5.x", "force.theta4.x"));
  EXPECT_THAT(diagnosis.determined, ElementsAre("lambda.top.y", "lambda.middle.y"));
  EXPECT_THAT(describe_dependence(model, diagnosis), ElementsAre("middle.x follows from top.x"));
  EXPECT_THAT(describe_reactions(model, diagnosis), HasSubstr("how top.x, middle.x share their load"));
  EXPECT_THAT(advise(model, diagnosis), HasSubstr("leave out one of 'top', 'middle'"));
}

TEST(Diagnosis, RowsThatAskForDifferentAccelerationsAreInconsistentByTheDifference) {
  const Model model = test::model_of(R"toml(
[[body]]
name = "wheel"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "axle"
type = "revolute"
parent = { body = "ground" }
child = { body = "wheel" }
[[closure]]
name = "slow"
type = "drive"
joint = "axle"
value = "t^2"
[[closure]]
name = "fast"
type = "drive"
joint = "axle"
value = "2*t^2"
)toml");
  const Diagnosis diagnosis = diagnosis_of_start(model);
  EXPECT_THAT(diagnosis.of_kind(RowKind::kInconsistent), ElementsAre(1));
  EXPECT_THAT(diagnosis.rows[1].follows_from, ElementsAre(0));
  EXPECT_NEAR(diagnosis.rows[1].contradiction, 2.0, 1e-12);
  EXPECT_THAT(describe_contradiction(model, diagnosis), HasSubstr("closures 'slow', 'fast' contradict one another"));
}

TEST(Diagnosis, ModelsOfTheLibraryAreConsistentAtRandomStates) {
  std::mt19937 random(61);
  for (const std::string& name : test::library_models()) {
    const Model model = build_model(test::library_spec(name));
    const Diagnosis diagnosis = diagnose(model, test::random_consistent_state(model, random));
    EXPECT_FALSE(diagnosis.has(RowKind::kInconsistent)) << name << ": " << describe_contradiction(model, diagnosis);
    EXPECT_FALSE(diagnosis.has(RowKind::kDegenerate)) << name;
    EXPECT_EQ(diagnosis.rank, diagnosis.usual_rank) << name;
  }
}

TEST(Assembly, NamesAlsoTheClosureThatStandsInTheWay) {
  const Model model = build_model(test::library_spec("five_bar_redundant", {{"r5", "2.1"}}));
  AssemblyReport report;
  try {
    assemble(model, report);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("'middle' (off by"));
    EXPECT_THAT(error.what(), HasSubstr("'top'"));
  }
}

/// Freedoms of the model as it is, and of its bodies each by itself.
std::pair<int, int> freedoms(const Model& model) {
  const auto left = [](const Model& of, const State& state) {
    System system(of);
    system.update(state);
    std::vector<char> dependent(of.rows.size());
    return of.tree.nv - RowRank().decide(system, dependent).rank;
  };
  const State state = test::start_state(model);
  const Model augmented = fully_augmented(model);
  System system(model);
  system.update(state);
  State free{state.t, VecX<double>(augmented.tree.nq), VecX<double>(augmented.tree.nv), {}, {}};
  free_body_state(model, system.work(), free.q.data(), free.v.data());
  return {left(model, state), left(augmented, free)};
}

TEST(RankUnits, AreNotThoseOfAnotherLoopsBodies) {
  const std::pair two{2, 2};
  for (const double far : {1e-4, 1.0, 1e4})
    for (const double angle : {0.01, 0.3, 1.0})
      EXPECT_EQ(freedoms(parallelogram(angle, "revolute",
                                       fmt::format(R"toml(
[[body]]
name = "large"
solid = {{ shape = "rod", from = [0, 0, 0], to = [{0}, {0}, {0}], mass = 1 }}
[[joint]]
name = "alone"
type = "revolute"
axis = [0.3, -0.5, 0.8]
parent = {{ body = "ground" }}
child = {{ body = "large" }}
)toml",
                                                   far))),
                two)
          << far << " m, " << angle << " rad";
}

}  // namespace
}  // namespace linkwork
