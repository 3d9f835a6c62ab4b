#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "linkwork/dynamics/system.h"
#include "linkwork/io/model_file.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

/// Two arms that swing, the first at (0, 0), the second at (3, 0).
const std::string kArms = R"(
[settings]
end = 0.6
[[body]]
name = "one"
solid = { shape = "rod", to = [1, 0, 0], mass = 2 }
[[body]]
name = "two"
solid = { shape = "rod", to = [1, 0, 0], mass = 1 }
[[joint]]
name = "one"
type = "revolute"
parent = { body = "ground" }
child = { body = "one" }
velocity = 0.4
[[joint]]
name = "two"
type = "revolute"
parent = { body = "ground", at = [3, 0, 0] }
child = { body = "two" }
position = 2.5
)";

std::string torque(const std::string& value) {
  return "[[force]]\ntype = \"torque\"\njoint = \"one\"\nvalue = \"" + value + "\"\n";
}
std::string sensor(const std::string& name, const std::string& expression) {
  return "[[sensor]]\nname = \"" + name + "\"\ntype = \"expression\"\nexpression = \"" + expression + "\"\n";
}
const std::string kTip = "[[sensor]]\nname = \"tip\"\ntype = \"point\"\nbody = \"one\"\nat = [1, 0, 0]\n";
const std::string kGap =
    "[[sensor]]\nname = \"gap\"\ntype = \"distance\"\na = { body = \"one\", at = [1, 0, 0] }\nb = { body = \"two\", at = [1, 0, "
    "0] "
    "}\n";

/// Runs both, and compares the motion of the arms at all times.
double difference(const std::string& a, const std::string& b) {
  const test::RecordedRun first(test::spec_of(kArms + a)), second(test::spec_of(kArms + b));
  EXPECT_TRUE(first.summary.completed) << first.summary.status;
  EXPECT_EQ(first.rows.size(), second.rows.size());
  EXPECT_GT(std::abs(second.last("q.one")), 0.1);
  double largest = 0.0;
  for (std::size_t r = 0; r < first.rows.size(); ++r)
    for (const char* column : {"q.one", "q.two", "v.one", "v.two", "a.one"})
      largest = std::max(largest, std::abs(first.rows[r][first.column(column)] - second.rows[r][second.column(column)]));
  return largest;
}

std::string message(const std::string& text) {
  try {
    test::model_of(kArms + text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Sensors, StandInExpressionsForWhatTheyShow) {
  EXPECT_LT(difference(torque("-9*p.tip.y - 3*pv.tip.x") + kTip, torque("-9*sin(q.one) + 3*sin(q.one)*v.one")), 1e-11);
  EXPECT_LT(difference(sensor("angle", "2*q.one") + sensor("law", "-4*s.angle - p.tip.y") + kTip + torque("s.law"),
                       torque("-8*q.one - sin(q.one)")),
            1e-11);
  const std::string dx = "(3 + cos(q.two) - cos(q.one))", dy = "(sin(q.two) - sin(q.one))";
  const std::string rate =
      "(" + dx + "*(sin(q.one)*v.one - sin(q.two)*v.two) + " + dy + "*(cos(q.two)*v.two - cos(q.one)*v.one))";
  EXPECT_LT(difference(torque("8*d.gap - 2*dv.gap") + kGap,
                       torque("8*hypot(" + dx + ", " + dy + ") - 2*" + rate + "/hypot(" + dx + ", " + dy + ")")),
            1e-10);
}

TEST(Sensors, HaveColumnsOfDistances) {
  const test::RecordedRun run(test::spec_of(kArms + kGap));
  EXPECT_NEAR(run.rows[0][run.column("d.gap")], std::hypot(2.0 + std::cos(2.5), std::sin(2.5)), 1e-12);
}

TEST(Sensors, ThatNeedOneAnotherAreNamed) {
  EXPECT_THAT(message(sensor("a", "s.b + 1") + sensor("b", "2*s.c") + sensor("c", "s.a")), HasSubstr("a -> b -> c -> a"));
  EXPECT_THAT(message(sensor("a", "s.a")), HasSubstr("a -> a"));
  EXPECT_EQ(message(sensor("a", "s.b + s.c") + sensor("b", "s.c") + sensor("c", "t")), "accepted");
}

TEST(Sensors, AreLookedForWhereTheyAreUsed) {
  EXPECT_THAT(message(torque("2*s.a")), HasSubstr("unknown expression sensor 'a'"));
  EXPECT_THAT(message(torque("1 + u.motor")), HasSubstr(":27:14: unknown input 'motor'"));
  EXPECT_THAT(message(torque("z.integral")), HasSubstr("unknown state 'integral'"));
  EXPECT_THAT(message(torque("p.tip.r") + kTip), HasSubstr("has no component 'r'; expected one of: x, y, z"));
  EXPECT_THAT(message("[[closure]]\nname = \"c\"\ntype = \"pfaffian\"\nexpression = \"v.one - p.tip.x\"\n" + kTip),
              HasSubstr("closure 'c' uses a point"));
}

TEST(SpringLaw, IsTheForceThatPullsTheEndsTogether) {
  const std::string ends =
      "[[force]]\ntype = \"spring\"\na = { body = \"one\", at = [1, 0, 0] }\nb = { body = \"two\", at = [1, 0, 0] }\n";
  EXPECT_LT(difference(ends + "law = \"40*(d - 0.8) + 3*dv\"\n", ends + "stiffness = 40\nlength = 0.8\ndamping = 3\n"), 1e-11);
  EXPECT_THAT(message(ends), HasSubstr("the force has no 'stiffness'"));
  EXPECT_THAT(message(ends + "stiffness = 4\nlaw = \"d\"\n"), HasSubstr("'stiffness' is given beside 'law'"));
  EXPECT_THAT(message("[parameters]\nd = 3\n" + ends + "law = \"2*d\"\n"), HasSubstr("the parameter 'd' has the name"));
  EXPECT_THAT(message(torque("2*d")), HasSubstr("unknown name 'd'"));
}

TEST(SpringLaw, ClosesTheEnergyBalance) {
  const std::string text =
      kArms +
      "[[force]]\ntype = \"spring\"\na = { body = \"one\", at = [1, 0, 0] }\nb = { body = \"two\", at = [1, 0, 0] }\n"
      "law = \"20*(d - 1)^3 + 2*dv\"\n";
  const test::RecordedRun run(test::spec_of(text));
  EXPECT_LT(run.summary.energy_drift, 1e-9);
}

TEST(Tables, AreFunctionsInExpressions) {
  const std::string table = "[[table]]\nname = \"damper\"\nx = [-1, 0, 1]\ny = [5, 0, -2]\n";
  EXPECT_LT(difference(table + torque("damper(v.one)"),
                       torque("if(abs(v.one) < 1, if(v.one < 0, -5*v.one, -2*v.one), if(v.one < 0, 5, -2))")),
            1e-9);
  const std::string smooth =
      "[[table]]\nname = \"f\"\ninterpolation = \"cubic\"\nx = [-9, -1, 0, 2, 9]\ny = [-729, -1, 0, 8, 729]\n";
  EXPECT_LT(difference(smooth + torque("-f(q.one) - f(v.one)"), torque("-q.one^3 - v.one^3")), 1e-10);
}

TEST(Tables, ThatAreHeldSwitchWhereTheyJump) {
  const std::string table = "[[table]]\nname = \"plan\"\ninterpolation = \"hold\"\nx = [0, 0.1234, 0.2]\ny = [0, -3, -10]\n";
  EXPECT_LT(difference(table + torque("plan(t)"), torque("-3*step(t - 0.1234) - 7*step(t - 0.2)")), 1e-12);
  EXPECT_LT(difference(table + torque("plan(q.one + 0.2)"), torque("-3*step(q.one + 0.0766) - 7*step(q.one)")), 1e-9);
}

TEST(Tables, ThatEndStopTheRunThereAndSaySo) {
  const std::string table = "[[table]]\nname = \"plan\"\nextrapolation = \"error\"\nx = [0, 0.2]\ny = [0, 1]\n";
  const test::RecordedRun run(test::spec_of(kArms + table + torque("plan(t)")));
  EXPECT_FALSE(run.summary.completed);
  EXPECT_THAT(run.summary.status, HasSubstr("'plan' is asked for its value at"));
  EXPECT_THAT(run.summary.status, HasSubstr("beyond its data from 0 to 0.2"));
}

TEST(Tables, DriveJointsSmoothly) {
  const std::string table =
      "[[table]]\nname = \"path\"\ninterpolation = \"cubic\"\nx = [0, 0.2, 0.5, 1]\ny = [0, 0.04, 0.25, 1]\n";
  const std::string drive = "[[closure]]\nname = \"c\"\ntype = \"drive\"\njoint = \"one\"\nvalue = ";
  EXPECT_LT(difference(table + drive + "\"0.4*t + path(t)\"\n", drive + "\"0.4*t + t^2\"\n"), 1e-9);
}

Spec with_data(const std::string& text, const std::string& data) {
  ReadOptions options;
  options.load = [&](const std::filesystem::path&) { return data; };
  return read_model_text("linkwork = 1\n" + text, "m.toml", options);
}

TEST(Inputs, FromAFileAreReadAtTheTimeOfEachStage) {
  const std::string input = "[[input]]\nname = \"push\"\nfile = \"push.csv\"\ninterpolation = \"cubic\"\nscale = 2\noffset = 1\n";
  const Spec spec = with_data(kArms + input + torque("u.push"), "t,push\n0,0\n0.1,0.001\n0.4,0.064\n0.6,0.216\n");
  const test::RecordedRun run(spec), wanted(test::spec_of(kArms + torque("1 + 2*t^3")));
  EXPECT_NEAR(run.last("q.one"), wanted.last("q.one"), 1e-12);
  EXPECT_NEAR(run.at(0.3, "u.push"), 1.0 + 2.0 * 0.027, 1e-14);
}

TEST(Inputs, HaveTheirValueUntilTheyAreSet) {
  const Model model = test::model_of(kArms + "[[input]]\nname = \"motor\"\nvalue = \"3*t\"\n" + torque("u.motor"));
  const State state = test::start_state(model);
  System one(model), other(model);
  State later = state;
  later.t = 2.0;
  const auto torque_on_one = [&](System& system) {
    system.update(later);
    system.update_forces();
    return system.work().tau[model.joints[0].v[0]];
  };
  EXPECT_EQ(torque_on_one(one), 6.0);
  one.set_input(model.input_index("motor"), -5.0);
  EXPECT_EQ(torque_on_one(one), -5.0);
  EXPECT_EQ(torque_on_one(other), 6.0);
  other.set_memory(one.memory());
  EXPECT_EQ(torque_on_one(other), -5.0);
  one.release_input(model.input_index("motor"));
  EXPECT_EQ(torque_on_one(one), 6.0);
  EXPECT_THROW(model.input_index("moter"), InputError);
}

TEST(States, HaveRatesOfEverythingThatExpressionsMayUse) {
  const Model model = test::model_of(
      kArms + kTip +
      "[[input]]\nname = \"goal\"\nvalue = 2\n[[state]]\nname = \"integral\"\nstart = 0.5\nrate = \"u.goal - p.tip.x\"\n" +
      "[[state]]\nname = \"filter\"\nrate = \"(z.integral - z.filter)/0.1 + t\"\n" + torque("7*z.filter"));
  ASSERT_EQ(model.states.size(), 2U);
  EXPECT_EQ(model.states[0].start, 0.5);
  State state = test::start_state(model);
  state.q[model.joints[0].q[0]] = 0.3;
  state.t = 4.0;
  System system(model);
  std::array<double, 2> rates{};
  system.update(state);
  system.state_rates(rates);  // without values of their own the states are at their start
  EXPECT_NEAR(rates[0], 2.0 - std::cos(0.3), 1e-14);
  EXPECT_NEAR(rates[1], 5.0 + 4.0, 1e-14);
  state.z.resize(2);
  state.z << 1.0, -2.0;
  system.update(state);
  system.update_forces();
  system.state_rates(rates);
  EXPECT_NEAR(rates[1], 30.0 + 4.0, 1e-13);
  EXPECT_EQ(system.work().tau[model.joints[0].v[0]], -14.0);
}

TEST(UnitWords, AreNumbersUnlessAParameterHasTheName) {
  EXPECT_NEAR(test::model_of(kArms + "[parameters]\na = \"90*deg + 60*rpm\"\n" + torque("a"))
                  .joint_forces[0]
                  .value.expression.constant_value(),
              std::numbers::pi / 2.0 + 2.0 * std::numbers::pi, 1e-14);
  const auto constant = [](const std::string& text, const std::map<std::string, double>& parameters) {
    return Expression::parse(text, parameters, Variables::kNone, {}).constant_value();
  };
  EXPECT_DOUBLE_EQ(constant("2*mm + 3*cm", {}), 0.032);
  EXPECT_DOUBLE_EQ(constant("kN + bar + g0", {}), 1e3 + 1e5 + 9.80665);
  EXPECT_DOUBLE_EQ(constant("2*mm", {{"mm", 5.0}}), 10.0);
}

TEST(Hints, AreGivenWhereNumbersLookLikeDegreesOrMillimetres) {
  const auto notes = [](const std::string& text) {
    std::string all;
    for (const std::string& note : test::model_of(text).notes) all += note + "\n";
    return all;
  };
  const std::string one = R"(
[[body]]
name = "arm"
mass = 1
com = [COM, 0, 0]
inertia = [1, 1, 1]
[[joint]]
name = "arm"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
position = ANGLE
)";
  const auto with = [&](const std::string& com, const std::string& angle) {
    std::string text = one;
    text.replace(text.find("COM"), 3, com);
    return text.replace(text.find("ANGLE"), 5, angle);
  };
  EXPECT_EQ(notes(with("0.5", "1.5")), "");
  EXPECT_THAT(notes(with("0.5", "45")), HasSubstr("\"45*deg\""));
  EXPECT_THAT(notes(with("900", "1")), HasSubstr("\"900*mm\""));
}

TEST(Signals, WorkInModulesThatAreSolvedApart) {
  const std::string part =
      "linkwork = 1\n" + kArms + kTip + kGap + "[[input]]\nname = \"push\"\nvalue = \"5*sin(9*t)\"\n" +
      "[[table]]\nname = \"f\"\ninterpolation = \"cubic\"\nx = [-9, -1, 0, 2, 9]\ny = [-729, -1, 0, 8, 729]\n" +
      sensor("all", "f(q.one) + d.gap - p.tip.y") + torque("u.push - s.all");
  ReadOptions options;
  options.load = [&](const std::filesystem::path&) { return part; };
  const Spec spec = read_model_text(R"(linkwork = 1
[settings]
end = 0.2
[[module]]
name = "left"
file = "part.toml"
[[module]]
name = "right"
file = "part.toml"
[[input]]
name = "both"
value = 2
[[force]]
type = "torque"
joint = "left.two"
value = "u.both"
[[force]]
type = "torque"
joint = "right.two"
value = "u.both*u.right.push"
[[force]]
type = "spring"
a = { body = "left.one", at = [1, 0, 0] }
b = { body = "right.two", at = [0.5, 0, 0] }
stiffness = 50
length = 1
)",
                                    "whole.toml", options);
  const test::Rows whole = test::run_in_one_piece(spec), apart = test::run_modules(spec);
  ASSERT_TRUE(apart.summary.completed) << apart.summary.status;
  EXPECT_LT(test::largest_difference(whole, apart).first, 1e-9);
  EXPECT_EQ(std::ranges::count(apart.columns, "u.both"), 1);
  EXPECT_NEAR(apart.last("s.left.all"), whole.last("s.left.all"), 1e-9);
}

}  // namespace
}  // namespace linkwork
