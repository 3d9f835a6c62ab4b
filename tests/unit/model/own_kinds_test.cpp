#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkwork/io/model_file.h"
#include "linkwork/io/model_keys.h"
#include "linkwork/io/scene.h"
#include "linkwork/model/binding.h"
#include "linkwork/model/kinds.h"
#include "tests/support/assemblies.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

/// A spring and a damper on a joint: two elements.
ForceKind rubber_force() {
  return {.name = "rubber",
          .summary = "holds a joint near zero",
          .keys = {{"joint", KeyKind::kVelocity, kRequired, "the coordinate", &ForceSpec::joint},
                   {"rate", KeyKind::kPositive, kRequired, "torque per angle"},
                   {"loss", KeyKind::kNotNegative, kOptional, "torque per speed; default `0`", &ForceSpec::damping}},
          .build =
              [](const ForceSpec& spec, const Binding& binding, Model& model) {
                const auto add = [&](const std::string& variable, double factor) {
                  const Expression law = Expression::linear({variable}, {-factor}, 0.0, spec.place);
                  model.joint_forces.push_back({binding.coordinate(spec.joint, true, spec.place), binding.bind(law)});
                };
                add("q." + spec.joint, spec.numbers.at("rate"));
                add("v." + spec.joint, spec.damping);
              },
          .check =
              [](const ForceSpec& spec, const KeyPlaces& at) {
                if (spec.damping > spec.numbers.at("rate")) throw InputError(at("loss"), "'loss' is above 'rate'");
              },
          .components = {{"", "N m"}},
          .read =
              [](const Force& force, const AppliedForces& applied, std::span<double> values) {
                values[0] = applied.joint_force(force.joint_force) + applied.joint_force(force.joint_force + 1);
              }};
}

/// One joint turns `ratio` times as far as another.
CoordinateClosureKind belt_closure() {
  return {.name = "belt",
          .summary = "one joint turns as far as another, times a ratio",
          .holonomic = true,
          .keys = {{"joints", KeyKind::kPositions, kRequired, "both", &ClosureSpec::joints},
                   {"ratio", KeyKind::kNonzero, kRequired, "second by first"}},
          .relation = [](const ClosureSpec& spec) {
            return Expression::linear({"q." + spec.joints[0], "q." + spec.joints[1]}, {spec.numbers.at("ratio"), -1.0}, 0.0,
                                      spec.place);
          }};
}

/// How fast a point is.
SensorKind speed_sensor() {
  return {.name = "speed",
          .summary = "how fast a point of a body is",
          .prefix = "speed",
          .components = {""},
          .keys = {{"body", KeyKind::kBody, kRequired, "the body", &SensorSpec::frame},
                   {"at", KeyKind::kVector, kOptional, "the point", &SensorSpec::frame}},
          .read = [](const Sensor& sensor, const Observation& seen,
                     std::span<double> values) { values[0] = seen.velocity(sensor.frame).norm(); },
          .is_drawn = true};
}

std::shared_ptr<const Kinds> with_own_kinds() {
  auto kinds = std::make_shared<Kinds>(*standard_kinds());
  kinds->forces.push_back(rubber_force());
  kinds->closures.push_back(belt_closure());
  kinds->sensors.push_back(speed_sensor());
  return kinds;
}

constexpr std::string_view kTwoArms = R"toml(linkwork = 1
[settings]
end = 0.5
[[body]]
name = "one"
solid = { shape = "rod", to = [1, 0, 0], mass = 2 }
[[body]]
name = "two"
solid = { shape = "rod", to = [0.5, 0, 0], mass = 1 }
[[joint]]
name = "one"
type = "revolute"
parent = { body = "ground" }
child = { body = "one" }
[[joint]]
name = "two"
type = "revolute"
parent = { body = "ground", at = [3, 0, 0] }
child = { body = "two" }
)toml";

constexpr std::string_view kOwn = R"toml(
[[closure]]
name = "coupling"
type = "belt"
joints = ["one", "two"]
ratio = 2
[[force]]
name = "mount"
type = "rubber"
joint = "one"
rate = 30
loss = 2
[[sensor]]
name = "tip"
type = "speed"
body = "two"
at = [0.5, 0, 0]
)toml";

/// The same by kinds that come with the library.
constexpr std::string_view kStandard = R"toml(
[[closure]]
name = "coupling"
type = "gear"
joints = ["one", "two"]
coefficients = [2, -1]
[[force]]
name = "mount"
type = "torque"
joint = "one"
value = "-30*q.one - 2*v.one"
[[sensor]]
name = "tip"
type = "expression"
expression = "abs(0.5*v.two)"
)toml";

Spec read(const std::string& text) {
  ReadOptions options;
  options.kinds = with_own_kinds();
  return read_model_text(text, "own.toml", options);
}

void expect_same_motion(const std::string& own, const std::string& standard) {
  const test::RecordedRun a(read(own)), b(read(standard));
  EXPECT_TRUE(a.summary.completed) << a.summary.status;
  ASSERT_EQ(a.rows.size(), b.rows.size());
  EXPECT_GT(a.rows.size(), 40U);
  double largest = 0.0, moved = 0.0;
  for (std::size_t r = 0; r < a.rows.size(); ++r) {
    ASSERT_EQ(a.rows[r].size(), b.rows[r].size());
    for (std::size_t c = 0; c < a.rows[r].size(); ++c) largest = std::max(largest, std::abs(a.rows[r][c] - b.rows[r][c]));
    moved = std::max(moved, a.rows[r][a.column("speed.tip")]);
  }
  EXPECT_LT(largest, 1e-10);
  EXPECT_GT(moved, 0.5);
}

TEST(OwnKinds, MoveAModelAsStandardOnesDo) {
  expect_same_motion(std::string(kTwoArms) + std::string(kOwn), std::string(kTwoArms) + std::string(kStandard));
}

TEST(OwnKinds, AreSwitchedAsAWhole) {
  const std::string off = "[[event]]\nname = \"e\"\nwhen = \"t - 0.2\"\ndo = [\"off mount\"]\n";
  expect_same_motion(std::string(kTwoArms) + std::string(kOwn) + off, std::string(kTwoArms) + std::string(kStandard) + off);
}

TEST(OwnKinds, HaveColumnsKeysAndDrawings) {
  const Spec spec = read(std::string(kTwoArms) + std::string(kOwn));
  const Model model = build_model(spec);
  const std::vector<std::string> columns = Simulation(model).columns();
  EXPECT_THAT(columns, testing::Contains("speed.tip"));
  EXPECT_THAT(columns, testing::Contains("lambda.coupling.r"));
  EXPECT_THAT(scene_json(spec, model, columns), HasSubstr(R"({"name":"tip","type":"speed")"));
  const std::vector<KeyTable> tables = key_tables(*with_own_kinds());
  EXPECT_THAT(keys_as_markdown(key_table(tables, "force")), HasSubstr("| `rate` (required) | rubber | a number > 0 |"));
  EXPECT_THAT(key_table("force").types(), testing::Not(testing::Contains("rubber")));
}

TEST(OwnKinds, AreCheckedLikeOthers) {
  const auto message = [](const std::string& text) -> std::string {
    try {
      read(std::string(kTwoArms) + text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(message("[[force]]\ntype = \"rubber\"\njoint = \"one\"\nrate = 0\n"), HasSubstr("own.toml:23:8: 'rate' is 0"));
  EXPECT_THAT(message("[[force]]\ntype = \"rubber\"\njoint = \"on\"\nrate = 1\n"), HasSubstr("unknown joint 'on'"));
  EXPECT_THAT(message("[[force]]\ntype = \"rubber\"\njoint = \"one\"\nrate = 1\nloss = 2\n"),
              HasSubstr("own.toml:24:8: 'loss' is above 'rate'"));
  EXPECT_THAT(message("[[sensor]]\nname = \"x\"\ntype = \"speed\"\nbody = \"three\"\n"), HasSubstr("unknown body 'three'"));
}

TEST(OwnKinds, WorkInModulesThatAreSolvedApart) {
  const std::string part = std::string(kTwoArms) + std::string(kOwn);
  ReadOptions options;
  options.kinds = with_own_kinds();
  options.load = [&](const std::filesystem::path&) { return part; };
  const Spec spec = read_model_text(R"toml(linkwork = 1
[settings]
end = 0.1
[[module]]
name = "left"
file = "part.toml"
[[module]]
name = "right"
file = "part.toml"
[[force]]
type = "spring"
a = { body = "left.one", at = [1, 0, 0] }
b = { body = "right.two", at = [0.5, 0, 0] }
stiffness = 50
length = 1
)toml",
                                    "whole.toml", options);
  const test::Rows whole = test::run_in_one_piece(spec), apart = test::run_modules(spec);
  ASSERT_TRUE(apart.summary.completed) << apart.summary.status;
  EXPECT_EQ(apart.of("speed.left.tip").size(), whole.of("speed.left.tip").size());
  EXPECT_GT(apart.last("speed.left.tip"), 0.1);
  EXPECT_NEAR(apart.last("speed.left.tip"), whole.last("speed.left.tip"), 1e-9);
  EXPECT_LT(test::largest_difference(whole, apart).first, 1e-9);
}

}  // namespace
}  // namespace linkwork
