#include <gtest/gtest.h>

#include <Eigen/LU>
#include <random>

#include "linkwork/import/robot_file.h"
#include "linkwork/model/model.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/crba.h"
#include "linkwork/tree/energy.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/rnea.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// A branched arm with a body that floats; the factor scales all armatures.
Model arm(double factor) {
  const auto rotor = [&](double inertia) { return " armature=\"" + std::to_string(factor * inertia) + "\""; };
  return build_model(read_robot_text(
      "<mujoco><worldbody><body name=\"a\" pos=\"0 0 1\" euler=\"10 20 30\"><joint name=\"j1\" axis=\"0 0.2 1\"" + rotor(0.4) +
          "/><geom type=\"box\" size=\"0.1 0.2 0.3\"/><body name=\"b\" pos=\"0.3 0 0\"><joint name=\"j2\" type=\"slide\" "
          "axis=\"1 1 0\"" +
          rotor(20) + "/><joint name=\"j3\" axis=\"1 0 0\"" + rotor(0.3) +
          "/><geom type=\"capsule\" size=\"0.1 0.2\"/></body><body pos=\"0 0.4 0\"><joint name=\"j4\" axis=\"0 1 0\"/><geom "
          "size=\"0.1\"/></body>"
          "</body><body><freejoint name=\"f\"/><geom size=\"0.2\"/><body pos=\"0.3 0 0\"><joint name=\"j5\"" +
          rotor(0.05) + "/><geom type=\"box\" size=\"0.1 0.1 0.2\" pos=\"0.2 0 0\"/></body></body></worldbody></mujoco>",
      "arm.xml"));
}

TEST(Armature, AddsToTheDiagonalOfTheMassMatrixAndToNothingElse) {
  const Model plain = arm(0.0), geared = arm(1.0);
  std::mt19937 random(3);
  for (int trial = 0; trial < 10; ++trial) {
    const State state = test::random_state(plain, test::start_state(plain), random);
    MatX<double> M[2];
    VecX<double> c[2];
    for (const bool with : {false, true}) {
      const Model& model = with ? geared : plain;
      TreeWork<double> work(model.tree);
      update_motion(model.tree, state.q.data(), state.v.data(), work);
      work.clear_forces();
      bias_forces(model.tree, work, c[with]);
      mass_matrix(model.tree, work, M[with]);
    }
    const MatX<double> difference = M[1] - M[0];
    VecX<double> added = VecX<double>::Zero(plain.tree.nv);
    for (const Joint& joint : geared.joints)
      if (joint.armature != 0.0) added[joint.v[0]] = joint.armature;
    EXPECT_GT(added.maxCoeff(), 19.0);
    EXPECT_LT((difference - MatX<double>(added.asDiagonal())).cwiseAbs().maxCoeff(), 1e-13 * M[1].cwiseAbs().maxCoeff());
    EXPECT_LT((c[1] - c[0]).cwiseAbs().maxCoeff(), 1e-12 * c[0].cwiseAbs().maxCoeff());
  }
}

TEST(Armature, IsTheSameToAllRecursions) {
  const Model model = arm(1.0);
  std::mt19937 random(4);
  for (int trial = 0; trial < 10; ++trial) {
    const State state = test::random_state(model, test::start_state(model), random);
    TreeWork<double> work(model.tree);
    update_motion(model.tree, state.q.data(), state.v.data(), work);
    work.clear_forces();
    VecX<double> c, vdot, tau;
    bias_forces(model.tree, work, c);
    MatX<double> M;
    mass_matrix(model.tree, work, M);
    EXPECT_NEAR(kinetic_energy(model.tree, work), 0.5 * state.v.dot(M * state.v), 1e-12 * M.cwiseAbs().maxCoeff());
    work.tau = test::uniform_vector(random, model.tree.nv);
    forward_dynamics(model.tree, work, vdot);
    EXPECT_LT(test::relative_difference(vdot, M.partialPivLu().solve(work.tau - c)), 1e-11);
    inverse_dynamics(model.tree, vdot.data(), work, tau);
    EXPECT_LT((tau - work.tau).cwiseAbs().maxCoeff(), 1e-11 * c.cwiseAbs().maxCoeff());
  }
}

TEST(Armature, IsRefusedWhereItHasNoCoordinate) {
  Spec spec = test::spec_of(R"(
[[body]]
name = "a"
mass = 1.0
inertia = [1, 1, 1]
[[joint]]
name = "j"
type = "revolute"
parent = { body = "ground" }
child = { body = "a" }
armature = 0.5
position = 1.0
[[joint]]
name = "k"
type = "revolute"
parent = { body = "ground" }
child = { body = "a" }
armature = 0.5
)");
  EXPECT_THROW(build_model(spec), InputError) << "one of them is cut";
  spec.joints.pop_back();
  spec.settings.coordinates.name = "FA";
  EXPECT_THROW(Simulation{build_model(spec)}, InputError);
}

}  // namespace
}  // namespace linkwork
