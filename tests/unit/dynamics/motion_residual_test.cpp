#include "linkwork/dynamics/motion_residual.h"

#include <gtest/gtest.h>

#include "linkwork/spatial/so3.h"
#include "linkwork/tree/kinematics.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// Every kind of force, a cut joint with laws of its own, and rows of both kinds, on quaternions.
const char* const kEverything = R"toml(
[[body]]
name = "arm"
solid = { shape = "box", center = [0.5, 0, 0], size = [1, 0.1, 0.2], mass = 1 }
[[body]]
name = "ball"
solid = { shape = "sphere", center = [0.2, 0.1, 0], radius = 0.2, mass = 2 }
[[body]]
name = "cart"
solid = { shape = "box", center = [0, 0, 0], size = [0.2, 0.2, 0.2], mass = 1 }
[[joint]]
name = "shoulder"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
position = 0.3
damping = 0.2
stiffness = 3
friction = 0.4
[[joint]]
name = "wrist"
type = "spherical"
parent = { body = "arm", at = [1, 0, 0] }
child = { body = "ball" }
[[joint]]
name = "rail"
type = "cylindrical"
axis = [1, 0, 0]
parent = { body = "ground", at = [0, -1, 0] }
child = { body = "cart" }
[[joint]]
name = "hold"
type = "universal"
cut = true
axis = [0, 0, 1]
axis2 = [0, 1, 0]
parent = { body = "cart", at = [0, 0.3, 0] }
child = { body = "ball", at = [-0.3, -0.2, 0] }
stiffness = 2
damping = 0.1
[[closure]]
name = "motor"
type = "expression"
expression = "q.rail.z - 0.3*sin(5*t) - 0.1*q.shoulder^2"
[[force]]
type = "spring"
a = { body = "cart" }
b = { body = "ball", at = [0.1, 0, 0.3] }
stiffness = 40
damping = 2
length = 0.5
[[force]]
type = "wrench"
body = "ball"
at = [0, 0.2, 0]
force = ["sin(3*t)", 1, 0]
torque = [0, "0.2*v.shoulder", 0.1]
axes = "body"
[[force]]
type = "torque"
joint = "wrist.wx"
value = "0.3*q.shoulder*v.shoulder"
)toml";

struct Evaluated {
  VecX<double> r, phi, rate;
};

Evaluated evaluated(const Model& model, const State& state, const VecX<double>& vdot, const VecX<double>& lambda) {
  System system(model);
  Evaluated at;
  MotionResidual(model).evaluate(system, state, vdot, lambda, at.r);
  at.phi = system.terms().phi;
  at.rate = system.terms().rate;
  return at;
}

/// All five matrices against fourth-order differences of the residual itself.
void expect_linearization(const Model& model, std::mt19937& random) {
  const int n = model.tree.nv;
  State state = test::random_state(model, test::start_state(model), random, 0.3);
  state.t = 0.2;
  const VecX<double> vdot = test::uniform_vector(random, n), lambda = 5.0 * test::uniform_vector(random, model.row_count());
  System system(model);
  Linearization at;
  MotionResidual(model).linearize(system, state, vdot, lambda, at);
  MatX<double> K(n, n), D(n, n), M(n, n), A(model.row_count(), n), G(model.row_count(), n);
  const double h = 2e-4;
  for (int j = 0; j < n; ++j) {
    const auto slope = [&](auto&& change) {
      std::array<Evaluated, 4> e;
      std::size_t k = 0;
      for (double factor : {-2.0, -1.0, 1.0, 2.0}) e[k++] = change(VecX<double>(factor * h * VecX<double>::Unit(n, j)));
      const auto of = [&](VecX<double> Evaluated::*part) {
        return VecX<double>((e[0].*part - 8.0 * (e[1].*part) + 8.0 * (e[2].*part) - e[3].*part) / (12.0 * h));
      };
      return Evaluated{of(&Evaluated::r), of(&Evaluated::phi), of(&Evaluated::rate)};
    };
    const Evaluated by_q = slope([&](const VecX<double>& step) {
      State moved = state;
      displace(model.tree, moved.q.data(), step.data());
      return evaluated(model, moved, vdot, lambda);
    });
    K.col(j) = by_q.r, A.col(j) = by_q.phi, G.col(j) = by_q.rate;
    D.col(j) = slope([&](const VecX<double>& step) {
                 State moved = state;
                 moved.v += step;
                 return evaluated(model, moved, vdot, lambda);
               }).r;
    M.col(j) = slope([&](const VecX<double>& step) { return evaluated(model, state, vdot + step, lambda); }).r;
  }
  const auto expect_near = [](const SparseMatrix& computed, const MatX<double>& expected, const char* what) {
    if (expected.size() == 0) return;
    EXPECT_LT((MatX<double>(computed) - expected).cwiseAbs().maxCoeff(), 2e-9 * (1.0 + expected.cwiseAbs().maxCoeff())) << what;
  };
  expect_near(at.K, K, "K");
  expect_near(at.D, D, "D");
  expect_near(at.M, M, "M");
  expect_near(at.A, A, "A");
  expect_near(at.G, G, "G");
}

TEST(MotionResidual, LinearizationAgreesWithDifferencesUnderEveryKindOfForce) {
  const Model model = test::model_of(kEverything);
  std::mt19937 random(3);
  for (int trial = 0; trial < 3; ++trial) expect_linearization(model, random);
}

TEST(MotionResidual, LinearizationAgreesWhereTheMatricesAreSparse) {
  std::mt19937 random(4);
  const Model model = build_model(test::library_spec("n_four_bar", {{"n", "50"}}));
  ASSERT_GT(model.tree.nv, 100);
  System system(model);
  Linearization at;
  const State start = test::start_state(model);
  const int evaluations = MotionResidual(model).linearize(system, start, start.v, VecX<double>::Zero(model.row_count()), at);
  EXPECT_LT(evaluations, model.tree.nv) << "coordinates are not grouped";
  expect_linearization(model, random);
}

TEST(MotionResidual, VanishesAtTheAccelerationsAndMultipliersOfTheMotion) {
  for (const std::string name : {"four_bar", "spatial_four_bar", "stewart"}) {
    const Model model = build_model(test::library_spec(name));
    std::mt19937 random(5);
    const State state = test::random_consistent_state(model, random);
    System system(model);
    system.update(state);
    system.update_forces();
    const MatX<double> M = system.mass_matrix(), A = system.jacobian();
    MatX<double> kkt = MatX<double>::Zero(M.rows() + A.rows(), M.rows() + A.rows());
    kkt << M, -A.transpose(), A, MatX<double>::Zero(A.rows(), A.rows());
    VecX<double> rhs(kkt.rows());
    rhs << system.work().tau - system.bias(), system.terms().b;
    const VecX<double> x = kkt.completeOrthogonalDecomposition().solve(rhs);
    const VecX<double> vdot = x.head(M.rows()), lambda = x.tail(A.rows());
    EXPECT_LT(evaluated(model, state, vdot, lambda).r.norm(), 1e-9 * (1.0 + rhs.norm())) << name;
  }
}

TEST(DisplacementTangent, TellsHowADisplacementsChangeMovesTheConfiguration) {
  const Model model = test::model_of(test::generic_chain({"spherical", "revolute", "free"}));
  const Tree& tree = model.tree;
  std::mt19937 random(6);
  const State start = test::random_state(model, test::start_state(model), random);
  const VecX<double> d = 1.5 * test::uniform_vector(random, tree.nv), e = test::uniform_vector(random, tree.nv);
  std::vector<std::pair<int, int>> all;
  for (int r = 0; r < tree.nv; ++r)
    for (int c = 0; c < tree.nv; ++c) all.emplace_back(r, c);
  SparseMatrix T = matrix_of_pattern(tree.nv, tree.nv, all);
  for (int i = 0; i < tree.nv; ++i) T.coeffRef(i, i) = 1.0;
  times_displacement_tangent(tree, d, T);

  const auto displaced = [&](const VecX<double>& first, const VecX<double>& second) {
    VecX<double> q = start.q;
    displace(tree, q.data(), first.data());
    displace(tree, q.data(), second.data());
    return q;
  };
  const double h = 1e-5;
  const VecX<double> none = VecX<double>::Zero(tree.nv);
  const VecX<double> expected = (displaced(d + h * e, none) - displaced(d - h * e, none)) / (2.0 * h);
  const VecX<double> moved = T * e;
  const VecX<double> found = (displaced(d, h * moved) - displaced(d, -h * moved)) / (2.0 * h);
  EXPECT_LT((found - expected).norm(), 1e-8);
}

}  // namespace
}  // namespace linkwork
