// Derivatives of measures of whole runs against differences of such runs, through events too; forward and backward.

#include "linkwork/analysis/sensitivity.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using Set = std::vector<std::pair<std::string, std::string>>;

struct Case {
  std::string model;
  double end;
  std::vector<std::string> measures;
  std::vector<std::pair<std::string, double>> parameters;
  std::vector<std::string> starts;
  long events;
};

std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.model; }

Spec spec_of(const Case& c, const Set& set = {}) {
  Spec spec = test::library_spec(c.model, set);
  spec.settings.end = c.end;
  spec.settings.integrator = {"rk4", {}, {}};
  return spec;
}

std::vector<Varied> varied_of(const Case& c) {
  std::vector<Varied> varied;
  for (const auto& [name, value] : c.parameters)
    varied.push_back({name, value, false, [&c, name = name](double other) {
                        return spec_of(c, {{name, fmt::format("{}", other)}});
                      }});
  for (const std::string& name : c.starts) varied.push_back(varied_start(spec_of(c), name));
  return varied;
}

std::vector<Measure> measures_of(const Case& c) {
  std::vector<Measure> measures;
  for (const std::string& text : c.measures) measures.push_back(Measure::parse(text));
  return measures;
}

class SensitivitiesOf : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(
    Models, SensitivitiesOf,
    testing::Values(
        Case{
            "four_bar", 0.6, {"final(q.theta)", "max(p.C.y)", "integral(q.phi)"}, {{"torque", 6.0}, {"l2", 4.0}}, {"v.theta"}, 0},
        Case{"double_pendulum",
             0.5,
             {"final(q.lower)", "final(p.m2.x)", "final(v.upper)"},
             {{"m", 1.0}, {"l", 1.0}},
             {"q.upper"},
             0},
        Case{"spatial_slider_crank", 0.3, {"final(q.slide)", "final(v.slide)"}, {}, {"v.theta", "q.theta"}, 0},
        Case{"stick_slip_disc", 1.0, {"final(q.place.x)", "final(v.place.angle)"}, {{"mu", 0.2}, {"w0", 50.0}}, {}, 1},
        Case{
            "slip_to_roll", 0.2, {"final(q.theta)", "final(v.axle)", "integral(q.knee)"}, {{"mu", 0.35}, {"spin", 10.5}}, {}, 1}),
    [](const auto& p) { return p.param.model; });

TEST_P(SensitivitiesOf, EqualDifferencesOfRunsForwardAndBackward) {
  const Case& c = GetParam();
  const std::vector<Measure> measures = measures_of(c);
  const std::vector<Varied> varied = varied_of(c);
  const Sensitivities forward = find_sensitivities(spec_of(c), measures, varied, {SensitivityOptions::Method::kForward, {}});
  const Sensitivities backward = find_sensitivities(spec_of(c), measures, varied, {SensitivityOptions::Method::kAdjoint, {}});
  EXPECT_GE(forward.events, c.events);
  for (std::size_t k = 0; k < varied.size(); ++k) {
    const double h = 2e-4 * std::max(1.0, std::abs(varied[k].value));
    const auto values = [&](double places) {
      return find_sensitivities(varied[k].make(varied[k].value + places * h), measures, {}).measures;
    };
    const auto a = values(-2), b = values(-1), d = values(1), e = values(2);
    for (std::size_t m = 0; m < measures.size(); ++m) {
      const double expected = (8.0 * (d[m].value - b[m].value) - (e[m].value - a[m].value)) / (12.0 * h);
      const double size = std::max(std::abs(expected), 1e-2 * std::max(1.0, std::abs(forward.measures[m].value)));
      EXPECT_NEAR(forward.measures[m].derivatives[k].second, expected, 1e-6 * size) << c.measures[m] << " by " << varied[k].name;
      EXPECT_NEAR(backward.measures[m].derivatives[k].second, expected, 1e-6 * size)
          << c.measures[m] << " by " << varied[k].name << ", backward";
    }
  }
}

TEST(Sensitivity, SaysWhatItCannotMeasureOrVary) {
  const Case c{"four_bar", 0.1, {"final(q.theta)"}, {}, {}, 0};
  EXPECT_THROW(Measure::parse("mean(q.theta)"), InputError);
  EXPECT_EQ(Measure::parse("tip=max(p.C.x)").name, "tip");
  EXPECT_THROW(find_sensitivities(spec_of(c), {Measure::parse("final(q.thet)")}, {}), InputError);
  EXPECT_THROW(varied_start(spec_of(c), "q.nothing"), InputError);
  Spec implicit = spec_of(c);
  implicit.settings.integrator = {"cvode-bdf", {}, {}};
  EXPECT_THROW(find_sensitivities(implicit, measures_of(c), varied_of(c)), InputError);
}

}  // namespace
}  // namespace linkwork
