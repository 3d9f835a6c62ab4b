#include "linkwork/dynamics/rate_jacobian.h"

#include <gtest/gtest.h>

#include "linkwork/simulation/simulation.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// Central differences of the rates themselves, quaternions moved along their sphere.
MatX<double> differences(EquationsOfMotion& equations, const Moment& at) {
  const Tree& tree = equations.model().tree;
  const Eigen::Index size = at.y.size();
  MatX<double> J(size, size);
  const double h = 1e-6;
  for (Eigen::Index k = 0; k < size; ++k) {
    std::array<VecX<double>, 2> rates;
    for (const int side : {0, 1}) {
      Moment moved = at;
      moved.y[k] += side == 0 ? h : -h;
      EXPECT_TRUE(equations.evaluate(moved, rates[static_cast<std::size_t>(side)]).ok());
    }
    J.col(k) = (rates[0] - rates[1]) / (2.0 * h);
  }
  J.row(tree.nq + tree.nv).setZero();  // the power
  return J;
}

/// Takes from columns of quaternions what changes their length only.
void keep_turns(const Tree& tree, const VecX<double>& q, MatX<double>& J) {
  for (const Node& node : tree.nodes) {
    if (velocity_count(node.kind) < 3) continue;
    const Eigen::Index first = node.q + velocity_count(node.kind) - 3;
    const Eigen::Vector4d e = q.segment<4>(first);
    const MatX<double> along = J.middleCols(first, 4) * e * e.transpose();
    J.middleCols(first, 4) -= along;
  }
}

class RateJacobianOnModel : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Library, RateJacobianOnModel, testing::ValuesIn(test::library_models()),
                         [](const auto& p) { return p.param; });

TEST_P(RateJacobianOnModel, EqualsDifferencesOfTheRates) {
  Spec spec = test::library_spec(GetParam());
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.formulation = {"auto", {}, {}};
  spec.settings.stabilization = {"projection", {}, {}};
  spec.settings.integrator = {"rk4", {}, {}};
  const Model model = build_model(spec);
  if (model.tree.nv > 40 || model.has_events() || !RateJacobian::is_known(model)) GTEST_SKIP() << "large, or with events";
  Simulation run(model);
  run.advance_to(0.01);
  EquationsOfMotion& equations = run.equations();
  const Moment at = run.moment();
  RateJacobian exact(equations.model());
  MatX<double> J(at.y.size(), at.y.size());
  ASSERT_TRUE(exact.compute(equations, at, J).ok());
  EXPECT_TRUE(exact.agrees(equations, at, J));
  MatX<double> expected = differences(equations, at), found = J;
  keep_turns(model.tree, at.y.head(model.tree.nq), expected);
  keep_turns(model.tree, at.y.head(model.tree.nq), found);
  EXPECT_LT((found - expected).cwiseAbs().maxCoeff(), 1e-5 * (1.0 + expected.cwiseAbs().maxCoeff()));
  J *= 1.1;
  EXPECT_FALSE(exact.agrees(equations, at, J)) << "what is wrong would not be seen";
}

TEST(RateJacobian, DoesNotAgreeWithEquationsThatHoldMoreThanTheModel) {
  for (const char* const stabilization : {"baumgarte", "none"}) {
    Spec spec = test::library_spec("four_bar");
    spec.settings.coordinates = {"TA", {}, {}};
    spec.settings.stabilization = {stabilization, {}, {}};
    const Model model = build_model(spec);
    Simulation run(model);
    run.advance_to(0.01);
    RateJacobian exact(model);
    MatX<double> J(run.moment().y.size(), run.moment().y.size());
    ASSERT_TRUE(exact.compute(run.equations(), run.moment(), J).ok());
    EXPECT_EQ(exact.agrees(run.equations(), run.moment(), J), std::string(stabilization) == "none");
  }
}

}  // namespace
}  // namespace linkwork
