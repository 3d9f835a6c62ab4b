#include <gtest/gtest.h>

#include "linkwork/dynamics/system.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/force_columns.h"
#include "linkwork/tree/rnea.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// Links with skew inertias that turn about parallel axes in a slanted plane, on two levels; on one of them hangs a link that
/// turns about another axis.
constexpr const char* kMostlyPlanar = R"toml(
[settings]
gravity = [1, -9, 3]
[[body]]
repeat = { i = [1, 5] }
name = "link{i}"
mass = "1 + 0.3*i"
com = [0.4, "0.1*i", "-0.2*i"]
inertia = ["0.3 + 0.02*i", 0.4, 0.5, 0.05, "-0.06", 0.07]
[[joint]]
name = "first"
type = "revolute"
axis = [1, 2, 3]
parent = { body = "ground", at = [0.3, -0.1, 0.6], rpy = [0.2, 0.4, -0.3] }
child = { body = "link1", at = [0, 0.1, 0.2] }
[[joint]]
repeat = { i = [2, 3] }
name = "next{i}"
type = "revolute"
axis = [1, 2, 3]
parent = { body = "link{i-1}", at = [0.8, "0.1*i", -0.3] }
child = { body = "link{i}", at = [0.1, 0, 0.1] }
[[joint]]
name = "branch"
type = "revolute"
axis = [1, 2, 3]
parent = { body = "link1", at = [-0.2, 0.5, 0.1] }
child = { body = "link4" }
[[joint]]
name = "across"
type = "revolute"
axis = [3, 0, 1]
parent = { body = "link3", at = [0.5, 0.2, 0] }
child = { body = "link5" }
)toml";

struct PlanarNodes : testing::Test {
  Model model = test::model_of(kMostlyPlanar);
  Tree in_space = model.tree;  // the same, but nothing known of planes
  std::mt19937 random{7};
  State state = test::random_state(model, test::start_state(model), random);

  PlanarNodes() {
    for (Node& node : in_space.nodes) node.planar = false;
  }
};

TEST_F(PlanarNodes, AreThoseThatTurnAboutParallelAxes) {
  int planar = 0;
  for (const Node& node : model.tree.nodes) planar += node.planar;
  EXPECT_EQ(planar, 4);
}

TEST_F(PlanarNodes, MoveAndAccelerateAsInSpace) {
  TreeWork<double> a(model.tree), b(in_space);
  for (TreeWork<double>* work : {&a, &b}) {
    const Tree& tree = work == &a ? model.tree : in_space;
    update_motion(tree, state.q.data(), state.v.data(), *work);
    work->tau = VecX<double>::LinSpaced(tree.nv, -1.0, 2.0);
    work->apply(2, {{0.1, 0.2, 0.3}, {-1.0, 2.0, 0.5}});
    work->apply(tree.size() - 1, {{0.3, -0.2, 0.1}, {1.0, 1.0, -2.0}});
  }
  VecX<double> vdot_a, vdot_b;
  forward_dynamics(model.tree, a, vdot_a);
  forward_dynamics(in_space, b, vdot_b);
  EXPECT_LT((vdot_a - vdot_b).norm(), 1e-12 * vdot_b.norm());
  for (int i = 1; i < model.tree.size(); ++i) {
    EXPECT_LT((a[i].w - b[i].w).norm() + (a[i].v - b[i].v).norm(), 1e-12);
    EXPECT_LT((a[i].aw - b[i].aw).norm() + (a[i].ap - b[i].ap).norm(), 1e-11);
    EXPECT_LT((a[i].dw - b[i].dw).norm() + (a[i].dv - b[i].dv).norm(), 1e-11);
    EXPECT_NEAR(a[i].Dinv, b[i].Dinv, 1e-12 * b[i].Dinv);
  }
  VecX<double> c_a, c_b;
  bias_forces(model.tree, a, c_a);
  bias_forces(in_space, b, c_b);
  EXPECT_LT((c_a - c_b).norm(), 1e-12 * c_b.norm());
}

TEST_F(PlanarNodes, PassForcesAsInSpace) {
  TreeWork<double> a(model.tree), b(in_space);
  ForceColumns of_a(model.tree, {model.tree.size() - 1, 3}, {}, 2), of_b(in_space, {model.tree.size() - 1, 3}, {}, 2);
  for (ForceColumns* columns : {&of_a, &of_b}) {
    columns->wrench(0, 0) = {{0.3, -0.4, 0.2}, {1.0, 0.5, -0.7}};
    columns->wrench(0, 1) = {{0.1, 0.9, -0.3}, {-0.2, 0.6, 0.8}};
    columns->wrench(1, 0) = {{-0.6, 0.2, 0.5}, {0.4, 0.1, 0.3}};
  }
  update_positions(model.tree, state.q.data(), a);
  update_positions(in_space, state.q.data(), b);
  aba_inertias(model.tree, a);
  aba_inertias(in_space, b);
  of_a.reduce(model.tree, a);
  of_b.reduce(in_space, b);
  for (int k = 0; k < static_cast<int>(of_a.support().size()); ++k)
    for (int c = 0; c < 2; ++c) {
      EXPECT_NEAR(of_a.reduced(k)[c], of_b.reduced(k)[c], 1e-12);
      EXPECT_NEAR(of_a.weighted(k)[c], of_b.weighted(k)[c], 1e-12);
    }
}

TEST(PlanarNodesWithoutInertia, AreNamedAsInSpace) {
  const Model model = test::model_of(R"toml(
[[body]]
name = "frame"
mass = 0
[[body]]
name = "bob"
solid = { shape = "point", at = [0, 0, 0], mass = 1 }
[[joint]]
name = "shoulder"
type = "revolute"
axis = [0, 0, 1]
parent = { body = "ground" }
child = { body = "frame" }
[[joint]]
name = "wrist"
type = "revolute"
axis = [0, 0, 1]
parent = { body = "frame", at = [1, 0, 0] }
child = { body = "bob" }
)toml");
  TreeWork<double> work(model.tree);
  update_positions(model.tree, model.start_q.data(), work);
  aba_inertias(model.tree, work);
  EXPECT_EQ(model.node_name(work.massless_node), "wrist");
}

}  // namespace
}  // namespace linkwork
