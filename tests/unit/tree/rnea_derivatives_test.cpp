#include "linkwork/tree/rnea_derivatives.h"

#include <gtest/gtest.h>

#include "linkwork/tree/crba.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/rnea.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

VecX<double> needed_forces(const Model& model, const State& state, const VecX<double>& vdot) {
  TreeWork<double> work(model.tree);
  work.clear_forces();
  update_positions(model.tree, state.q.data(), work);
  update_velocities(model.tree, state.v.data(), work);
  VecX<double> tau;
  inverse_dynamics(model.tree, vdot.data(), work, tau);
  return tau;
}

TEST(InverseDynamicsDerivatives, AgreeWithCentralDifferencesForEveryKindOfJoint) {
  const Model model = test::model_of(
      test::generic_chain({"free", "revolute", "spherical", "prismatic", "universal", "screw", "free", "planar"}, false, 3));
  const int n = model.tree.nv;
  std::mt19937 random(7);
  for (int trial = 0; trial < 5; ++trial) {
    const State state = test::random_state(model, test::start_state(model), random);
    const VecX<double> vdot = test::uniform_vector(random, n);
    TreeWork<double> work(model.tree);
    update_positions(model.tree, state.q.data(), work);
    SparseMatrix K = matrix_of_pattern(n, n, InverseDynamicsDerivatives::pattern(model.tree));
    SparseMatrix D = K, M = K;
    InverseDynamicsDerivatives(model.tree).compute(model.tree, work, state.v, vdot, K, D, M);

    MatX<double> by_position(n, n), by_velocity(n, n), mass;
    const double h = 1e-5;
    for (int j = 0; j < n; ++j) {
      const VecX<double> step = h * VecX<double>::Unit(n, j);
      State ahead = state, behind = state;
      displace(model.tree, ahead.q.data(), step.data());
      displace(model.tree, behind.q.data(), VecX<double>(-step).data());
      by_position.col(j) = (needed_forces(model, ahead, vdot) - needed_forces(model, behind, vdot)) / (2.0 * h);
      ahead = behind = state;
      ahead.v += step, behind.v -= step;
      by_velocity.col(j) = (needed_forces(model, ahead, vdot) - needed_forces(model, behind, vdot)) / (2.0 * h);
    }
    mass_matrix(model.tree, work, mass);
    const double scale = by_position.cwiseAbs().maxCoeff();
    EXPECT_LT((MatX<double>(K) - by_position).cwiseAbs().maxCoeff(), 1e-8 * scale);
    EXPECT_LT((MatX<double>(D) - by_velocity).cwiseAbs().maxCoeff(), 1e-8 * scale);
    EXPECT_LT((MatX<double>(M) - mass).cwiseAbs().maxCoeff(), 1e-12 * scale);
  }
}

}  // namespace
}  // namespace linkwork
