// Equilibria with the reactions of hand statics: redundant, sprung, one-sided and held by friction.

#include "linkwork/analysis/equilibrium.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

constexpr double kG = 9.81;

struct Rest {
  explicit Rest(const Spec& spec)
      : model(std::make_shared<const Model>(build_model(spec))), motion(model), found(find_equilibrium(model, motion)) {}
  double q(const std::string& name) const { return value(found.q, name); }
  double reaction(const std::string& name) const { return value(found.reactions, name); }
  static double value(const NamedNumbers& list, const std::string& name) {
    for (const auto& [each, number] : list)
      if (each == name) return number;
    ADD_FAILURE() << "there is no " << name;
    return NAN;
  }
  std::shared_ptr<const Model> model;
  ReducedMotion motion;
  Equilibrium found;
};

/// A table on two scissors, one behind the other, of bars of 2 kg: the second repeats every constraint of the first.
TEST(EquilibriumByHand, OfATwoSidedScissorLift) {
  const double length = 1.2, table = 30.0, bar = 2.0, k = 9000.0, rest = 0.35;
  std::string toml = R"(
settings.gravity = [0, -9.81, 0]
[[body]]
name = "foot"
mass = 1.0
inertia = [0.01, 0.01, 0.01]
[[joint]]
name = "slide"
type = "prismatic"
axis = [1, 0, 0]
parent = { body = "ground" }
child = { body = "foot" }
position = 1.0
stiffness = 9000.0
rest = 0.35
[[body]]
name = "table"
mass = 30.0
inertia = [1, 1, 1]
)";
  for (const char* side : {"1", "2"}) {
    const std::string z = side[0] == '1' ? "0" : "-0.5";
    for (const char* name : {"one", "two"})
      toml += fmt::format(R"(
[[body]]
name = "{}{}"
solid = {{ shape = "rod", from = [0, 0, 0], to = [1.2, 0, 0], mass = 2.0 }}
)",
                          name, side);
    toml += fmt::format(R"(
[[joint]]
name = "a{0}"
type = "revolute"
parent = {{ body = "ground", at = [0, 0, {1}] }}
child = {{ body = "one{0}" }}
position = 0.6
[[joint]]
name = "heel{0}"
type = "revolute"
parent = {{ body = "foot", at = [0, 0, {1}] }}
child = {{ body = "two{0}" }}
position = 2.54
[[closure]]
name = "middle{0}"
type = "revolute"
a = {{ body = "one{0}", at = [0.6, 0, 0] }}
b = {{ body = "two{0}", at = [0.6, 0, 0] }}
[[closure]]
name = "top{0}"
type = "point-on-plane"
axis = [0, 1, 0]
a = {{ body = "table", at = [0, 0, {1}] }}
b = {{ body = "one{0}", at = [1.2, 0, 0] }}
)",
                        side, z);
  }
  toml += R"(
[[joint]]
name = "top"
type = "revolute"
parent = { body = "two1", at = [1.2, 0, 0] }
child = { body = "table" }
position = -2.54
[[closure]]
name = "back"
type = "revolute"
a = { body = "two2", at = [1.2, 0, 0] }
b = { body = "table", at = [0, 0, -0.5] }
)";
  const Rest rest_at(test::spec_of(toml));
  ASSERT_TRUE(rest_at.found.found) << rest_at.found.status;
  EXPECT_TRUE(rest_at.found.stable);
  EXPECT_LT(rest_at.found.residual, 1e-10);
  // Virtual work: the table rises by dh, the middles of four bars by dh / 2, the foot moves in by dh tan(angle).
  const double angle = rest_at.q("a1"), x = rest_at.q("slide"), pull = k * (x - rest);
  EXPECT_NEAR(x, length * std::cos(angle), 1e-12);
  const double lifted = (table + 4.0 * bar / 2.0) * kG;
  EXPECT_NEAR(pull * std::tan(angle), lifted, 1e-9 * lifted);
  // The table's weight is shared by four ends, of which the far pair and the near pair carry half each.
  const double weight = (table + 4.0 * bar + 1.0) * kG;
  const double up = rest_at.reaction("force.a1.y") + rest_at.reaction("force.a2.y") + rest_at.reaction("force.slide.y");
  EXPECT_NEAR(std::abs(up), weight, 1e-9 * weight);
  EXPECT_NEAR(std::abs(rest_at.reaction("force.a1.x") + rest_at.reaction("force.a2.x")), pull, 1e-9 * pull);
}

/// A wheel on a trailing arm, held by a spring under the body: moments about the pin, then forces on the arm.
TEST(EquilibriumByHand, OfASuspensionCorner) {
  const Rest rest(test::spec_of(R"(
settings.gravity = [0, 0, -9.81]
[[body]]
name = "arm"
mass = 12.0
com = [0.3, 0, 0]
inertia = [0.1, 0.3, 0.3]
[[joint]]
name = "pin"
type = "revolute"
axis = [0, 1, 0]
parent = { body = "ground" }
child = { body = "arm" }
[[body]]
name = "wheel"
mass = 18.0
inertia = [0.4, 0.7, 0.4]
[[joint]]
name = "spin"
type = "revolute"
axis = [0, 1, 0]
parent = { body = "arm", at = [0.5, 0, 0] }
child = { body = "wheel" }
[[force]]
name = "coil"
type = "spring"
a = { body = "ground", at = [0.25, 0, 0.45] }
b = { body = "arm", at = [0.3, 0, 0.05] }
stiffness = 5000.0
length = 0.3
damping = 100.0
)"));
  ASSERT_TRUE(rest.found.found) << rest.found.status;
  EXPECT_LT(rest.found.residual, 1e-10);
  const double angle = rest.q("pin"), c = std::cos(angle), s = std::sin(angle);
  const auto on_arm = [&](double x, double z) { return Eigen::Vector2d(x * c + z * s, z * c - x * s); };
  const Eigen::Vector2d end = on_arm(0.3, 0.05), com = on_arm(0.3, 0.0), wheel = on_arm(0.5, 0.0), top(0.25, 0.45);
  const Eigen::Vector2d pull = 5000.0 * ((top - end).norm() - 0.3) * (top - end).normalized();
  const double moment = end.x() * pull.y() - end.y() * pull.x() - kG * (12.0 * com.x() + 18.0 * wheel.x());
  EXPECT_NEAR(moment, 0.0, 1e-9 * kG * 18.0);
  const Eigen::Vector2d pin(-pull.x(), 30.0 * kG - pull.y());
  EXPECT_NEAR(std::abs(rest.reaction("force.pin.x")), std::abs(pin.x()), 1e-9 * pull.norm());
  EXPECT_NEAR(std::abs(rest.reaction("force.pin.z")), std::abs(pin.y()), 1e-9 * pull.norm());
}

/// Fingers that are pushed by 30 N each hold a block of 1 kg that stands on its table: contacts one-sided, and with friction.
TEST(EquilibriumByHand, OfAGripperThatHolds) {
  const Rest rest(test::library_spec("gripper"));
  ASSERT_TRUE(rest.found.found) << rest.found.status;
  EXPECT_LT(rest.found.residual, 1e-10);
  EXPECT_NEAR(rest.q("left_slide") + rest.q("right_slide"), 0.06, 1e-9);
  EXPECT_NEAR(rest.reaction("force.left_pad.x"), 30.0, 1e-9 * 30.0);
  EXPECT_NEAR(rest.reaction("force.right_pad.x"), -30.0, 1e-9 * 30.0);
  EXPECT_NEAR(rest.reaction("force.table.y"), kG, 1e-9 * kG);
  EXPECT_NEAR(rest.reaction("force.left_slide.y"), 0.2 * kG, 1e-9 * kG);
}

/// Hanging down, its stiff links are stretched by half the sleeve's weight each.
TEST(EquilibriumByHand, OfTheStiffFlyball) {
  const Rest rest(test::library_spec("flyball_stiff"));
  ASSERT_TRUE(rest.found.found) << rest.found.status;
  EXPECT_TRUE(rest.found.stable);
  EXPECT_NEAR(rest.q("sleeve"), -0.5 * 3.0 * kG / 8e5, 1e-12);
}

TEST(EquilibriumByHand, OfReadyModelsThatAreHard) {
  for (const char* name : {"flyball", "measured_car", "rover", "quarter_car", "excavator"}) {
    const Rest rest(test::library_spec(name));
    EXPECT_TRUE(rest.found.found) << name << ": " << rest.found.status;
    EXPECT_LT(rest.found.residual, 1e-7) << name;
  }
}

/// A mass on an arm that hangs from a turning shaft: cos(angle) = g / (w^2 l), and it vibrates about that at w sin(angle).
TEST(SteadyMotion, OfATurningPendulumHasItsClosedForm) {
  const double w = 7.0, length = 0.5;
  const Rest rest(test::spec_of(R"(
settings.gravity = [0, 0, -9.81]
[[body]]
name = "shaft"
mass = 1.0
inertia = [6e8, 6e8, 1e9]
[[joint]]
name = "shaft"
type = "revolute"
axis = [0, 0, 1]
parent = { body = "ground" }
child = { body = "shaft" }
velocity = 7.0
[[body]]
name = "ball"
solid = { shape = "point", at = [0, 0, -0.5], mass = 2.0 }
[[joint]]
name = "arm"
type = "revolute"
axis = [0, 1, 0]
parent = { body = "shaft" }
child = { body = "ball" }
position = -0.9
)"));
  ReducedMotion motion(rest.model);
  begin_at("steady", rest.model, motion);
  const LinearModel linear = linearize(motion), differences = linearize(motion, Derivatives::kDifferences);
  const double angle = std::acos(kG / (w * w * length));
  EXPECT_NEAR(std::abs(Rest::value(linear.q, "arm")), angle, 1e-9);
  EXPECT_LT((linear.A - differences.A).norm(), 1e-8 * linear.A.norm());
  double fastest = 0.0;
  for (const auto& each : linear.eigenvalues) fastest = std::max(fastest, each.value.imag());
  EXPECT_NEAR(fastest, w * std::sin(angle), 1e-6 * w);  // of a shaft that is very heavy
}

TEST(SteadyMotion, OfTheFlyballHasTheFrequenciesOfTheDenseReference) {
  const auto model = std::make_shared<const Model>(build_model(test::library_spec("flyball")));
  ReducedMotion motion(model);
  begin_at("steady", model, motion);
  const LinearModel exact = linearize(motion), differences = linearize(motion, Derivatives::kDifferences);
  EXPECT_LT((exact.A - differences.A).norm(), 1e-8 * exact.A.norm());
  ASSERT_EQ(exact.eigenvalues.size(), differences.eigenvalues.size());
  for (std::size_t k = 0; k < exact.eigenvalues.size(); ++k)
    if (exact.eigenvalues[k].frequency_hz > 1e-3) {
      EXPECT_NEAR(exact.eigenvalues[k].frequency_hz, differences.eigenvalues[k].frequency_hz,
                  1e-8 * exact.eigenvalues[k].frequency_hz);
    }
}

TEST(EquilibriumByHand, SaysThatThereIsNone) {
  const Rest rest(test::spec_of(R"(
settings.gravity = [0, -9.81, 0]
[[body]]
name = "stone"
mass = 1.0
inertia = [1, 1, 1]
[[joint]]
name = "fall"
type = "prismatic"
axis = [0, 1, 0]
parent = { body = "ground" }
child = { body = "stone" }
)"));
  EXPECT_FALSE(rest.found.found);
  EXPECT_THAT(rest.found.status, HasSubstr("no equilibrium"));
}

}  // namespace
}  // namespace linkwork
