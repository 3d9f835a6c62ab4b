#include "linkwork/modules/group_elimination.h"

#include <gtest/gtest.h>

#include <Eigen/QR>
#include <array>
#include <random>
#include <vector>

namespace linkwork {
namespace {

using M = MatX<double>;
using V = VecX<double>;

/// Symmetric, and zero but for these components of each of so many ports.
PortResponse random_response(int ports, const std::vector<int>& components, std::mt19937& random) {
  std::uniform_real_distribution<double> number(-1.0, 1.0);
  const auto any = [&] { return number(random); };
  PortResponse response(ports);
  std::vector<int> answers;
  for (int port = 0; port < ports; ++port)
    for (const int k : components) answers.push_back(6 * port + k);
  const auto n = static_cast<Eigen::Index>(answers.size());
  const M root = M::NullaryExpr(n, n, any);
  response.D(answers, answers) = root * root.transpose() + 0.1 * M::Identity(n, n);
  response.D = 0.5 * (response.D + response.D.transpose()).eval();
  response.R = V::NullaryExpr(6 * ports, any);
  response.scale.setOnes();
  return response;
}

/// Two members of two ports each; one port of each is joined further up. Joints lie between them and at the ground, and the last
/// two rows follow from others.
struct TwoMembers {
  static constexpr int kRows = 8 + 2;

  TwoMembers() : first(2), second(2), group({&first, &second}, {1, 3}) {
    for (int r = 0; r < 5; ++r) group.add_row(std::array{1, 2});
    for (int r = 0; r < 3; ++r) group.add_row(std::array{0});
    for (int r = 0; r < 2; ++r) group.add_row(std::array{2, 1});
    group.make_room();
  }

  /// Holds the group against (1) to (3) of hierarchy.h with dense matrices.
  void check(const std::vector<int>& answering, std::mt19937& random) {
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    const auto any = [&] { return number(random); };
    const PortResponse a = random_response(2, {0, 1, 2, 3, 4, 5}, random), b = random_response(2, answering, random);
    first.take(a), second.take(b);
    group.begin();
    M D = M::Zero(24, 24), G = M::Zero(kRows, 24), E = M::Zero(12, 24);
    V R(24);
    D.topLeftCorner(12, 12) = a.D, D.bottomRightCorner(12, 12) = b.D;
    R << a.R, b.R;
    E.block(0, 6, 6, 6).setIdentity(), E.block(6, 18, 6, 6).setIdentity();
    for (int r = 0; r < 5; ++r) G.block(r, 6, 1, 12) = M::NullaryExpr(1, 12, any);
    for (int r = 5; r < 8; ++r) G.block(r, 0, 1, 6) = M::NullaryExpr(1, 6, any);
    G.row(8) = G.row(0) - 2.0 * G.row(3);
    G.row(9) = G.row(1) + G.row(2);
    const V rhs = G * (R + D * V::NullaryExpr(24, any));  // can be met
    for (int r = 0; r < kRows; ++r) {
      const std::vector<int> ports = r < 5 ? std::vector{1, 2} : r < 8 ? std::vector{0} : std::vector{2, 1};
      for (std::size_t n = 0; n < ports.size(); ++n)
        for (int k = 0; k < 6; ++k) group.wrench(r, static_cast<int>(n))[static_cast<std::size_t>(k)] = G(r, 6 * ports[n] + k);
      group.rhs[r] = rhs[r] - group.rate_of_R(r);
      EXPECT_NEAR(group.rate_of_R(r), G.row(r) * R, 1e-13);
      group.row_scale[r] = G.row(r).squaredNorm() * 20.0;
    }
    int usual_rank = 0;
    group.go_up(usual_rank);
    EXPECT_EQ(group.rank.rank, 8);

    const M W = (G * D * G.transpose()).completeOrthogonalDecomposition().pseudoInverse();
    const M D_up = E * (D - D * G.transpose() * W * G * D) * E.transpose();
    const V R_up = E * (R + D * G.transpose() * W * (rhs - G * R));
    const double size = D.cwiseAbs().maxCoeff();
    EXPECT_LT((whole(group.up) - D_up).cwiseAbs().maxCoeff(), 1e-10 * size);
    EXPECT_LT((group.up.R - R_up).cwiseAbs().maxCoeff(), 1e-9);

    const V Q_up = V::NullaryExpr(12, any);
    V F = V::Zero(24);
    group.go_down(Q_up, F);
    EXPECT_LT((F - E.transpose() * Q_up - G.transpose() * group.lambda).cwiseAbs().maxCoeff(), 1e-10);
    const V xdd = R + D * F;
    EXPECT_LT((G * xdd - rhs).cwiseAbs().maxCoeff(), 1e-9) << "joints are met";
    EXPECT_LT((E * xdd - D_up * Q_up - R_up).cwiseAbs().maxCoeff(), 1e-9) << "and it looks like a module";
    for (int r = 0; r < kRows; ++r)
      if (group.dependent[static_cast<std::size_t>(r)] != 0) {
        EXPECT_EQ(group.lambda[r], 0.0);
        EXPECT_LT(group.missed(r, Q_up).first, 1e-9);
      }
    V answer = V::Zero(24);
    group.add_response(F, answer);
    EXPECT_LT((answer - D * F).cwiseAbs().maxCoeff(), 1e-11);
  }

  static M whole(const ReducedResponse& response) {
    M D = M::Zero(6 * response.ports(), 6 * response.ports());
    const auto components = response.components();
    for (std::size_t i = 0; i < components.size(); ++i)
      for (std::size_t j = 0; j < components.size(); ++j) D(components[i], components[j]) = response.row(static_cast<int>(i))[j];
    return D;
  }

  ReducedResponse first, second;
  GroupElimination group;
};

TEST(GroupElimination, EqualsTheDenseFormulasWhateverAnswers) {
  std::mt19937 random(5);
  TwoMembers members;
  for (int round = 0; round < 3; ++round) {
    members.check({0, 1, 2, 3, 4, 5}, random);
    members.check({2, 3, 4}, random);
    members.check({0, 4, 5}, random);
  }
}

TEST(ReducedResponse, ComesOutOfAMessageAsItWas) {
  std::mt19937 random(7);
  for (const std::vector<int>& answering : {std::vector{2, 3, 4}, std::vector{0, 1, 2, 3, 4, 5}}) {
    ReducedResponse told(3), heard(3);
    told.take(random_response(3, answering, random));
    std::vector<double> message(2 * 18 + 18 * 19 / 2);
    EXPECT_EQ(told.write(message.data()), message.data() + message.size());
    EXPECT_EQ(heard.read(message.data()), message.data() + message.size());
    EXPECT_EQ(std::vector(heard.components().begin(), heard.components().end()),
              std::vector(told.components().begin(), told.components().end()));
    EXPECT_EQ(TwoMembers::whole(heard), TwoMembers::whole(told));
    EXPECT_EQ(heard.R, told.R);
    EXPECT_EQ(heard.scale, told.scale);
  }
}

}  // namespace
}  // namespace linkwork
