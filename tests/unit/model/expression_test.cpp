#include "linkwork/model/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "linkwork/model/jet.h"
#include "linkwork/model/spec.h"

namespace linkwork {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::map<std::string, double> kParameters{{"l1", 1.5}, {"l2", 2.5}, {"n", 0.0}, {"e", 7.0}};

Expression parse(std::string_view text, Variables allowed = Variables::kState) {
  return Expression::parse(text, kParameters, allowed, {"model.toml", 3, 10});
}

double value(std::string_view text) { return parse(text).constant_value(); }

// ---- Values ----

struct ValueCase {
  const char* text;
  double value;
};

TEST(ExpressionTest, HasTheValueOfItsFormula) {
  const std::vector<ValueCase> cases{
      {"1", 1.0},
      {".5", 0.5},
      {"5.", 5.0},
      {"1e3", 1000.0},
      {"1.5E-2", 0.015},
      {"1 + 2*3", 7.0},
      {"(1 + 2)*3", 9.0},
      {"7 - 3 - 2", 2.0},
      {"8/4/2", 1.0},
      {"2^3^2", 512.0},
      {"-2^2", -4.0},
      {"2^-2", 0.25},
      {"-2^-2", -0.25},
      {"2*-3", -6.0},
      {"--3", 3.0},
      {"+3", 3.0},
      {"l1 + l2", 4.0},
      {"e", 7.0},
      {"2*pi", 2.0 * std::numbers::pi},
      {"sin(pi/6)", 0.5},
      {"cos(0)", 1.0},
      {"tan(pi/4)", 1.0},
      {"asin(1)", std::numbers::pi / 2.0},
      {"acos(-1)", std::numbers::pi},
      {"atan(1)", std::numbers::pi / 4.0},
      {"atan2(1, -1)", 0.75 * std::numbers::pi},
      {"sinh(1)", std::sinh(1.0)},
      {"cosh(1)", std::cosh(1.0)},
      {"tanh(1)", std::tanh(1.0)},
      {"sqrt(9)", 3.0},
      {"exp(1)", std::numbers::e},
      {"log(exp(2))", 2.0},
      {"log10(1000)", 3.0},
      {"pow(2, 10)", 1024.0},
      {"hypot(3, 4)", 5.0},
      {"abs(-2)", 2.0},
      {"sign(-2) + sign(0) + 10*sign(3)", 9.0},
      {"step(-1) + 2*step(0) + 4*step(1)", 6.0},
      {"floor(-1.5)", -2.0},
      {"ceil(-1.5)", -1.0},
      {"mod(7, 3)", 1.0},
      {"mod(-1, 3)", 2.0},
      {"min(2, 3)", 2.0},
      {"max(2, 3)", 3.0},
      {"clamp(5, 0, 1) + clamp(-5, 0, 1) + clamp(0.25, 0, 1)", 1.25},
      {"if(1 < 2, 10, 20)", 10.0},
      {"if(1 >= 2, 10, 20)", 20.0},
      {"1 < 2", 1.0},
      {"2 <= 1", 0.0},
      {"2 > 1", 1.0},
      {"2 >= 3", 0.0},
      {"1 + 1 < 3", 1.0},
      {"(1 < 2)*(2 < 3)", 1.0},
      {"if(n > 0, 1/n, -1)", -1.0},
  };
  for (const ValueCase& c : cases) EXPECT_NEAR(value(c.text), c.value, 1e-14 * std::max(1.0, std::abs(c.value))) << c.text;
}

TEST(ExpressionTest, ByDefaultIsZero) {
  EXPECT_TRUE(Expression().is_constant());
  EXPECT_EQ(Expression().constant_value(), 0.0);
  EXPECT_EQ(Expression().text(), "0");
}

TEST(ExpressionTest, OfAConstantKeepsItsBits) {
  const Expression tenth = Expression::constant(0.1);
  EXPECT_EQ(tenth.constant_value(), 0.1);
  EXPECT_EQ(tenth.text(), "0.1");
}

TEST(ExpressionTest, NumbersVariablesInOrderOfAppearance) {
  const Expression f = parse("v.slide.angle*t + q.\"left-crank\".x - q.'right crank' + 2*t + q.left.theta + q.uni.0");
  EXPECT_THAT(f.variables(), ElementsAre("v.slide.angle", "t", "q.left-crank.x", "q.right crank", "q.left.theta", "q.uni.0"));
  const std::vector<double> slots{2.0, 3.0, 5.0, 7.0, 11.0, 13.0};
  EXPECT_EQ(f.evaluate<double>(slots), 2.0 * 3.0 + 5.0 - 7.0 + 6.0 + 11.0 + 13.0);
}

TEST(ExpressionTest, KnowsWhereItsVariablesStand) {
  const Expression f = parse("1 + q.a*q.b");
  EXPECT_EQ(to_string(f.place_of_variable(1)), "model.toml:3:19");
}

TEST(ExpressionTest, TakesLettersOfOtherAlphabets) {
  const Expression f = Expression::parse("2*α0", {{"α0", 4.0}}, Variables::kNone, {});
  EXPECT_EQ(f.constant_value(), 8.0);
}

TEST(ExpressionTest, NestedAsDeepAsAllowedNeedsNoMoreThanItsStack) {
  std::string text = "t";
  for (int i = 0; i < 60; ++i) text = "1 + (" + text + ")";
  const std::vector<double> slots{2.0};
  EXPECT_EQ(parse(text).evaluate<double>(slots), 62.0);
}

TEST(ExpressionTest, LongDoubleIsEvaluatedInLongDouble) {
  const std::vector<long double> slots{2.0L};
  EXPECT_EQ(parse("sqrt(t)").evaluate<long double>(slots), std::sqrt(2.0L));
}

// ---- Derivatives ----

/// Evaluates f at x(s) = x + s, so that d1 and d2 are df/dx and d2f/dx2.
Jet jet_at(const Expression& f, double x) {
  const std::vector<Jet> slots(f.variables().size(), Jet(x, 1.0, 0.0));
  return f.evaluate<Jet>(slots);
}

double value_at(const Expression& f, double x) {
  const std::vector<long double> slots(f.variables().size(), x);
  return static_cast<double>(f.evaluate<long double>(slots));
}

struct DerivativeCase {
  const char* text;
  double at;
};

TEST(ExpressionTest, DerivativesAgreeWithFiniteDifferences) {
  const std::vector<DerivativeCase> cases{
      {"sin(t)", 0.7},
      {"cos(2*t)", 0.7},
      {"tan(t)", 0.7},
      {"asin(t/2)", 0.7},
      {"acos(t/2)", 0.7},
      {"atan(3*t)", 0.7},
      {"sinh(t)", 0.7},
      {"cosh(t)", 0.7},
      {"tanh(t)", 0.7},
      {"exp(-t^2)", 0.7},
      {"log(t)", 0.7},
      {"log10(t)", 0.7},
      {"sqrt(t)", 0.7},
      {"abs(t)", -0.7},
      {"abs(t)", 0.7},
      {"t^3", -0.7},
      {"t^2.5", 0.7},
      {"t^-2", -0.7},
      {"2^t", 0.7},
      {"t^t", 0.7},
      {"pow(t, 1 + t)", 0.7},
      {"atan2(t, 1 - t)", 0.7},
      {"atan2(t^2, -t)", 0.7},
      {"hypot(t, 1 + t^2)", 0.7},
      {"min(t, t^2)", 0.7},
      {"max(t, t^2)", 0.7},
      {"min(t, t^2)", 1.7},
      {"mod(t^2, 0.3)", 0.7},
      {"mod(t, 1 + t/10)", 2.7},
      {"clamp(t^2, 0, 1)", 0.7},
      {"clamp(t^2, 0, 1)", 1.7},
      {"if(t < 1, t^3, t)", 0.7},
      {"if(t < 1, t^3, t^2)", 1.7},
      {"step(t)*t^2", 0.7},
      {"sign(t)*t^2", -0.7},
      {"floor(3*t)*t", 0.7},
      {"ceil(3*t)*t", 0.7},
      {"t/(1 + t^2)", 0.7},
      {"-t*(1 - t)", 0.7},
      {"sin(q.a*exp(-t)) + v.b^2/t", 0.7},
  };
  const double h = 1e-4;
  for (const DerivativeCase& c : cases) {
    const Expression f = parse(c.text);
    const Jet jet = jet_at(f, c.at);
    const double d1 = (value_at(f, c.at + h) - value_at(f, c.at - h)) / (2.0 * h);
    const double d2 = (jet_at(f, c.at + h).d1 - jet_at(f, c.at - h).d1) / (2.0 * h);
    EXPECT_NEAR(jet.value, value_at(f, c.at), 1e-14 * (1.0 + std::abs(jet.value))) << c.text;
    EXPECT_NEAR(jet.d1, d1, 2e-6 * (1.0 + std::abs(d1))) << c.text;
    EXPECT_NEAR(jet.d2, d2, 2e-6 * (1.0 + std::abs(d2))) << c.text;
  }
}

TEST(ExpressionTest, SecondDerivativeIncludesTheCurvatureOfItsArguments) {
  // x(s) = 1 + 2 s + 3 s^2 / 2: (x^3)'' = 6 x x'^2 + 3 x^2 x''.
  const std::vector<Jet> slots{Jet(1.0, 2.0, 3.0)};
  const Jet cube = parse("t^3").evaluate<Jet>(slots);
  EXPECT_EQ(cube.value, 1.0);
  EXPECT_EQ(cube.d1, 6.0);
  EXPECT_EQ(cube.d2, 33.0);
}

TEST(ExpressionTest, PowersAtZeroHaveTheirOneSidedDerivatives) {
  const Jet square = jet_at(parse("t^2"), 0.0);
  EXPECT_EQ(square.d1, 0.0);
  EXPECT_EQ(square.d2, 2.0);
  const Jet line = jet_at(parse("t^1"), 0.0);
  EXPECT_EQ(line.d1, 1.0);
  EXPECT_EQ(line.d2, 0.0);
  const Jet one = jet_at(parse("t^0"), 0.0);
  EXPECT_EQ(one.value, 1.0);
  EXPECT_EQ(one.d1, 0.0);
}

TEST(ExpressionTest, WhatDoesNotMoveHasNoDerivativeEvenAtASingularPoint) {
  const std::vector<Jet> still{Jet(0.0)};
  for (const char* text : {"sqrt(t)", "hypot(t, t)", "atan2(t, t)", "t^0.5", "abs(t)"}) {
    const Jet jet = parse(text).evaluate<Jet>(still);
    EXPECT_EQ(jet.d1, 0.0) << text;
    EXPECT_EQ(jet.d2, 0.0) << text;
  }
}

// ---- Composition ----

TEST(ExpressionTest, LinearCombinationCountsARepeatedVariableOnce) {
  const Expression gear = Expression::linear({"q.a", "q.b", "q.a"}, {2.0, -3.0, 1.0}, 0.5, {});
  EXPECT_THAT(gear.variables(), ElementsAre("q.a", "q.b"));
  const std::vector<double> slots{10.0, 1.0};
  EXPECT_EQ(gear.evaluate<double>(slots), 26.5);
}

TEST(ExpressionTest, DifferenceSharesVariables) {
  const Expression difference = parse("q.theta + t").minus(parse("2*t - v.x"));
  EXPECT_THAT(difference.variables(), ElementsAre("q.theta", "t", "v.x"));
  const std::vector<double> slots{10.0, 3.0, 5.0};
  EXPECT_EQ(difference.evaluate<double>(slots), 13.0 - (6.0 - 5.0));
  EXPECT_EQ(Expression().minus(Expression::constant(2.0)).constant_value(), -2.0);
}

TEST(ExpressionTest, RenamedKeepsItsValue) {
  const Expression f = parse("q.a - t").renamed([](const std::string& name) { return name == "t" ? name : "q.left.a"; });
  EXPECT_THAT(f.variables(), ElementsAre("q.left.a", "t"));
  const std::vector<double> slots{10.0, 3.0};
  EXPECT_EQ(f.evaluate<double>(slots), 7.0);
}

TEST(ExpressionTest, ParametersAreFoundWithoutParsing) {
  EXPECT_THAT(parameters_in("l1*sin(pi*x) + q.y - t"), ElementsAre("l1", "x"));
  EXPECT_THAT(parameters_in("a + $"), ElementsAre("a"));
}

TEST(ExpressionTest, ReservedNamesAreTheOnesExpressionsUse) {
  for (const char* name : {"t", "pi", "sin", "if", "step"}) EXPECT_TRUE(is_reserved_name(name)) << name;
  for (const char* name : {"e", "q", "v", "tau", "l1", "<", "^"}) EXPECT_FALSE(is_reserved_name(name)) << name;
}

// ---- Errors ----

struct ErrorCase {
  const char* text;
  int column;  // of the error; the text's quote stands at column 10
  const char* message;
};

TEST(ExpressionTest, ErrorsSayWhatWhereAndWhatWasExpected) {
  const std::vector<ErrorCase> cases{
      {"", 11, "the expression is empty; expected a number or a formula"},
      {"   ", 14, "the expression is empty"},
      {"1 +", 14, "the expression ends too early; expected a number, a name or '('"},
      {"1 + * 2", 15, "unexpected '*'; expected a number, a name or '('"},
      {"(1 + 2", 17, "the expression ends too early; expected an operator or ')'"},
      {"1 + 2)", 16, "unexpected ')'; expected an operator or the end of the expression"},
      {"2 l1", 13, "unexpected 'l1'; expected an operator"},
      {"2l1", 12, "unexpected 'l1'; expected an operator"},
      {"1 = 2", 13, "there is no '=' in expressions; expected an expression without assignment"},
      {"1 < 2 < 3", 17, "comparisons cannot be chained"},
      {"(1 < 2 < 3)", 18, "comparisons cannot be chained"},
      {"l3", 11, "unknown name 'l3'; did you mean 'l1'?"},
      {"2*lenght", 13, "unknown name 'lenght'; expected one of: e, l1, l2, n, pi, t, q.<joint>, v.<joint>"},
      {"sinn(1)", 11, "unknown function 'sinn'; did you mean 'sin'?"},
      {"sin", 11, "'sin' is a function; expected sin(x)"},
      {"1 + sin()", 15, "'sin' is given 0 arguments; expected sin(x)"},
      {"atan2(1)", 11, "'atan2' is given 1 argument; expected atan2(y, x)"},
      {"sin(1, 2)", 11, "'sin' is given 2 arguments; expected sin(x)"},
      {"sin(1", 16, "the expression ends too early; expected an operator, ',' or ')'"},
      {"q.", 13, "'q.' ends with a dot; expected a joint's name after it"},
      {"q.'a", 13, "the quote is not closed"},
      {"a.b", 11, "unknown name 'a.b'"},
      {"1/0", 10, "'1/0' has the value inf; expected a finite number"},
      {"t*sqrt(-1)", 10, "has the value nan; expected a finite number"},
      {"1e999", 11, "the number 1e999 is too large or too small"},
      {"α + $", 11, "unknown name 'α'"},
      {"1 + $", 15, "unexpected '$'"},
  };
  for (const ErrorCase& c : cases) {
    try {
      parse(c.text);
      ADD_FAILURE() << "no error: " << c.text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.message));
      EXPECT_EQ(error.place().line, 3) << c.text;
      EXPECT_EQ(error.place().column, c.column) << c.text;
    }
  }
}

TEST(ExpressionTest, VariablesNotAllowedAreRefused) {
  EXPECT_THROW(parse("t", Variables::kNone), InputError);
  EXPECT_THROW(parse("q.a", Variables::kTime), InputError);
  EXPECT_THROW(parse("v.a", Variables::kTimeAndPositions), InputError);
  EXPECT_NO_THROW(parse("t", Variables::kTime));
  EXPECT_NO_THROW(parse("q.a + t", Variables::kTimeAndPositions));
}

TEST(ExpressionTest, EndlessNestingAndLengthAreErrors) {
  const std::size_t many = 100'000;
  EXPECT_THROW(parse(std::string(many, '(')), InputError);
  for (const std::size_t count : {std::size_t{200}, std::size_t{5'000}}) {
    EXPECT_THROW(parse(std::string(count, '(') + "1" + std::string(count, ')')), InputError);
    EXPECT_THROW(parse(std::string(count, '-') + "1"), InputError);
  }
  std::string powers = "t";
  for (int i = 0; i < 1'000; ++i) powers += "^t";
  EXPECT_THROW(parse(powers), InputError);
  std::string right = "t";
  for (int i = 0; i < 80; ++i) right = "t+(" + right + ")";
  EXPECT_THROW(parse(right), InputError);
}

TEST(ExpressionTest, LongSumsAreFine) {
  std::string sum = "t";
  for (int i = 0; i < 4'000; ++i) sum += "+1";
  const std::vector<double> slots{0.5};
  EXPECT_EQ(parse(sum).evaluate<double>(slots), 4000.5);
}

TEST(ExpressionTest, PlacesFollowLinesAndCharacters) {
  EXPECT_EQ(to_string(inside_text({"m.toml", 3, 10}, "aé\nbc", 5)), "m.toml:4:2");
  EXPECT_EQ(to_string(inside_text({"m.toml", 3, 10}, "aébc", 3)), "m.toml:3:13");
  EXPECT_EQ(to_string(Place{"--set x=1", 0, 0}), "--set x=1");
  EXPECT_EQ(to_string(Place{"", 2, 3}), "2:3");
  EXPECT_EQ(to_string(Place{}), "");
}

// ---- Choices ----

TEST(ChoiceTest, HasANameAndNumericOptions) {
  const Choice plain = parse_choice("auto", {});
  EXPECT_EQ(plain.name, "auto");
  EXPECT_TRUE(plain.options.empty());
  const Choice choice = parse_choice("baumgarte:alpha=5, beta=2.5e1", {});
  EXPECT_EQ(choice.name, "baumgarte");
  EXPECT_EQ(choice.options, (std::map<std::string, double>{{"alpha", 5.0}, {"beta", 25.0}}));
}

TEST(ChoiceTest, ErrorsPointIntoTheText) {
  const std::vector<ErrorCase> cases{
      {"", 10, "the choice has no name"},
      {":a=1", 10, "the choice has no name"},
      {"x:", 13, "'' is not an option; expected key=value"},
      {"x:a", 13, "'a' is not an option"},
      {"x:a=", 15, "option 'a' has the value ''; expected a number"},
      {"x:a=1,b=z", 19, "option 'b' has the value 'z'; expected a number"},
      {"x:a=nan", 15, "option 'a' has the value 'nan'"},
      {"x:a=1,a=2", 17, "option 'a' is given twice"},
  };
  for (const ErrorCase& c : cases) {
    try {
      parse_choice(c.text, {"model.toml", 3, 10});
      ADD_FAILURE() << "no error: " << c.text;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(c.message));
      EXPECT_EQ(error.place().column, c.column) << c.text;
    }
  }
}

// ---- Suggestions ----

TEST(NearestNameTest, FindsTypingErrorsOnly) {
  const std::vector<std::string> known{"mass", "com", "inertia", "solid"};
  EXPECT_EQ(nearest_name("mas", known), "mass");
  EXPECT_EQ(nearest_name("intertia", known), "inertia");
  EXPECT_EQ(nearest_name("cmo", known), "com");
  EXPECT_EQ(nearest_name("Mass", known), "mass");
  EXPECT_EQ(nearest_name("colour", known), std::nullopt);
  EXPECT_EQ(nearest_name("x", known), std::nullopt);
}

}  // namespace
}  // namespace linkwork
