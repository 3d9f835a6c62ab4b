#include <gtest/gtest.h>

#include <Eigen/Cholesky>

#include "linkwork/tree/aba.h"
#include "linkwork/tree/crba.h"
#include "linkwork/tree/energy.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/operational_space.h"
#include "linkwork/tree/rnea.h"
#include "tests/oracles/newton_euler_oracle.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using test::relative_difference;
using test::uniform_vector;

const std::vector<std::string> kMovingJoints{"revolute",  "prismatic", "screw",         "cylindrical", "universal",
                                             "spherical", "planar",    "translational", "free"};

struct Case {
  std::string name;
  std::string toml;
  friend void PrintTo(const Case& c, std::ostream* out) { *out << c.name; }
};

std::vector<Case> trees() {
  std::vector<Case> cases;
  for (const std::string& type : kMovingJoints) {
    cases.push_back({type + "_chain", test::generic_chain({type, "revolute", type, type})});
    cases.push_back({type + "_reversed", test::generic_chain({"revolute", type, type}, true)});
  }
  cases.push_back({"mixed_tree", test::generic_chain({"free", "revolute", "weld", "spherical", "prismatic", "universal", "weld",
                                                      "screw", "planar", "revolute", "cylindrical", "translational"},
                                                     false, 3)});
  cases.push_back({"mixed_tree_reversed",
                   test::generic_chain({"revolute", "universal", "spherical", "planar", "weld", "screw", "free"}, true, 2)});
  return cases;
}

class Recursions : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Trees, Recursions, testing::ValuesIn(trees()), [](const auto& p) { return p.param.name; });

TEST_P(Recursions, AbaCrbaRneaAndTheNewtonEulerOracleAgree) {
  const Spec spec = test::spec_of(GetParam().toml);
  const Model model = build_model(spec);
  std::mt19937 random(11);
  for (int trial = 0; trial < 5; ++trial) {
    const State state = test::random_state(model, test::start_state(model), random);
    System system(model);
    system.update(state);
    system.update_forces();
    TreeWork<double>& work = system.work();

    VecX<double> vdot(model.tree.nv);
    forward_dynamics(model.tree, work, vdot);
    update_accelerations(model.tree, vdot.data(), work);
    const auto oracle = test::newton_euler_oracle(spec, system);
    const auto engine = test::engine_accelerations(spec, system);
    for (std::size_t b = 0; b < oracle.size(); ++b) {
      EXPECT_LT(relative_difference(engine[b].alpha, oracle[b].alpha), 1e-11);
      EXPECT_LT(relative_difference(engine[b].a, oracle[b].a), 1e-11);
    }
    VecX<double> tau;
    inverse_dynamics(model.tree, vdot.data(), work, tau);
    EXPECT_LT(tau.cwiseAbs().maxCoeff(), 1e-11 * (1.0 + system.bias().cwiseAbs().maxCoeff()));

    const VecX<double> c = system.bias();
    const MatX<double> M = system.mass_matrix();
    EXPECT_LT(relative_difference(M.llt().solve(-c), vdot), 1e-11);
    EXPECT_NEAR(0.5 * state.v.dot(M * state.v), system.kinetic_energy(), 1e-12 * (1.0 + system.kinetic_energy()));
  }
}

TEST_P(Recursions, LongDoubleAgreesWithDouble) {
  const Model model = test::model_of(GetParam().toml);
  std::mt19937 random(12);
  const State state = test::random_state(model, test::start_state(model), random);
  TreeWork<double> work(model.tree);
  TreeWork<long double> fine(model.tree);
  const VecX<long double> q = state.q.cast<long double>(), v = state.v.cast<long double>();
  VecX<double> vdot;
  VecX<long double> fine_vdot;
  update_positions(model.tree, state.q.data(), work);
  update_velocities(model.tree, state.v.data(), work);
  forward_dynamics(model.tree, work, vdot);
  update_positions(model.tree, q.data(), fine);
  update_velocities(model.tree, v.data(), fine);
  forward_dynamics(model.tree, fine, fine_vdot);
  EXPECT_LT(relative_difference(vdot, fine_vdot.cast<double>()), 1e-12);
}

TEST_P(Recursions, TwistsAndRatesAreDerivativesOfPoses) {
  const Model model = test::model_of(GetParam().toml);
  std::mt19937 random(13);
  const State state = test::random_state(model, test::start_state(model), random);
  TreeWork<double> work(model.tree), plus(model.tree), minus(model.tree);
  update_positions(model.tree, state.q.data(), work);
  update_velocities(model.tree, state.v.data(), work);
  VecX<double> qdot(model.tree.nq);
  position_rates(model.tree, state.q.data(), state.v.data(), qdot.data());
  const double h = 1e-6;
  const VecX<double> q_plus = state.q + h * qdot, q_minus = state.q - h * qdot;
  update_positions(model.tree, q_plus.data(), plus);
  update_positions(model.tree, q_minus.data(), minus);
  for (TreeWork<double>* at : {&work, &plus, &minus}) update_poses(model.tree, *at);
  for (int i = 1; i < model.tree.size(); ++i) {
    const auto n = static_cast<std::size_t>(i);
    const Vec3<double> rate = (plus.X_WN[n].p - minus.X_WN[n].p) / (2 * h);
    EXPECT_LT((work.X_WN[n].R * work[i].v - rate).norm(), 1e-8);
    const Mat3<double> turn = work.X_WN[n].R.transpose() * (plus.X_WN[n].R - minus.X_WN[n].R) / (2 * h);
    EXPECT_LT((skew(work[i].w) - turn).norm(), 1e-8);
  }
}

TEST_P(Recursions, OperationalSpaceInverseInertiaIsJMinvJt) {
  const Model model = test::model_of(GetParam().toml);
  std::mt19937 random(14);
  State state = test::random_state(model, test::start_state(model), random);
  System system(model);
  system.update(state);
  const std::vector<int> nodes{model.tree.size() - 1, (model.tree.size() + 1) / 2};
  const std::vector<Pose<double>> frames{{Mat3<double>::Identity(), {0.3, -0.1, 0.2}}, {}};
  aba_inertias(model.tree, system.work());
  const MatX<double> found = operational_space_inverse_inertia(model.tree, system.work(), nodes, frames);
  // J column by column: the frames' twists under unit velocities.
  MatX<double> J(12, model.tree.nv);
  for (int k = 0; k < model.tree.nv; ++k) {
    TreeWork<double> work(model.tree);
    const VecX<double> unit = VecX<double>::Unit(model.tree.nv, k);
    update_positions(model.tree, state.q.data(), work);
    update_velocities(model.tree, unit.data(), work);
    for (int f = 0; f < 2; ++f) {
      const auto i = static_cast<std::size_t>(f);
      const Twist<double> V = shift(Twist<double>{work[nodes[i]].w, work[nodes[i]].v}, frames[i]);
      J.block<3, 1>(6 * f, k) = V.w;
      J.block<3, 1>(6 * f + 3, k) = V.v;
    }
  }
  const MatX<double> expected = J * system.mass_matrix().llt().solve(J.transpose());
  EXPECT_LT((found - expected).norm(), 1e-11 * expected.norm());
}

TEST(Recursions, MomentumOfAFloatingTreeIsConserved) {
  const Model model = test::model_of(test::generic_chain({"free", "revolute", "spherical", "prismatic"}) + "\n");
  Tree tree = model.tree;
  tree.gravity.setZero();
  std::mt19937 random(15);
  const State state = test::random_state(model, test::start_state(model), random);
  const auto momentum_at = [&](const VecX<double>& q, const VecX<double>& v) {
    TreeWork<double> work(tree);
    update_positions(tree, q.data(), work);
    update_velocities(tree, v.data(), work);
    update_poses(tree, work);
    return momentum(tree, work);
  };
  TreeWork<double> work(tree);
  update_positions(tree, state.q.data(), work);
  update_velocities(tree, state.v.data(), work);
  VecX<double> vdot, qdot(tree.nq);
  forward_dynamics(tree, work, vdot);
  position_rates(tree, state.q.data(), state.v.data(), qdot.data());
  const double h = 1e-5;
  const Wrench<double> plus = momentum_at(state.q + h * qdot, state.v + h * vdot),
                       minus = momentum_at(state.q - h * qdot, state.v - h * vdot);
  EXPECT_LT((plus.n - minus.n).norm() / (2 * h), 1e-7);
  EXPECT_LT((plus.f - minus.f).norm() / (2 * h), 1e-7);
}

TEST(Recursions, AJointThatMovesNoInertiaIsNamed) {
  const Model model = test::model_of(R"(
[[body]]
name = "rod"
solid = { shape = "rod", from = [0, 0, 0], to = [1, 0, 0], mass = 1 }
[[joint]]
name = "spin"
type = "revolute"
axis = [1, 0, 0]
parent = { body = "ground" }
child = { body = "rod" }
)");
  TreeWork<double> work(model.tree);
  update_positions(model.tree, model.start_q.data(), work);
  aba_inertias(model.tree, work);
  EXPECT_EQ(model.node_name(work.massless_node), "spin");
}

}  // namespace
}  // namespace linkwork
