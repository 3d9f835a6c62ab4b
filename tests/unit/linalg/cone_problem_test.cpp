#include "linkwork/linalg/cone_problem.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <random>

namespace linkwork {
namespace {

using Kind = Cone::Kind;
using State = ConeProblem::State;

struct Problem {
  MatX<double> W;
  VecX<double> c;
  std::vector<Cone> cones;
};

/// Contacts on a body with a few freedoms: as a rule more forces than freedoms. `simple`: friction in one direction only, W
/// regular.
Problem random_problem(std::mt19937& random, bool simple) {
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> coefficient(0.05, 1.2);
  Problem p;
  int n = 0;
  const auto count = 1 + random() % 4;
  for (std::size_t i = 0; i < count; ++i) {
    const int across = simple ? 1 : 1 + static_cast<int>(random() % 2);
    switch (random() % 4) {
      case 0:
        p.cones.push_back({Kind::kHalfLine, n, 1, 0.0});
        break;
      case 1:
        p.cones.push_back({Kind::kBall, n, across, std::abs(normal(random))});
        break;
      default:
        p.cones.push_back({Kind::kFriction, n, 1 + across, coefficient(random)});
    }
    n += p.cones.back().size;
  }
  const auto freedoms = static_cast<Eigen::Index>(1 + random() % 6) + (simple ? n : 0);
  const auto any = [&] { return normal(random); };
  MatX<double> A = MatX<double>::NullaryExpr(n, freedoms, any);
  if (!simple && n > 2 && random() % 3 == 0) A.row(n - 1) = A.row(0);
  const VecX<double> v = VecX<double>::NullaryExpr(freedoms, any);
  p.W = A * A.transpose();
  p.c = A * v;
  return p;
}

/// What forces and motions that go together must satisfy, to `tolerance`.
void expect_solution(const Problem& p, const ConeProblem& solved, double tolerance) {
  const VecX<double>&f = solved.force(), m = p.W * f + p.c;
  EXPECT_LT((m - solved.motion()).cwiseAbs().maxCoeff(), tolerance);
  for (const Cone& cone : p.cones) {
    EXPECT_GT(depth(cone, f), -tolerance);
    const bool has_normal = cone.kind != Kind::kBall;
    if (has_normal) {
      EXPECT_GT(m[cone.first], -tolerance);
      EXPECT_LT(std::abs(m[cone.first] * f[cone.first]), tolerance);
    }
    if (cone.kind == Kind::kHalfLine) continue;
    const int first = cone.first + (has_normal ? 1 : 0), count = cone.size - (has_normal ? 1 : 0);
    const auto f_t = f.segment(first, count), m_t = m.segment(first, count);
    const double limit = cone.limit * (has_normal ? f[cone.first] : 1.0);
    EXPECT_LT((f_t * m_t.norm() + limit * m_t).norm(), tolerance);  // at its limit against the motion, or no motion
  }
}

TEST(ConeProblem, ForcesAndMotionsGoTogetherRedundantOrNot) {
  std::mt19937 random(14);
  for (int i = 0; i < 2000; ++i) {
    const Problem p = random_problem(random, false);
    ConeProblem problem;
    ASSERT_TRUE(problem.solve(p.W, p.c, p.cones, p.c.cwiseAbs().maxCoeff())) << i;
    expect_solution(p, problem, 1e-7 * std::max(1.0, problem.force().cwiseAbs().maxCoeff()));
    if (HasFailure()) FAIL() << i;
  }
}

/// All sets of states, tried one after another: motions are those of one that fits.
TEST(ConeProblem, FindsOneOfTheSetsThatEnumerationFinds) {
  std::mt19937 random(15);
  for (int i = 0; i < 300; ++i) {
    const Problem p = random_problem(random, true);
    ConeProblem problem;
    ASSERT_TRUE(problem.solve(p.W, p.c, p.cones, 1.0));
    const auto n = p.c.size();
    std::vector<VecX<double>> motions;
    std::vector<int> state(p.cones.size(), 0);  // 0 open, 1 holds, 2 and 3 slide one way or the other
    for (;;) {
      MatX<double> T = MatX<double>::Zero(n, n);
      VecX<double> known = VecX<double>::Zero(n);
      std::vector<int> unknown;
      bool allowed = true;
      for (std::size_t k = 0; k < p.cones.size(); ++k) {
        const Cone& cone = p.cones[k];
        const double way = state[k] == 2 ? 1.0 : -1.0;
        if (cone.kind == Kind::kHalfLine) {
          if (state[k] > 1) allowed = false;
          if (state[k] == 1) unknown.push_back(cone.first), T(cone.first, cone.first) = 1.0;
        } else if (cone.kind == Kind::kBall) {
          if (state[k] == 0) allowed = false;
          if (state[k] == 1) unknown.push_back(cone.first), T(cone.first, cone.first) = 1.0;
          if (state[k] > 1) known[cone.first] = -way * cone.limit;
        } else if (state[k] == 1) {
          for (int j : {cone.first, cone.first + 1}) unknown.push_back(j), T(j, j) = 1.0;
        } else if (state[k] > 1) {
          unknown.push_back(cone.first);
          T(cone.first, cone.first) = 1.0;
          T(cone.first + 1, cone.first) = -way * cone.limit;
        }
      }
      if (allowed) {
        const MatX<double> B = (p.W * T)(unknown, unknown);
        const VecX<double> free = p.W * known + p.c;
        VecX<double> y = VecX<double>::Zero(n);
        if (!unknown.empty()) {
          const VecX<double> rest = -free(unknown), found = B.completeOrthogonalDecomposition().solve(rest);
          y(unknown) = found;
        }
        const VecX<double> f = T * y + known, m = p.W * f + p.c;
        bool fits = true;
        for (std::size_t k = 0; k < p.cones.size() && fits; ++k) {
          const Cone& cone = p.cones[k];
          const double way = state[k] == 2 ? 1.0 : -1.0;
          const bool has_normal = cone.kind != Kind::kBall;
          const int across = cone.first + (has_normal ? 1 : 0);
          if (has_normal) fits = state[k] == 0 ? m[cone.first] > -1e-9 : f[cone.first] > -1e-9 && std::abs(m[cone.first]) < 1e-9;
          if (cone.kind == Kind::kHalfLine) continue;
          if (state[k] == 1) fits = fits && std::abs(m[across]) < 1e-9 && depth(cone, f) > -1e-9;
          if (state[k] > 1) fits = fits && way * m[across] > -1e-9;
        }
        if (fits) motions.push_back(m);
      }
      std::size_t k = 0;
      while (k < state.size() && ++state[k] == 4) state[k++] = 0;
      if (k == state.size()) break;
    }
    ASSERT_FALSE(motions.empty());
    double nearest = 1e300;
    for (const VecX<double>& m : motions) nearest = std::min(nearest, (m - problem.motion()).cwiseAbs().maxCoeff());
    EXPECT_LT(nearest, 1e-7) << i;
  }
}

/// A row that no force moves (W = 0 there) slides on, with its force at the limit and against the motion.
TEST(ConeProblem, ARowThatNoForceMovesSlidesOn) {
  ConeProblem problem;
  MatX<double> W = MatX<double>::Zero(2, 2);
  W(1, 1) = 2.0;
  const Cone cones[]{{Kind::kBall, 0, 1, 0.5}, {Kind::kHalfLine, 1, 1, 0.0}};
  ASSERT_TRUE(problem.solve(W, VecX<double>{{-3.0, -1.0}}, cones, 3.0));
  EXPECT_EQ(problem.state(0), State::kSlides);
  EXPECT_NEAR(problem.force()[0], 0.5, 1e-12);
  EXPECT_NEAR(problem.force()[1], 0.5, 1e-12);
}

/// A body that stands on two feet on a cart that stops: its feet carry no load, and neither press nor open; rounding alone
/// decides which.
TEST(ConeProblem, FeetWithoutLoadSlide) {
  std::mt19937 random(16);
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> number(0.1, 1.0);
  for (int i = 0; i < 400; ++i) {
    const double cart = 4.0 * number(random), block = number(random), height = 0.05 * number(random), reach = 0.1;
    MatX<double> A(5, 4);  // the cart; x, y and angle of the block
    A << 1, 0, 0, 0, 0, 0, 1, -reach, -1, 1, 0, height, 0, 0, 1, reach, -1, 1, 0, height;
    const VecX<double> inverse{{1 / cart, 1 / block, 1 / block, 600 / block}};
    Problem p{A * inverse.asDiagonal() * A.transpose(), {}, {}};
    p.cones = {{Kind::kHalfLine, 0, 1, 0.0}, {Kind::kFriction, 1, 2, number(random)}, {Kind::kFriction, 3, 2, number(random)}};
    p.c = A * VecX<double>{{-1, -1, 0, 0}};
    const double rounding = std::pow(10.0, -17 + i % 9);
    p.c += A * VecX<double>{{0, 0, rounding * normal(random), rounding * normal(random)}};
    ConeProblem problem;
    ASSERT_TRUE(problem.solve(p.W, p.c, p.cones, 1.0)) << i;
    expect_solution(p, problem, 1e-7);
    if (HasFailure()) FAIL() << i;
  }
}

/// Boxes of very different masses on top of one another.
TEST(ConeProblem, StacksOfUnequalBoxesHaveTheirForces) {
  std::mt19937 random(17);
  std::uniform_real_distribution<double> number(0.0, 1.0);
  for (int i = 0; i < 200; ++i) {
    const int boxes = 2 + i % 4, n = 4 * boxes;
    MatX<double> A = MatX<double>::Zero(n, 3 * boxes);
    VecX<double> inverse(3 * boxes), v = VecX<double>::Zero(3 * boxes);
    Problem p;
    double below = 0.0;
    for (int b = 0; b < boxes; ++b) {
      const double mass = std::pow(10.0, 3.0 * number(random) - 1.5), reach = 0.1 + 0.4 * number(random);
      const double height = 0.05 + 0.4 * number(random);
      inverse.segment<3>(3 * b) << 1 / mass, 1 / mass, 3 / (mass * (reach * reach + height * height));
      for (int side = 0; side < 2; ++side) {
        const int row = 4 * b + 2 * side;
        const double x = side == 0 ? -reach : reach;
        A.block<2, 3>(row, 3 * b) << 0, 1, x, 1, 0, height;
        if (b > 0) A.block<2, 3>(row, 3 * b - 3) << 0, -1, -x, -1, 0, below;
        p.cones.push_back({Kind::kFriction, row, 2, 0.05 + 1.2 * number(random)});
      }
      below = height;
      v[3 * b + 1] = -1.0;
      v[3 * b] = i % 3 == 0 ? 0.0 : number(random);
    }
    p.W = A * inverse.asDiagonal() * A.transpose();
    p.c = A * v;
    ConeProblem problem;
    ASSERT_TRUE(problem.solve(p.W, p.c, p.cones, 1.0)) << i;
    expect_solution(p, problem, 1e-7 * std::max(1.0, problem.force().cwiseAbs().maxCoeff()));
    if (HasFailure()) FAIL() << i;
  }
}

/// A column that pulls where it should push (Painleve): no force, as long as the motion is into the contact.
TEST(ConeProblem, SaysThatThereIsNoSolution) {
  ConeProblem problem;
  const Cone cone[]{{Kind::kHalfLine, 0, 1, 0.0}};
  EXPECT_FALSE(problem.solve(MatX<double>::Constant(1, 1, -0.2), VecX<double>::Constant(1, -1.0), cone, 1.0));
}

/// Two feet on a slope: forces along it can be shared in many ways, and the deepest share is known.
TEST(DeepestDistribution, OfTwoFeetOnASlopeIsHalfOfWhatIsLeft) {
  for (const double mu : {0.3, 0.5463, 0.5464, 0.6, 1.0}) {
    const double a = 0.5, N = 9.81 * std::cos(a), T = 9.81 * std::sin(a), tilt = 0.5 * T;
    VecX<double> f{{0.5 * (N - tilt), -T, 0.5 * (N + tilt), 0.0}};
    const MatX<double> null = VecX<double>{{0.0, 1.0, 0.0, -1.0}} / std::sqrt(2.0);
    const Cone cones[]{{Kind::kFriction, 0, 2, mu}, {Kind::kFriction, 2, 2, mu}};
    EXPECT_NEAR(deepest_distribution(null, cones, f), 0.5 * (mu * N - T), 1e-10) << mu;
    EXPECT_NEAR(f[1] + f[3], -T, 1e-12);
    EXPECT_NEAR(f[0], 0.5 * (N - tilt), 1e-12);
  }
}

}  // namespace
}  // namespace linkwork
