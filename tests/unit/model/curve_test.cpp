#include "linkwork/model/curve.h"

#include <gtest/gtest.h>

#include <cmath>

namespace linkwork {
namespace {

using enum Curve::Interpolation;
constexpr auto kStays = Curve::Beyond::kHold, kEnds = Curve::Beyond::kError;

const std::vector<double> kX{-2.0, -1.5, -0.3, 0.1, 1.0, 2.5};

std::vector<double> values(double (*f)(double)) {
  std::vector<double> y;
  for (const double x : kX) y.push_back(f(x));
  return y;
}

double cubic(double x) { return 0.7 * x * x * x - 1.1 * x * x + 0.4 * x - 2.0; }

TEST(Curve, OfCubicPiecesMeetsACubicPolynomialExactly) {
  const Curve curve("c", kX, values(cubic), kCubic, kStays);
  for (double x = -2.0; x < 2.5; x += 0.07) {
    const Curve::Value at = curve.at(x);
    EXPECT_NEAR(at.f, cubic(x), 1e-13);
    EXPECT_NEAR(at.df, 2.1 * x * x - 2.2 * x + 0.4, 1e-12);
    EXPECT_NEAR(at.ddf, 4.2 * x - 2.2, 1e-11);
  }
}

TEST(Curve, OfCubicPiecesHasContinuousSecondDerivativesAndPassesThroughItsPoints) {
  const Curve curve("c", kX, values([](double x) { return std::sin(3.0 * x); }), kCubic, kStays);
  for (std::size_t i = 1; i + 1 < kX.size(); ++i) {
    const Curve::Value before = curve.at(std::nextafter(kX[i], -10.0)), after = curve.at(kX[i]);
    EXPECT_DOUBLE_EQ(after.f, std::sin(3.0 * kX[i]));
    EXPECT_NEAR(before.f, after.f, 1e-13);
    EXPECT_NEAR(before.df, after.df, 1e-12);
    EXPECT_NEAR(before.ddf, after.ddf, 1e-10);
    EXPECT_GT(std::abs(after.ddf), 1e-3);
  }
}

TEST(Curve, OfTwoOrThreePointsIsALineOrAParabola) {
  EXPECT_DOUBLE_EQ(Curve("c", {0.0, 2.0}, {1.0, 5.0}, kCubic, kStays).at(0.5).f, 2.0);
  const Curve parabola("c", {0.0, 1.0, 3.0}, {0.0, 1.0, 9.0}, kCubic, kStays);
  for (const double x : {0.2, 0.9, 1.7, 2.9}) EXPECT_NEAR(parabola.at(x).f, x * x, 1e-14);
}

TEST(Curve, GoesStraightOrStaysBetweenPoints) {
  const Curve line("l", {0.0, 1.0, 3.0}, {1.0, 2.0, 0.0}, kLinear, kStays),
      steps("s", {0.0, 1.0, 3.0}, {1.0, 2.0, 0.0}, kHold, kStays);
  EXPECT_DOUBLE_EQ(line.at(0.25).f, 1.25);
  EXPECT_DOUBLE_EQ(line.at(2.0).f, 1.0);
  EXPECT_DOUBLE_EQ(line.at(2.0).df, -1.0);
  EXPECT_EQ(steps.at(0.99).f, 1.0);
  EXPECT_EQ(steps.at(1.0).f, 2.0);
  EXPECT_EQ(steps.at(3.0).f, 0.0);
}

TEST(Curve, KeepsItsLastValueBeyondTheDataOrHasNone) {
  for (const auto interpolation : {kLinear, kCubic, kHold}) {
    const Curve held("c", {0.0, 1.0, 3.0}, {1.0, 2.0, 5.0}, interpolation, kStays);
    EXPECT_EQ(held.at(-7.0).f, 1.0);
    EXPECT_EQ(held.at(9.0).f, 5.0);
    EXPECT_EQ(held.at(9.0).df, 0.0);
    const Curve ended("c", {0.0, 1.0, 3.0}, {1.0, 2.0, 5.0}, interpolation, kEnds);
    EXPECT_TRUE(std::isnan(ended.at(-1e-9).f));
    EXPECT_TRUE(std::isnan(ended.at(3.0 + 1e-9).f));
    EXPECT_DOUBLE_EQ(ended.at(0.0).f, 1.0);
    EXPECT_DOUBLE_EQ(ended.at(3.0).f, 5.0);
  }
}

TEST(Curve, FindsItsPieceWhereverThePointsAre) {
  std::vector<double> x, y;
  for (int i = 0; i < 1000; ++i) x.push_back(std::exp(0.01 * i)), y.push_back(i);
  const Curve curve("c", x, y, kHold, kStays);
  for (int i = 0; i + 1 < 1000; ++i)
    EXPECT_EQ(curve.at(0.5 * (x[static_cast<std::size_t>(i)] + x[static_cast<std::size_t>(i) + 1])).f, i);
}

TEST(Curve, KnowsHowFarItIsInsideABranch) {
  const Curve line("l", {0.0, 1.0, 3.0}, {1.0, 2.0, 0.0}, kLinear, kStays);
  EXPECT_EQ(line.branch(-0.1), -1.0);
  EXPECT_EQ(line.branch(0.5), 0.0);
  EXPECT_EQ(line.branch(1.0), 1.0);
  EXPECT_EQ(line.branch(3.0), 2.0);
  EXPECT_DOUBLE_EQ(line.inside({1.25, 2.0, 0.0}, 1.0).value, 0.25);
  EXPECT_DOUBLE_EQ(line.inside({1.25, 2.0, 0.0}, 1.0).d1, 2.0);
  EXPECT_LT(line.inside({0.9, 2.0, 0.0}, 1.0).value, 0.0);
  EXPECT_GT(line.inside({-0.5, 0.0, 0.0}, -1.0).value, 0.0);
  const Curve ended("e", {0.0, 1.0, 3.0}, {1.0, 2.0, 0.0}, kHold, kEnds);
  EXPECT_EQ(ended.branch(3.0), 1.0);
  EXPECT_TRUE(std::isnan(ended.held(ended.branch(3.1))));
  EXPECT_EQ(ended.held(1.0), 2.0);
  const Curve smooth("c", {0.0, 1.0, 3.0}, {1.0, 2.0, 0.0}, kCubic, kStays);
  EXPECT_EQ(smooth.branch(0.5), smooth.branch(2.0));
  EXPECT_NE(smooth.branch(2.0), smooth.branch(4.0));
}

TEST(Curve, FindsThePieceWhereDifferencesOverflow) {
  const Curve steps("s", {-1.5e308, 1.2e308, 1.5e308}, {1.0, 2.0, 3.0}, kHold, kStays);
  EXPECT_EQ(steps.at(-1.4e308).f, 1.0);
  EXPECT_EQ(steps.at(1.3e308).f, 2.0);
}

}  // namespace
}  // namespace linkwork
