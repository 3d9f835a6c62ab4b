// Modes of machines: closed forms, and a dense reference made without exact derivatives.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "linkwork/analysis/equilibrium.h"
#include "linkwork/analysis/linear_model.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// One degree of freedom: M(theta) theta'' + c x'^2 theta' + k x'^2 theta = 0 about the angle at which the spring is at rest.
TEST(MachineModes, OfASliderCrankOnASpringHaveTheirClosedForm) {
  for (const auto& [r, l, angle] : {std::tuple{0.2, 0.7, 1.0}, {0.35, 0.6, 2.2}, {0.1, 0.9, 0.4}}) {
    const double crank = 1.3, rod_mass = 0.8, slider = 2.1, k = 900.0, c = 7.0;
    const double s = std::sin(angle), phi = -std::asin(r * s / l), turn = -r * std::cos(angle) / (l * std::cos(phi));
    const double x = r * std::cos(angle) + l * std::cos(phi), slope = -r * s - l * std::sin(phi) * turn;
    const auto press = std::make_shared<const Model>(build_model(test::spec_of(fmt::format(
        R"(
settings.gravity = [0, 0, 0]
[[body]]
name = "crank"
solid = {{ shape = "rod", to = [{r}, 0, 0], mass = {crank} }}
[[body]]
name = "rod"
solid = {{ shape = "rod", to = [{l}, 0, 0], mass = {rod} }}
[[body]]
name = "slider"
mass = {slider}
inertia = [1, 1, 1]
[[joint]]
name = "theta"
type = "revolute"
parent = {{ body = "ground" }}
child = {{ body = "crank" }}
position = {theta}
[[joint]]
name = "pin"
type = "revolute"
parent = {{ body = "crank", at = [{r}, 0, 0] }}
child = {{ body = "rod" }}
position = {pin}
[[joint]]
name = "x"
type = "prismatic"
axis = [1, 0, 0]
parent = {{ body = "ground" }}
child = {{ body = "slider" }}
position = {x}
stiffness = {k}
rest = {x}
damping = {c}
[[closure]]
name = "end"
type = "pin"
a = {{ body = "rod", at = [{l}, 0, 0] }}
b = {{ body = "slider" }}
)",
        fmt::arg("r", r), fmt::arg("l", l), fmt::arg("crank", crank), fmt::arg("rod", rod_mass), fmt::arg("slider", slider),
        fmt::arg("theta", angle + 0.05), fmt::arg("pin", phi - angle), fmt::arg("x", x), fmt::arg("k", k), fmt::arg("c", c)))));
    ReducedMotion motion(press);
    const Equilibrium rest = find_equilibrium(press, motion);
    ASSERT_TRUE(rest.found) << rest.status;
    const std::vector<Mode> modes = find_modes(motion, linearize(motion));
    ASSERT_EQ(modes.size(), 1U) << "the loop has no modes of its own";
    const double vx = -r * s - 0.5 * l * std::sin(phi) * turn, vy = r * std::cos(angle) + 0.5 * l * std::cos(phi) * turn;
    const double inertia =
        crank * r * r / 3.0 + rod_mass * (vx * vx + vy * vy + l * l / 12.0 * turn * turn) + slider * slope * slope;
    const double omega = std::sqrt(k * slope * slope / inertia);
    EXPECT_NEAR(modes[0].frequency_hz, omega / (2.0 * std::numbers::pi), 1e-8 * omega) << angle;
    EXPECT_NEAR(modes[0].damping_ratio, c * slope * slope / (2.0 * inertia * omega), 1e-8) << angle;
  }
}

/// Differences of fourth order along states that meet the constraints know nothing of the exact derivatives.
TEST(MachineModes, OfMachinesOnSpringsAreThoseOfTheDenseReference) {
  for (const char* const name : {"rover", "measured_car", "quarter_car", "excavator"}) {
    const auto model = std::make_shared<const Model>(build_model(test::library_spec(name)));
    ReducedMotion motion(model);
    const Equilibrium rest = find_equilibrium(model, motion);
    ASSERT_TRUE(rest.found) << name << ": " << rest.status;
    const LinearModel exact = linearize(motion), differences = linearize(motion, Derivatives::kDifferences);
    EXPECT_EQ(exact.A.rows(), motion.position_count() + motion.velocity_count() + motion.state_count());
    const std::vector<Mode> modes = find_modes(motion, exact), expected = find_modes(motion, differences);
    ASSERT_EQ(modes.size(), expected.size()) << name;
    ASSERT_FALSE(modes.empty()) << name;
    const double highest = expected.back().frequency_hz;
    for (std::size_t i = 0; i < modes.size(); ++i)
      EXPECT_NEAR(modes[i].frequency_hz, expected[i].frequency_hz, 1e-8 * std::max(expected[i].frequency_hz, 1e-2 * highest))
          << name << " " << i;
  }
}

}  // namespace
}  // namespace linkwork
