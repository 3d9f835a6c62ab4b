#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <random>

#include "examples/rocker_module.h"
#include "linkwork/modules/model_module.h"
#include "linkwork/modules/module_equations.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

/// A model with frames on its last two bodies as ports.
std::unique_ptr<Module> module_of(const std::string& name) {
  const Spec spec = test::library_spec(name);
  std::vector<FrameSpec> ports(2);
  ports[0].body = spec.bodies.back().name;
  ports[0].at = {0.1, 0.2, -0.1};
  ports[0].rotation = Eigen::Quaterniond(0.8, 0.2, -0.4, 0.4).normalized();
  ports[1].body = spec.bodies[spec.bodies.size() / 2].name;
  ports[1].at = {-0.3, 0.0, 0.2};
  return make_model_module(build_model(spec), ports);
}

const std::vector<std::string> kModels{"four_bar",           "rover",      "stewart", "delta", "chain",
                                       "five_bar_redundant", "gear_train", "flyball"};

/// The recipe with dense matrices: D = J M^-1 (J' + H' S), R = J (a_f + M^-1 H' V) + Jdot v.
TEST(ModelModule, RespondsAsTheDenseEquationsSay) {
  for (const std::string& name : kModels) {
    const auto module = module_of(name);
    VecX<double> x;
    module->start(x);
    std::vector<PortMotion> motion(2);
    ASSERT_TRUE(module->kinematics(0.3, x, motion).ok()) << name;
    ModuleEquations& e = *module->equations();
    e.show();
    const MatX<double> Minv = e.M.inverse();
    const VecX<double> a_f = Minv * e.force;
    MatX<double> D = e.J * Minv * e.J.transpose();
    VecX<double> vdot = a_f;
    if (e.A.rows() > 0) {
      const auto P = (e.A * Minv * e.A.transpose()).completeOrthogonalDecomposition();
      const MatX<double> S = -P.solve(MatX<double>(e.A * Minv * e.J.transpose()));
      D += e.J * Minv * e.A.transpose() * S;
      vdot += Minv * e.A.transpose() * P.solve(VecX<double>(e.b - e.A * a_f));
    }
    const VecX<double> R = e.J * vdot + e.Jdot_v;
    PortResponse response(2);
    ASSERT_TRUE(module->response(Level::kAcceleration, response).ok()) << name;
    EXPECT_LE((response.D - D).cwiseAbs().maxCoeff(), 1e-9 * D.cwiseAbs().maxCoeff()) << name;
    EXPECT_LE((response.R - R).cwiseAbs().maxCoeff(), 1e-8 * (1.0 + R.cwiseAbs().maxCoeff())) << name;
    for (Eigen::Index i = 0; i < 12; ++i) EXPECT_LE(response.D(i, i), 1.0001 * response.scale[i] + 1e-12) << name << " " << i;
  }
}

/// What the response promises is what advance() does: accelerations of the ports, by differences of their velocities.
TEST(ModelModule, AdvancesAsItResponds) {
  std::mt19937 random(5);
  for (const std::string& name : kModels) {
    const auto module = module_of(name);
    VecX<double> x, rates;
    module->start(x);
    std::vector<PortMotion> motion(2), before(2), after(2);
    PortResponse response(2);
    const VecX<double> Q = 0.1 * test::uniform_vector(random, 12);
    ASSERT_TRUE(module->kinematics(0.0, x, motion).ok());
    ASSERT_TRUE(module->response(Level::kAcceleration, response).ok());
    const VecX<double> xdd = response.D * Q + response.R;
    ASSERT_TRUE(module->advance(Level::kAcceleration, Q, rates).ok());
    const double h = 1e-6;
    module->kinematics(-h, x - h * rates, before);
    module->kinematics(h, x + h * rates, after);
    for (std::size_t p = 0; p < 2; ++p) {
      const Vec3<double> wdot = (after[p].w - before[p].w) / (2 * h), a = (after[p].v - before[p].v) / (2 * h);
      const auto at = static_cast<Eigen::Index>(6 * p);
      EXPECT_LE((wdot - xdd.segment<3>(at)).norm(), 1e-5 * (1.0 + wdot.norm())) << name;
      EXPECT_LE((a - xdd.segment<3>(at + 3)).norm(), 1e-5 * (1.0 + a.norm())) << name;
    }
  }
}

Spec four_bar() {
  Spec spec = test::library_spec("four_bar_modules");
  spec.settings.end = 1.0;
  return spec;
}

AssemblyPlan with_own_rocker(const Spec& spec) {
  AssemblyPlan plan = test::started_plan(spec);
  for (ModulePlan& module : plan.modules)
    if (module.name == "right")
      module.make = [](const std::vector<double>& start) {
        return std::make_unique<RockerModule>("right.phi", RockerModule::Rod{3.0, 2.5, 1.0, 9.81, start.at(0)});
      };
  return plan;
}

TEST(OwnModule, CannotBeToldFromAModel) {
  const Spec spec = four_bar();
  const test::Rows model = test::run_modules(spec);
  for (const std::string glue : {"hierarchical", "compliance"}) {
    const test::Rows own = test::run_plan(with_own_rocker(spec), {glue, {}, {}}, 2);
    ASSERT_TRUE(own.summary.completed) << own.summary.status;
    const test::Rows reference = glue == "hierarchical" ? model : test::run_plan(test::started_plan(spec), {glue, {}, {}});
    EXPECT_LE(test::largest_difference(own, reference).first, 1e-9) << glue;
    EXPECT_NEAR(own.last("energy.total"), reference.last("energy.total"), 1e-8) << glue;
    EXPECT_NEAR(own.summary.energy_drift, reference.summary.energy_drift, 1e-8) << glue;
  }
}

TEST(OwnModule, IsRefusedByGluesThatNeedItsEquations) {
  try {
    test::run_plan(with_own_rocker(four_bar()), {"projection", {}, {}}, 2);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("which not every module shows: right"));
  }
}

class BrokenRocker : public RockerModule {
 public:
  using RockerModule::RockerModule;
  Status kinematics(double t, const VecX<double>& x, std::span<PortMotion> ports) override {
    broken_ = t > 0.25;
    return RockerModule::kinematics(t, x, ports);
  }
  Status response(Level level, PortResponse& response) override {
    const Status status = RockerModule::response(level, response);
    if (broken_) response.R[4] = std::nan("");
    return status;
  }

 private:
  bool broken_ = false;
};

TEST(Run, StopsAtAModuleThatReturnsNanAndNamesItAndTheTime) {
  AssemblyPlan plan = with_own_rocker(four_bar());
  for (ModulePlan& module : plan.modules)
    if (module.name == "right")
      module.make = [](const std::vector<double>& start) {
        return std::make_unique<BrokenRocker>("right.phi", RockerModule::Rod{3.0, 2.5, 1.0, 9.81, start.at(0)});
      };
  for (const int threads : {1, 2}) {
    const test::Rows run = test::run_plan(plan, {"hierarchical", {}, {}}, threads);
    EXPECT_FALSE(run.summary.completed);
    EXPECT_THAT(run.summary.status, HasSubstr("module 'right': its response at t = 0.2505 s is not a finite number"));
    EXPECT_EQ(run.rows.size(), 26U);  // nothing of what was written is lost
  }
}

/// A hinge of five rows in a plane: three of them follow from the others.
TEST(Hierarchy, DropsRowsThatFollowFromOthers) {
  Spec spec = four_bar();
  spec.closures.back().type = "revolute";
  Spec whole = spec;
  whole.settings.glue = {"none", {}, {}};
  const test::Rows parts = test::run_modules(spec), one = test::run_in_one_piece(whole);
  ASSERT_TRUE(parts.summary.completed) << parts.summary.status;
  EXPECT_EQ(parts.summary.redundant.size(), 3U);
  EXPECT_EQ(parts.summary.rank, 2);
  EXPECT_EQ(parts.summary.dof, 1);
  EXPECT_LE(test::largest_difference(parts, one).first, 1e-9);
}

TEST(Hierarchy, GivesTheReactionsOfTheSystemInOnePiece) {
  const Spec spec = test::library_spec("rover_modules");
  Spec shorter = spec;
  shorter.settings.end = 0.05;
  Spec whole = shorter;
  whole.settings.glue = {"none", {}, {}};
  const test::Rows parts = test::run_modules(shorter), one = test::run_in_one_piece(whole);
  for (const std::string& column : parts.columns)
    if (column.starts_with("lambda.") || column.starts_with("force.") || column.starts_with("torque.")) {
      EXPECT_NEAR(parts.last(column), one.last(column), 1e-6 * (1.0 + std::abs(one.last(column)))) << column;
    }
}

TEST(Plan, MakesCouplingsOfWhatReachesAcrossModules) {
  const auto plan_of = [](const std::string& text) {
    ReadOptions options;
    options.load = [](const std::filesystem::path&) {
      return std::string(
          "linkwork = 1\n[[body]]\nname = \"m\"\nmass = 1\ninertia = [1, 1, 1]\n[[joint]]\nname = \"j\"\ntype = \"revolute\"\n"
          "parent = { body = \"ground\" }\nchild = { body = \"m\" }\n");
    };
    const std::string modules = "linkwork = 1\n[[module]]\nname = \"a\"\nfile = \"x\"\n[[module]]\nname = \"b\"\nfile = \"x\"\n";
    return plan_assembly(read_model_text(modules + text, "m.toml", options));
  };
  for (const std::string text :
       {"[[joint]]\nname = \"k\"\ntype = \"revolute\"\nparent = { body = \"a.m\" }\nchild = { body = \"b.m\" }\n",
        "[[closure]]\nname = \"g\"\ntype = \"gear\"\njoints = [\"a.j\", \"b.j\"]\ncoefficients = [1, 2]\n",
        "[[force]]\ntype = \"torque\"\njoint = \"a.j\"\nvalue = \"q.b.j\"\n"}) {
    const AssemblyPlan plan = plan_of(text);
    ASSERT_EQ(plan.couplings.size(), 1U) << text;
    EXPECT_EQ(plan.couplings[0].ports.size(), 2U) << text;
    EXPECT_EQ(plan.joined(), (std::vector<std::pair<int, int>>{{0, 1}})) << text;
  }
  EXPECT_TRUE(plan_of("[[force]]\ntype = \"torque\"\njoint = \"a.j\"\nvalue = \"q.a.j\"\n").couplings.empty());
}

const Choice kOnce{"hierarchical", {{"tree", 0.0}}, {}}, kTree{"hierarchical", {{"tree", 1.0}}, {}};

/// Which rank solves a group, and what a rank knows of the plan, makes no difference to the last bit.
TEST(Schemes, GiveTheSameBits) {
  for (const std::string& name : test::library_assemblies()) {
    Spec spec = test::library_spec(name);
    spec.settings.end = std::min(spec.settings.end, 0.02);
    if (spec.settings.glue.name != "auto" && spec.settings.glue.name != "hierarchical") continue;
    AssemblyPlan plan = test::started_plan(spec);
    const test::Rows one = test::run_plan(plan, kOnce);
    ASSERT_GT(one.rows.size(), 0U) << name;
    for (const int threads : {2, 3, 5}) {
      plan.keeps_whole_below = 16;
      const test::Rows tree = test::run_plan(plan, kTree, threads), once = test::run_plan(plan, kOnce, threads);
      plan.keeps_whole_below = 2;
      const test::Rows parts = test::run_plan(plan, kTree, threads);
      for (const test::Rows& rows : {once, tree, parts}) {
        EXPECT_EQ(rows.columns, one.columns) << name << " on " << threads;
        EXPECT_EQ(rows.rows, one.rows) << name << " on " << threads;
        EXPECT_EQ(rows.summary.dof, one.summary.dof) << name;
        EXPECT_EQ(rows.summary.rank, one.summary.rank) << name;
        EXPECT_EQ(rows.summary.redundant, one.summary.redundant) << name;
        EXPECT_EQ(rows.summary.status, one.summary.status) << name;
        EXPECT_EQ(rows.summary.position_error_max, one.summary.position_error_max) << name;
      }
    }
  }
}

/// Sums over modules decide about steps.
TEST(Schemes, ChooseTheSameSteps) {
  Spec spec = test::library_spec("chain_modules");
  spec.settings.end = 0.05;
  spec.settings.integrator = {"dopri45", {}, {}};
  AssemblyPlan plan = test::started_plan(spec);
  const test::Rows one = test::run_plan(plan, kOnce);
  ASSERT_TRUE(one.summary.completed) << one.summary.status;
  for (const int threads : {2, 3, 6})
    for (const Choice& scheme : {kOnce, kTree})
      for (const int below : {16, 2}) {
        plan.keeps_whole_below = below;
        const test::Rows rows = test::run_plan(plan, scheme, threads);
        EXPECT_EQ(rows.rows, one.rows) << threads;
        EXPECT_EQ(rows.summary.steps, one.summary.steps) << threads;
      }
}

TEST(Schemes, TellOfTroubleOnAnyRank) {
  Spec spec = test::library_spec("chain_modules");
  spec.settings.end = 0.5;
  spec.settings.step = 0.1;
  spec.settings.output_every = 0.1;
  AssemblyPlan plan = test::started_plan(spec);
  const test::Rows one = test::run_plan(plan, kOnce);
  EXPECT_FALSE(one.summary.completed);
  for (const int below : {16, 2}) {
    plan.keeps_whole_below = below;
    const test::Rows tree = test::run_plan(plan, kTree, 4);
    EXPECT_EQ(tree.summary.completed, one.summary.completed);
    EXPECT_EQ(tree.summary.status, one.summary.status);
  }
}

TEST(Schemes, RefuseColumnsThatAreNotThereOnAllRanks) {
  Spec spec = test::library_spec("chain_modules");
  spec.settings.columns = {"q.nobody"};
  AssemblyPlan plan = test::started_plan(spec);
  plan.keeps_whole_below = 2;
  EXPECT_THROW(test::run_plan(plan, kTree, 3), InputError);
}

TEST(GroupTree, FollowsTheNestingAndHalvesLongRows) {
  const AssemblyPlan ring = plan_assembly(test::library_spec("ring_groups"));
  const GroupTree nested = make_group_tree(ring.nest, {1, 1, 1, 1}, ring.joined());
  EXPECT_EQ(nested.nodes.size(), 7U);
  for (const GroupNode& node : nested.nodes)
    if (!node.children.empty() && nested.nodes[static_cast<std::size_t>(node.children[0])].module >= 0) {
      const int a = nested.nodes[static_cast<std::size_t>(node.children[0])].module;
      const int b = nested.nodes[static_cast<std::size_t>(node.children[1])].module;
      EXPECT_EQ(a / 2, b / 2);  // the pairs of the files
    }
  Nest row;
  std::vector<std::pair<int, int>> joined;
  for (int i = 0; i < 64; ++i) row.modules.push_back((i * 37) % 64);
  for (int i = 1; i < 64; ++i) joined.emplace_back(i - 1, i);
  const GroupTree chain = make_group_tree(row, std::vector<double>(64, 1.0), joined);
  EXPECT_LE(chain.depth(), 8);
  const std::vector<int> leaves = chain.leaves();
  for (std::size_t i = 1; i < leaves.size(); ++i)
    EXPECT_EQ(std::abs(leaves[i] - leaves[i - 1]), 1);  // neighbours stay neighbours
}

TEST(Placement, MakesTheMostExpensiveShareCheap) {
  const Placement even = place(std::vector<double>(64, 1.0), 4);
  EXPECT_EQ(even.ends, (std::vector<int>{16, 32, 48, 64}));
  const Placement uneven = place({8, 1, 1, 1, 1, 1, 1, 1, 1}, 2);
  EXPECT_EQ(uneven.ends, (std::vector<int>{1, 9}));
  const Placement idle = place({1, 1}, 4);
  EXPECT_EQ(idle.ends, (std::vector<int>{1, 2, 2, 2}));
  EXPECT_EQ(idle.rank_of(1), 1);
}

}  // namespace
}  // namespace linkwork
