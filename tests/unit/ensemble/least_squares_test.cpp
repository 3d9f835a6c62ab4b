#include "linkwork/ensemble/least_squares.h"

#include <gtest/gtest.h>

#include <cmath>

#include "linkwork/ensemble/statistics.h"

namespace linkwork {
namespace {

/// Residuals of one point, for all.
Residuals of_each(std::function<std::optional<VecX<double>>(const VecX<double>&)> one) {
  return [one = std::move(one)](const std::vector<VecX<double>>& points) {
    std::vector<std::optional<VecX<double>>> all;
    for (const VecX<double>& x : points) all.push_back(one(x));
    return all;
  };
}

/// exp(-a t) cos(b t) at 40 times, with a = 3 x0, b = 10 x1.
VecX<double> oscillation(const VecX<double>& x) {
  VecX<double> y(40);
  for (int i = 0; i < 40; ++i) y[i] = std::exp(-3.0 * x[0] * 0.05 * i) * std::cos(10.0 * x[1] * 0.05 * i);
  return y;
}

TEST(LeastSquares, FindsWhatMadeTheData) {
  const VecX<double> truth = Eigen::Vector2d(0.31, 0.62), data = oscillation(truth);
  const LeastSquares found = least_squares(of_each([&](const VecX<double>& x) { return VecX<double>(oscillation(x) - data); }),
                                           Eigen::Vector2d(0.6, 0.5), {.tolerance = 1e-12});
  EXPECT_EQ(found.end, LeastSquares::End::kConverged);
  EXPECT_LT((found.x - truth).norm(), 1e-9);
  EXPECT_LT(found.iterations, 20);
}

TEST(LeastSquares, StaysAtABoundThatItWouldCross) {
  // The least of (x0 - 2)^2 + (x1 - 0.5 x0)^2 within [0, 1]^2.
  const auto residuals = [](const VecX<double>& x) { return VecX<double>(Eigen::Vector2d(x[0] - 2.0, x[1] - 0.5 * x[0])); };
  const LeastSquares found = least_squares(of_each(residuals), Eigen::Vector2d(0.1, 0.9));
  EXPECT_EQ(found.x[0], 1.0);
  EXPECT_NEAR(found.x[1], 0.5, 1e-8);
  EXPECT_TRUE(found.at_bound[0]);
  EXPECT_FALSE(found.at_bound[1]);
}

TEST(LeastSquares, SaysWhereItCannotGoOn) {
  using End = LeastSquares::End;
  const VecX<double> start = VecX<double>::Constant(1, 0.5);
  EXPECT_EQ(least_squares(of_each([](const VecX<double>&) { return std::nullopt; }), start).end, End::kNoStart);
  const auto only_there = [&](const VecX<double>& x) { return x == start ? std::optional(x) : std::nullopt; };
  EXPECT_EQ(least_squares(of_each(only_there), start).end, End::kNoDerivatives);
  LeastSquaresOptions stop;
  stop.go_on = [](const VecX<double>&, double) { return false; };
  EXPECT_EQ(least_squares(of_each([](const VecX<double>& x) { return x; }), start, stop).end, End::kStopped);
}

TEST(LeastSquares, AStepToWhereRunsFailIsMadeShorter) {
  // The full step leads to 0.2, beyond the edge of what can be computed.
  const auto residuals = [](const VecX<double>& x) -> std::optional<VecX<double>> {
    if (x[0] < 0.3) return std::nullopt;
    return VecX<double>(x.array() - 0.2);
  };
  const LeastSquares found = least_squares(of_each(residuals), VecX<double>::Constant(1, 0.9), {.iterations = 20});
  EXPECT_LT(found.x[0], 0.5);
}

TEST(Statistics, StudentsQuantilesAreThoseOfClosedFormsAndOfAnotherProgram) {
  EXPECT_NEAR(student_quantile(0.975, 1), std::tan(M_PI * 0.475), 1e-11);
  EXPECT_NEAR(student_quantile(0.975, 2), 0.95 * std::sqrt(2.0 / (4.0 * 0.975 * 0.025)), 1e-12);
  // scipy.stats.t.ppf(0.975, n)
  const std::vector<std::pair<double, double>> known{
      {5, 2.5705818366}, {10, 2.2281388520}, {30, 2.0422724563}, {1000, 1.9623390808}, {100000, 1.9599877075}};
  for (const auto& [n, value] : known) EXPECT_NEAR(student_quantile(0.975, n), value, 2e-9) << n;
}

}  // namespace
}  // namespace linkwork
