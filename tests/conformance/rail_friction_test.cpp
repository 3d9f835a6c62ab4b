#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <utility>

#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

/// Friction under a normal force of its own making, on a rail that holds both ways: the normal force depends on the friction,
/// changes its side as the linkage turns, and faster the nearer the linkage comes to where friction would lock it.
namespace linkwork {
namespace {

using test::RecordedRun;

struct SliderCrank {
  double r = 0.3, l = 0.8, m1 = 1.0, m2 = 1.5, m3 = 2.0, mu = 0.3, torque = 8.0, damping = 0.4, theta = 0.7;
  static constexpr double g = 9.81;

  double rod_angle(double angle) const { return -std::asin(r * std::sin(angle) / l); }

  Spec spec(double end) const {
    const double phi = rod_angle(theta);
    Spec spec =
        test::spec_of(fmt::format(
                          R"toml(
[settings]
gravity = [0, -9.81, 0]
end = {}
step = 2.5e-4
[[body]]
name = "crank"
mass = {}
com = [{}, 0, 0]
inertia = [0, {}, {}]
[[body]]
name = "rod"
mass = {}
com = [{}, 0, 0]
inertia = [0, {}, {}]
[[body]]
name = "slider"
mass = {}
inertia = [1, 1, 1]
)toml",
                          end, m1, r / 2, m1 * r * r / 12, m1 * r * r / 12, m2, l / 2, m2 * l * l / 12, m2 * l * l / 12, m3) +
                      fmt::format(R"toml(
[[joint]]
name = "theta"
type = "revolute"
parent = {{ body = "ground" }}
child = {{ body = "crank" }}
position = {}
fixed = true
[[joint]]
name = "knee"
type = "revolute"
parent = {{ body = "crank", at = [{}, 0, 0] }}
child = {{ body = "rod" }}
position = {}
[[joint]]
name = "x"
type = "translational"
parent = {{ body = "ground" }}
child = {{ body = "slider" }}
position = [{}, 0, 0]
[[closure]]
name = "wrist"
type = "pin"
a = {{ body = "rod", at = [{}, 0, 0] }}
b = {{ body = "slider" }}
[[closure]]
name = "rail"
type = "point-contact"
a = {{ body = "ground" }}
b = {{ body = "slider" }}
normal = [0, 1, 0]
dry_friction = {{ kinetic = {} }}
[[force]]
type = "torque"
joint = "theta"
value = "{} - {}*v.theta"
)toml",
                                  theta, r, phi - theta, r * std::cos(theta) + l * std::cos(phi), l, mu, torque, damping));
    return spec;
  }

  /// Newton's and Euler's equations in the angle of the crank, with the rail's normal force N and its friction -mu |N| against
  /// the motion: two equations for the acceleration and N, for either side of the rail.
  double acceleration(double angle, double w) const {
    const double phi = rod_angle(angle), ca = std::cos(angle), sa = std::sin(angle), cp = std::cos(phi), sp = std::sin(phi);
    // d/dtheta of phi, and second derivatives along the motion at theta'' = 0.
    const double p1 = -r * ca / (l * cp), phid = p1 * w, p2 = (r * sa * w * w + l * sp * phid * phid) / (l * cp);
    const double x1 = -r * sa - l * sp * p1, x2 = -r * ca * w * w - l * cp * phid * phid - l * sp * p2;
    const double u1 = -r * sa - 0.5 * l * sp * p1, u2 = -r * ca * w * w - 0.5 * l * (cp * phid * phid + sp * p2);  // rod's centre
    const double v1 = r * ca + 0.5 * l * cp * p1, v2 = -r * sa * w * w + 0.5 * l * (-sp * phid * phid + cp * p2);
    const double I1 = m1 * r * r / 3.0, I2 = m2 * l * l / 12.0, direction = x1 * w > 0.0 ? 1.0 : -1.0;
    for (const double side : {1.0, -1.0}) {
      const double f = -mu * side * direction;  // friction for each newton of N
      // Power: J theta'' + b = f N x1; moment about the knee: c theta'' + d = l (cos N - sin (f N)) ...
      const double J = I1 + I2 * p1 * p1 + m2 * (u1 * u1 + v1 * v1) + m3 * x1 * x1;
      const double b =
          I2 * p2 * p1 + m2 * (u2 * u1 + v2 * v1) + m3 * x2 * x1 + g * (m1 * 0.5 * r * ca + m2 * v1) - (torque - damping * w);
      const double c = I2 * p1 + 0.5 * m2 * l * (cp * v1 - sp * u1) - l * sp * m3 * x1;
      const double d = I2 * p2 + 0.5 * m2 * l * (cp * v2 - sp * u2) + 0.5 * m2 * g * l * cp + l * cp * m3 * g - l * sp * m3 * x2;
      // c theta'' + d = l (cos phi - sin phi f) N
      const double k = l * (cp - sp * f), determinant = J * k - f * x1 * c;
      const double normal = (J * d - b * c) / determinant;
      if (side * normal >= 0.0) return (f * x1 * normal - b) / J;
    }
    ADD_FAILURE() << "no side of the rail fits at " << angle;
    return 0.0;
  }

  std::pair<double, double> end_of(double end) const {
    constexpr double h = 2e-5;
    double angle = theta, w = 0.0;
    for (double t = 0.0; t < end - 0.5 * h; t += h) {
      const double a1 = acceleration(angle, w), w2 = w + 0.5 * h * a1, a2 = acceleration(angle + 0.5 * h * w, w2);
      const double w3 = w + 0.5 * h * a2, a3 = acceleration(angle + 0.5 * h * w2, w3), w4 = w + h * a3;
      const double a4 = acceleration(angle + h * w3, w4);
      angle += h / 6.0 * (w + 2.0 * w2 + 2.0 * w3 + w4);
      w += h / 6.0 * (a1 + 2.0 * a2 + 2.0 * a3 + a4);
    }
    return {angle, w};
  }
};

TEST(RailThatHoldsBothWays, IsSlidOnAsNewtonAndEulerSay) {
  std::mt19937 random(5);
  for (int trial = 0; trial < 4; ++trial) {
    SliderCrank crank;
    if (trial > 0) {
      crank.r *= 1.0 + 0.2 * test::uniform(random);
      crank.l *= 1.0 + 0.2 * test::uniform(random);
      crank.m3 *= 1.0 + 0.5 * test::uniform(random);
      crank.mu *= 1.0 + 0.3 * test::uniform(random);
      crank.torque *= 1.0 + 0.2 * test::uniform(random);
    }
    const double end = 2.0;
    const RecordedRun run(crank.spec(end));
    ASSERT_TRUE(run.summary.completed) << trial << ": " << run.summary.status;
    const auto [angle, w] = crank.end_of(end);
    EXPECT_NEAR(run.last("q.theta"), angle, 1e-3) << trial;
    EXPECT_NEAR(run.last("v.theta"), w, 1e-3) << trial;
    EXPECT_LT(run.summary.energy_drift, 1e-5) << trial;
  }
}

}  // namespace
}  // namespace linkwork
