#include "linkwork/ensemble/optimize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "linkwork/simulation/simulation_error.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

/// A mass on a spring with a damper, pulled out by 1: q = exp(-c t / 2 m) (...), with k = m = 1 by default.
Mechanism oscillator(const Parameters& parameters = {}) {
  return parse(R"(
    linkwork = 1
    parameters = { m = 1.0, c = 0.2, k = 4.0, unused = 1.0 }
    settings = { gravity = [0, 0, 0], end = 2.0, step = 5e-3 }
    [[body]]
    name = "mass"
    solid = { shape = "point", at = [0, 0, 0], mass = "m" }
    [[joint]]
    name = "x"
    type = "prismatic"
    parent = { body = "ground" }
    child = { body = "mass" }
    axis = [1, 0, 0]
    position = 1.0
    stiffness = "k"
    damping = "c"
    [[sensor]]
    name = "far"
    type = "expression"
    expression = "(q.x + 0.3)^2"
    )",
               "oscillator", parameters);
}

double displacement(double t, double c, double k) {
  const double w = std::sqrt(k - 0.25 * c * c);
  return std::exp(-0.5 * c * t) * (std::cos(w * t) + 0.5 * c / w * std::sin(w * t));
}

class DataFile {
 public:
  explicit DataFile(const std::string& name, double c = 0.5, double k = 6.0, double noise = 0.0)
      : file_(fs::temp_directory_path() / ("linkwork-fit-" + name + ".csv")) {
    std::ofstream stream(file_);
    stream.precision(17);
    stream << "t,place\n";
    for (int i = 0; i <= 40; ++i)
      stream << 0.05 * i << "," << displacement(0.05 * i, c, k) + noise * std::sin(1000.0 * i * i) << "\n";
  }
  ~DataFile() { fs::remove(file_); }
  std::string name() const { return file_.string(); }

 private:
  fs::path file_;
};

TEST(Optimize, AFitFindsTheParametersThatMadeTheData) {
  const DataFile data("exact");
  OptimizeRequest request{.over = {"c=0:2", "k=1:20"}, .fit = data.name(), .fit_columns = {"place=q.x"}, .threads = 2};
  const Optimum found = optimize(oscillator(), request);
  EXPECT_TRUE(found.converged) << found.status;
  EXPECT_NEAR(found.parameters[0].value, 0.5, 1e-6);  // the run itself is good to some 1e-9
  EXPECT_NEAR(found.parameters[1].value, 6.0, 1e-6);
  EXPECT_LT(found.value, 1e-7);
  EXPECT_EQ(found.columns[0].after.size(), 41U);
}

TEST(Optimize, ConfidenceIntervalsHaveTheDeviationOfTheNoise) {
  // The standard error from the closed form: s^2 (J' J)^-1.
  const DataFile data("noisy", 0.5, 6.0, 0.05);
  OptimizeRequest request{.over = {"c=0:2", "k=1:20"}, .fit = data.name(), .fit_columns = {"place=q.x"}};
  const Optimum found = optimize(oscillator(), request);
  ASSERT_TRUE(found.converged);
  const double c = found.parameters[0].value, k = found.parameters[1].value;
  Eigen::MatrixXd J(41, 2);
  double squares = 0.0;
  for (int i = 0; i <= 40; ++i) {
    const double t = 0.05 * i, h = 1e-6;
    J(i, 0) = (displacement(t, c + h, k) - displacement(t, c - h, k)) / (2 * h);
    J(i, 1) = (displacement(t, c, k + h) - displacement(t, c, k - h)) / (2 * h);
    squares += std::pow(displacement(t, c, k) - found.columns[0].data[static_cast<std::size_t>(i)], 2);
  }
  const Eigen::Matrix2d covariance = squares / 39.0 * (J.transpose() * J).inverse();
  for (const int p : {0, 1}) {
    const Optimum::Parameter& each = found.parameters[static_cast<std::size_t>(p)];
    EXPECT_NEAR(each.standard_error / std::sqrt(covariance(p, p)), 1.0, 1e-4);
    EXPECT_NEAR((each.confidence_high - each.value) / each.standard_error, 2.0226909, 1e-6);  // Student, 39 degrees of freedom
  }
  EXPECT_NEAR(found.correlations[0][1], covariance(0, 1) / std::sqrt(covariance(0, 0) * covariance(1, 1)), 1e-4);
  EXPECT_LT(std::abs(c - 0.5), 4 * found.parameters[0].standard_error);
}

TEST(Optimize, SaysWhichParametersTheDataDoNotDetermine) {
  const DataFile data("lost");
  OptimizeRequest request{.over = {"k=1:20", "unused=0:2"}, .fit = data.name(), .fit_columns = {"place=q.x"}};
  const Optimum found = optimize(oscillator({{"c", 0.5}}), request);
  ASSERT_FALSE(found.notes.empty());
  EXPECT_THAT(found.notes.front(), HasSubstr("do not determine unused"));
  // k and m count by their ratio alone.
  OptimizeRequest both{.over = {"k=1:20", "m=0.5:2", "c=0:2"}, .fit = data.name(), .fit_columns = {"place=q.x"}};
  const Optimum scaled = optimize(oscillator(), both);
  ASSERT_FALSE(scaled.notes.empty());
  EXPECT_THAT(scaled.notes.front(), HasSubstr("k, m, c"));
}

TEST(Optimize, AllMethodsFindTheSameMinimum) {
  // (x + 0.3)^2 at the end is least where x(2) = -0.3: of k between 2 and 5, w = acos(-0.3) / 2 about, without damping.
  const double w = std::acos(-0.3) / 2.0;
  for (const char* const method : {"gradient", "bobyqa", "global", "auto"}) {
    OptimizeRequest request{
        .over = {"k=0.5:2"}, .minimize = "final(s.far)", .method = method, .evaluations = 200, .tolerance = 1e-9};
    const Optimum found = optimize(oscillator({{"c", 0}, {"k", 1.8}}), request);
    EXPECT_TRUE(found.converged) << method << found.status;
    EXPECT_NEAR(found.parameters[0].value, w * w, method == std::string("gradient") ? 1e-5 : 1e-4) << method;
    EXPECT_LT(found.value, 1e-8) << method;
  }
}

TEST(Optimize, MaximaAtABoundAreTold) {
  OptimizeRequest request{.over = {"k=1:4", "c=0:1"}, .maximize = "max(v.x)", .evaluations = 200};
  const Optimum found = optimize(oscillator(), request);
  EXPECT_TRUE(found.converged) << found.status;
  EXPECT_THAT(found.method, HasSubstr("sensitivities"));
  EXPECT_TRUE(found.parameters[0].at_bound);
  EXPECT_EQ(found.parameters[0].value, 4.0);
  EXPECT_EQ(found.parameters[1].value, 0.0);
  EXPECT_NEAR(found.value, -2.0 * std::sin(4.0), 1e-4);  // at the end, still rising
  EXPECT_GT(found.value, found.start_value);
}

TEST(Optimize, MeasuresWithoutDerivativesAreSearchedWithout) {
  OptimizeRequest request{.over = {"k=0.5:3", "c=0:1"}, .minimize = "rms(q.x)+0.1*max(v.x)", .evaluations = 300};
  const Optimum found = optimize(oscillator(), request);
  EXPECT_TRUE(found.converged) << found.status;
  EXPECT_EQ(found.method, "BOBYQA");
  EXPECT_THAT(found.notes.front(), HasSubstr("without derivatives"));
  request.method = "gradient";
  EXPECT_THROW(optimize(oscillator(), request), InputError);
}

TEST(Optimize, RunsThatFailAreWorseThanAll) {
  // Negative masses are refused; the least value lies at the edge.
  OptimizeRequest request{.over = {"m=-1:2", "c=0.1:0.3"}, .minimize = "final(q.x)", .method = "bobyqa", .evaluations = 60};
  const Optimum found = optimize(oscillator(), request);
  EXPECT_GT(found.parameters[0].value, 0.0);
  EXPECT_LE(found.value, found.start_value);
}

TEST(Optimize, RefusesWhatMakesNoSense) {
  const auto refusal = [](const OptimizeRequest& request) -> std::string {
    try {
      optimize(oscillator(), request);
    } catch (const InputError& error) {
      return error.what();
    }
    return "taken";
  };
  const DataFile data("refused");
  EXPECT_THAT(refusal({.over = {"k=1:2"}}), HasSubstr("there is nothing to optimize"));
  EXPECT_THAT(refusal({.over = {"k=1:2"}, .minimize = "max(q.x)", .maximize = "max(q.x)"}), HasSubstr("only one"));
  EXPECT_THAT(refusal({.minimize = "max(q.x)"}), HasSubstr("nothing to change"));
  EXPECT_THAT(refusal({.over = {"k=2:1"}, .minimize = "max(q.x)"}), HasSubstr("2 is not below 1"));
  EXPECT_THAT(refusal({.over = {"k=nan:1"}, .minimize = "max(q.x)"}), HasSubstr("LOW is 'nan'"));
  EXPECT_THAT(refusal({.over = {"K=1:2"}, .minimize = "max(q.x)"}), HasSubstr("unknown parameter 'K'"));
  EXPECT_THAT(refusal({.over = {"k=1:2", "k=1:3"}, .minimize = "max(q.x)"}), HasSubstr("given twice"));
  EXPECT_THAT(refusal({.over = {"k=1:2"}, .minimize = "max(q.y)"}), HasSubstr("did you mean 'q.x'?"));
  EXPECT_THAT(refusal({.over = {"k=1:2"}, .minimize = "max(q.x)", .method = "newton"}), HasSubstr("unknown method"));
  EXPECT_THAT(refusal({.over = {"k=1:2"}, .fit = data.name()}), HasSubstr("'place'"));
  EXPECT_THAT(refusal({.over = {"k=1:2"}, .fit = "/nowhere.csv"}), HasSubstr("/nowhere.csv"));
  EXPECT_THAT(refusal({.over = {"k=1:2"}, .fit = data.name(), .fit_columns = {"plce=q.x"}}), HasSubstr("did you mean 'place'?"));
  EXPECT_THROW(optimize(oscillator({{"m", 1}}), {.over = {"m=-2:-1"}, .minimize = "max(q.x)"}), SimulationError);
}

}  // namespace
}  // namespace linkwork
