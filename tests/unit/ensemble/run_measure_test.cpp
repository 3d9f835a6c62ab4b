#include "linkwork/ensemble/run_measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace linkwork {
namespace {

using testing::HasSubstr;

const std::vector<std::string> kColumns{"t",           "q.theta",      "v.theta",      "a.theta",        "q.left-crank",
                                        "force.pin.x", "lambda.cut.x", "energy.total", "error.position", "s.tip"};

/// q.theta = t^2, v.theta = 2t, s.tip = t - 1, all else 7, at t = 0, 0.5, 1, ..., 2.
double measured(const std::string& text) {
  const std::vector<RunMeasure> measures{RunMeasure(text, kColumns)};
  MeasuredRun run(measures, kColumns);
  for (int i = 0; i <= 4; ++i) {
    const double t = 0.5 * i;
    run.add(std::vector<double>{t, t * t, 2.0 * t, 7, 7, 7, 7, 7, 7, t - 1.0});
  }
  return run.values().front();
}

std::string refusal(const std::string& text) {
  try {
    RunMeasure(text, kColumns);
  } catch (const InputError& error) {
    return error.what();
  }
  return "taken";
}

TEST(RunMeasure, ReadsColumns) {
  EXPECT_EQ(measured("max(q.theta)"), 4.0);
  EXPECT_EQ(measured("min(s.tip)"), -1.0);
  EXPECT_EQ(measured("final(v.theta)"), 4.0);
  EXPECT_EQ(measured("integral(v.theta)"), 4.0);
  EXPECT_EQ(measured("mean(v.theta)"), 2.0);
  EXPECT_EQ(measured("mean(s.tip)"), 0.0);
  EXPECT_DOUBLE_EQ(measured("rms(energy.total)"), 7.0);
  EXPECT_EQ(measured("final(lambda.cut.x) + final(error.position) + final(force.pin.x) + final(a.theta)"), 28.0);
}

TEST(RunMeasure, ReadsExpressionsOfColumns) {
  EXPECT_EQ(measured("max(abs(s.tip))"), 1.0);
  EXPECT_EQ(measured("max(q.theta - 3*v.theta)"), 0.0);
  EXPECT_EQ(measured("min(q.theta - 3*v.theta)"), -8.0);
  EXPECT_EQ(measured("max(max(s.tip, 0.25))"), 1.0);
  EXPECT_EQ(measured("max(q.left-crank)"), 7.0);
  EXPECT_EQ(measured("max(2*q.\"left-crank\")"), 14.0);
}

TEST(RunMeasure, IsAnExpressionOfReductions) {
  EXPECT_EQ(measured("max(q.theta) - min(q.theta)"), 4.0);
  EXPECT_EQ(measured("2*max(max(q.theta), final(energy.total)) + 1e1"), 24.0);
  EXPECT_EQ(measured("sqrt(max(q.theta))"), 2.0);
}

TEST(RunMeasure, FirstIsTheTimeAtWhichAConditionHolds) {
  EXPECT_EQ(measured("first(q.theta > 1)"), 1.5);
  EXPECT_EQ(measured("first(s.tip >= -1)"), 0.0);
  EXPECT_TRUE(std::isnan(measured("first(q.theta > 100)")));
}

TEST(RunMeasure, WhatIsNotANumberStaysSo) {
  EXPECT_TRUE(std::isnan(measured("max(sqrt(s.tip))")));
  EXPECT_TRUE(std::isnan(measured("mean(sqrt(s.tip))")));
}

TEST(RunMeasure, HasANameOrItsText) {
  EXPECT_EQ(RunMeasure("tip = max(s.tip)", kColumns).name(), "tip");
  EXPECT_EQ(RunMeasure("tip = max(s.tip)", kColumns).text(), "max(s.tip)");
  EXPECT_EQ(RunMeasure("max(s.tip)", kColumns).name(), "max(s.tip)");
  EXPECT_EQ(RunMeasure("first(s.tip >= 1)", kColumns).name(), "first(s.tip >= 1)");
  EXPECT_THROW(parse_measures({"a=max(s.tip)", "a=min(s.tip)"}, kColumns, {}), InputError);
  EXPECT_THROW(parse_measures({"run=max(s.tip)"}, kColumns, {"run"}), InputError);
}

TEST(RunMeasure, KnowsWhetherItIsOneReductionOfOneColumn) {
  RunMeasure::Kind kind = RunMeasure::Kind::kMin;
  std::string column;
  EXPECT_TRUE(RunMeasure("x = max( s.tip )", kColumns).is_plain(kind, column));
  EXPECT_EQ(kind, RunMeasure::Kind::kMax);
  EXPECT_EQ(column, "s.tip");
  for (const char* const text : {"2*max(s.tip)", "max(s.tip)+1", "max(2*s.tip)", "max(s.tip)-min(s.tip)", "abs(max(s.tip))"})
    EXPECT_FALSE(RunMeasure(text, kColumns).is_plain(kind, column)) << text;
}

TEST(RunMeasure, RefusesInWords) {
  EXPECT_THAT(refusal("max(s.tup)"), HasSubstr("unknown column 's.tup'; did you mean 's.tip'?"));
  EXPECT_THAT(refusal("max(2*q.thet)"), HasSubstr("did you mean 'q.theta'?"));
  EXPECT_THAT(refusal("maximum(s.tip)"), HasSubstr("unknown function 'maximum'"));
  EXPECT_THAT(refusal("maxx(s.tip)"), HasSubstr("did you mean 'max'?"));
  EXPECT_THAT(refusal("s.tip"), HasSubstr("does not say which of all rows counts"));
  EXPECT_THAT(refusal("max(s.tip) + q.theta"), HasSubstr("does not say which of all rows counts"));
  EXPECT_THAT(refusal("max(s.tip"), HasSubstr("is not closed"));
  EXPECT_THAT(refusal("final(s.tip, q.theta)"), HasSubstr("several arguments"));
  EXPECT_THAT(refusal("max()"), HasSubstr("nothing stands between"));
  EXPECT_THAT(refusal(""), HasSubstr("measures nothing"));
  EXPECT_THAT(refusal("=max(s.tip)"), HasSubstr("the name is empty"));
  EXPECT_NE(refusal("max(s.tip) +"), "taken");
  EXPECT_NE(refusal("max(s.tip))"), "taken");
  EXPECT_NE(refusal("max(((s.tip)"), "taken");
  EXPECT_NE(refusal("max(\"s.tip)"), "taken");
  EXPECT_NE(refusal(std::string("max(s.tip\0)", 11)), "taken");
}

}  // namespace
}  // namespace linkwork
