#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/LU>
#include <cmath>

#include "tests/support/random_block.h"

/// Impacts of one and of several contacts: closed forms, with random sizes and axes.
namespace linkwork {
namespace {

using test::Block;
using test::kG;
using test::place;
using test::RandomNumbers;
using test::RecordedRun;
using test::V3;
using Strings = std::vector<std::string>;

std::string bar(double inertia, double restitution, const std::string& start = "[0, 0.1, 0]", const std::string& more = "") {
  std::string model = fmt::format(R"(
[settings]
gravity = [0, -9.81, 0]
end = 1
step = 1e-2
[[body]]
name = "bar"
mass = 1
inertia = [{0}, {0}, {0}]
[[joint]]
name = "p"
type = "planar"
parent = {{ body = "ground" }}
child = {{ body = "bar" }}
position = {1}
)",
                                  inertia, start);
  for (const double x : {-0.5, 0.5})
    model += fmt::format(
        "[[closure]]\nname = \"{}\"\ntype = \"point-on-plane\"\na = {{ body = \"ground\" }}\nb = {{ body = \"bar\", at = [{}, 0, "
        "0] }}\n"
        "axis = [0, 1, 0]\none_sided = \"above\"\nrestitution = {}\n{}",
        x < 0 ? "left" : "right", x, restitution, more);
  return model;
}

/// In any plane of space.
Spec bar_anywhere(RandomNumbers& r, const std::string& model) { return test::turned(test::spec_of(model), r.rotation()); }

TEST(BarDroppedFlat, BouncesStraightUpWhateverItsInertia) {
  RandomNumbers r(20);
  for (const auto& [inertia, law] : {std::pair{0.02, "newton"}, std::pair{0.25, "newton"}, std::pair{2.0, "newton"},
                                     std::pair{0.02, "poisson"}, std::pair{2.0, "poisson"}}) {
    const RecordedRun run(bar_anywhere(r, bar(inertia, 1.0, "[0, 0.1, 0]", fmt::format("impact_law = \"{}\"\n", law))));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_NEAR(run.last("q.p.angle"), 0.0, 1e-12) << inertia;
    EXPECT_EQ(run.summary.events.size(), 8U) << inertia;
    EXPECT_LT(run.summary.energy_drift, 1e-12);
    const double fall = std::sqrt(0.2 / kG), since = std::remainder(1.0 - fall, 2.0 * fall);
    EXPECT_NEAR(run.last("q.p.y"), 0.1 - 0.5 * kG * std::pow(fall - std::abs(since), 2), 1e-9) << inertia;
  }
}

TEST(BarDroppedFlat, RestsAtOnceWithoutRestitutionAndAfterItsBouncesWithSome) {
  RandomNumbers r(26);
  for (const double inertia : {0.02, 0.1, 2.0}) {
    const RecordedRun plastic(bar_anywhere(r, bar(inertia, 0.0)));
    EXPECT_EQ(plastic.happened(), (Strings{"left closes", "right closes"})) << inertia;
    EXPECT_NEAR(plastic.last("q.p.y"), 0.0, 1e-12);
    const RecordedRun bouncing(bar_anywhere(r, bar(inertia, 0.4)));
    ASSERT_TRUE(bouncing.summary.completed) << bouncing.summary.status;
    EXPECT_NEAR(bouncing.summary.events.back().t, std::sqrt(0.2 / kG) * 1.4 / 0.6, 1e-6) << inertia;
    EXPECT_NEAR(bouncing.last("q.p.angle"), 0.0, 1e-9) << inertia;
    EXPECT_NEAR(bouncing.last("v.p.y"), 0.0, 1e-9) << inertia;
  }
}

/// On one end first: it rattles, and impacts take energy only.
TEST(BarDroppedFlat, OnOneEndLosesEnergyAtEveryImpact) {
  RandomNumbers r(24);
  for (const double tilt : {0.02, 0.1}) {
    const RecordedRun run(bar_anywhere(r, bar(0.05, 0.5, fmt::format("[0, 0.1, {}]", tilt))));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_GT(run.summary.events.size(), 4U);
    for (const EventRecord& event : run.summary.events) EXPECT_LE(event.energy, 1e-12) << event.t;
    EXPECT_LT(run.summary.energy_drift, 1e-8);
  }
}

TEST(Table, DroppedFlatComesToRestOnAllLegs) {
  RandomNumbers r(4);
  Block b = Block::random(r, 4);
  b.slope = 0.0;
  Spec spec = b.spec(0.5);
  spec.joints[0].position = {0.1 * b.normal.x(), 0.1 * b.normal.y(), 0.1 * b.normal.z(), 1, 0, 0, 0};
  const RecordedRun run(spec);
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_EQ(run.happened(), (Strings{"foot0 closes", "foot1 closes", "foot2 closes", "foot3 closes"}));
  EXPECT_LT(place(run, "q.f.").norm(), 1e-9);
  for (int i = 0; i < 4; ++i) EXPECT_NEAR(run.last(fmt::format("lambda.foot{}.normal", i)), 0.25 * b.mass * kG, 1e-6);
}

TEST(Table, DroppedOnOneLegComesToRestOnAllOfThem) {
  RandomNumbers r(5);
  for (const double restitution : {0.0, 0.3}) {
    Block b = Block::random(r, 4);
    b.slope = 0.0;
    b.mu = 0.4;
    b.restitution = restitution;
    const V3 axis = b.normal.cross(r.direction()).normalized();
    const double tilt = r(0.1, 0.2);
    Spec spec = b.spec(3.0, 2e-3);
    const V3 start = (0.1 + b.reach * std::sin(tilt)) * b.normal;
    const V3 turn = std::sin(tilt / 2) * axis;
    spec.joints[0].position = {start.x(), start.y(), start.z(), std::cos(tilt / 2), turn.x(), turn.y(), turn.z()};
    const RecordedRun run(spec);
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    ASSERT_GE(run.summary.events.size(), 4U);
    for (const EventRecord& event : run.summary.events) EXPECT_LE(event.energy, 1e-12 * b.mass) << event.t << " " << event.name;
    EXPECT_LT(run.summary.energy_drift, 1e-6);
    EXPECT_NEAR(place(run, "q.f.").dot(b.normal), 0.0, 1e-8) << restitution;
    EXPECT_LT(V3(run.last("v.f.wx"), run.last("v.f.wy"), run.last("v.f.wz")).norm(), 1e-8) << restitution;
    double weight = 0.0;
    for (int i = 0; i < 4; ++i) weight += run.last(fmt::format("lambda.foot{}.normal", i));
    EXPECT_NEAR(weight, b.mass * kG, 1e-6 * b.mass) << restitution;
  }
}

// --- Poisson's law

/// A rod that strikes the ground with its end, and what happens to its velocity there.
struct RodImpact {
  double m, I, rx, ry, mu, e;
  V3 before = {}, after = {};  // x, y, angle
  EventRecord event = {};
  std::vector<std::string> warnings = {};

  void run(const std::string& law, const V3& velocity) {
    const double height = 1e-3 - ry;
    Spec spec = test::spec_of(fmt::format(R"(
[settings]
gravity = [0, 0, 0]
end = 1
step = 1e-2
[[body]]
name = "rod"
mass = {0:.17g}
inertia = [{1:.17g}, {1:.17g}, {1:.17g}]
[[joint]]
name = "p"
type = "planar"
parent = {{ body = "ground" }}
child = {{ body = "rod" }}
position = [0, {2:.17g}, 0]
velocity = [{3:.17g}, {4:.17g}, {5:.17g}]
[[closure]]
name = "tip"
type = "point-contact"
a = {{ body = "ground" }}
b = {{ body = "rod", at = [{6:.17g}, {7:.17g}, 0] }}
normal = [0, 1, 0]
one_sided = "above"
restitution = {8:.17g}
impact_law = "{9}"
dry_friction = {{ kinetic = {10:.17g} }}
[[event]]
name = "enough"
when = "t - 0.02"
do = ["stop"]
)",
                                          m, I, height, velocity.x(), velocity.y(), velocity.z(), rx, ry, e, law, mu));
    Observer observer;
    int count = 0;
    observer.event = [&](EquationsOfMotion& equations, bool is_after) {
      if (count++ < 2) (is_after ? after : before) = equations.system().state().v;
      if (!is_after && count == 1) {  // the rod has turned a little
        const double angle = equations.system().state().q[2], c = std::cos(angle), s = std::sin(angle);
        std::tie(rx, ry) = std::pair{c * rx - s * ry, s * rx + c * ry};
      }
    };
    const RecordedRun recorded(spec, observer);
    ASSERT_FALSE(recorded.summary.events.empty());
    event = recorded.summary.events[0];
    ASSERT_EQ(event.name, "tip");
    warnings = recorded.summary.warnings;
  }
  /// Of the normal and the tangential impulse on the velocities there.
  Eigen::Matrix2d W() const {
    Eigen::Matrix2d w;
    w << 1 / m + rx * rx / I, -rx * ry / I, -rx * ry / I, 1 / m + ry * ry / I;
    return w;
  }
  Eigen::Vector2d tip(const V3& v) const { return {v.y() + v.z() * rx, v.x() - v.z() * ry}; }
  static RodImpact random(RandomNumbers& r) {
    const double angle = r(0.4, 2.7);
    const double m = r(0.5, 3.0), half = r(0.2, 0.6);
    return {m, m * half * half * r(0.2, 0.5), -half * std::cos(angle), -half * std::sin(angle), r(0.05, 2.5), r(0.1, 0.9)};
  }
};

/// Where it sticks in compression and in restitution the impulses have a closed form, which is not Newton's.
TEST(PoissonsLaw, ReturnsTheShareOfTheImpulse) {
  RandomNumbers r(6);
  int sticking = 0, sliding = 0;
  for (int trial = 0; trial < 60; ++trial) {
    RodImpact rod = RodImpact::random(r);
    ASSERT_NO_FATAL_FAILURE(rod.run("poisson", V3(r(-1, 1), r(-2, -1), r(-0.5, 0.5))));
    const Eigen::Matrix2d W = rod.W();
    const Eigen::Vector2d u = rod.tip(rod.before), found = rod.tip(rod.after);
    const Eigen::Vector2d compression = -W.inverse() * u;
    const double across = -W(0, 1) / W(1, 1);  // of a normal impulse, that keeps the tip from sliding
    const double side = u[1] > 0.0 ? -1.0 : 1.0, normal = -u[0] / (W(0, 0) + rod.mu * side * W(0, 1));
    const Eigen::Vector2d slid = u + (1.0 + rod.e) * normal * W * Eigen::Vector2d(1.0, rod.mu * side);
    if (compression[0] > 0.0 && std::abs(compression[1]) < rod.mu * compression[0] && std::abs(across) < rod.mu) {
      ++sticking;
      const Eigen::Vector2d total = compression + rod.e * compression[0] * Eigen::Vector2d(1.0, across);
      EXPECT_LT((found - u - W * total).norm(), 1e-9) << trial;
      EXPECT_NEAR(found[1], 0.0, 1e-9) << trial;
    } else if (normal > 0.0 && slid[1] * u[1] > 0.0 && std::abs(compression[1]) > rod.mu * compression[0]) {
      ++sliding;
      EXPECT_LT((found - slid).norm(), 1e-9) << trial;
    }
    EXPECT_LE(rod.event.energy, 1e-12) << trial;
    EXPECT_GE(found[0], -1e-9) << trial;
  }
  EXPECT_GT(sticking, 5);
  EXPECT_GT(sliding, 5);
}

TEST(PoissonsLaw, AddsNoEnergyWhereNewtonsDoesAndSaysSo) {
  RandomNumbers r(7);
  int added = 0;
  for (int trial = 0; trial < 60; ++trial) {
    RodImpact newton = RodImpact::random(r);
    newton.e = 0.95;
    RodImpact poisson = newton;
    const V3 velocity(r(-2, 2), r(-1, -0.5), r(-2, 2));
    if (newton.tip(velocity)[0] > -0.2) continue;
    ASSERT_NO_FATAL_FAILURE(newton.run("newton", velocity));
    ASSERT_NO_FATAL_FAILURE(poisson.run("poisson", velocity));
    EXPECT_LE(poisson.event.energy, 1e-12) << trial;
    if (newton.event.energy <= 1e-9) continue;
    ++added;
    ASSERT_EQ(newton.warnings.size(), 1U) << trial;
    EXPECT_NE(newton.warnings[0].find("adds energy"), std::string::npos) << newton.warnings[0];
  }
  EXPECT_GT(added, 0);
}

// --- flights that integrators do not resolve

/// Euler's method makes up energy in every step: bounces would not end.
TEST(ShortFlights, EndWithEulersMethod) {
  for (const double restitution : {0.1, 0.4, 0.7})
    for (const double step : {1e-3, 4e-3}) {
      Spec spec = test::spec_of(bar(0.05, restitution));
      spec.settings.integrator = {"euler", {}, {}};
      spec.settings.step = step;
      spec.settings.end = 4.0;
      const RecordedRun run(spec);
      ASSERT_TRUE(run.summary.completed) << run.summary.status;
      EXPECT_LT(run.summary.events.size(), 80U) << restitution;
      EXPECT_NEAR(run.last("q.p.y"), 0.0, 1e-9) << restitution;
      EXPECT_NEAR(run.last("v.p.y"), 0.0, 1e-9) << restitution;
      ASSERT_FALSE(run.summary.warnings.empty());
      EXPECT_NE(run.summary.warnings[0].find("too short for the steps"), std::string::npos) << run.summary.warnings[0];
    }
}

/// The first steps of CVODE are of order 1: positions and velocities differ there by more than a contact has opened.
TEST(ShortFlights, CostLittleWithStepsOfAnyOrder) {
  for (const char* integrator : {"cvode-bdf", "cvode-adams", "dopri45", "arkode"}) {
    Spec spec = test::spec_of(bar(0.05, 0.2));
    spec.settings.integrator = {integrator, {}, {}};
    const RecordedRun bouncing(spec);
    ASSERT_TRUE(bouncing.summary.completed) << integrator << ": " << bouncing.summary.status;
    EXPECT_LT(bouncing.summary.evaluations, 10'000) << integrator;
    EXPECT_NEAR(bouncing.last("q.p.y"), 0.0, 1e-7) << integrator;
    EXPECT_NEAR(bouncing.summary.events.back().t, std::sqrt(0.2 / kG) * 1.2 / 0.8, 1e-3) << integrator;
    Spec gripper = test::library_spec("gripper");
    gripper.settings.coordinates = {"TA", {}, {}};
    gripper.settings.integrator = {integrator, {}, {}};
    const RecordedRun run(gripper);
    ASSERT_TRUE(run.summary.completed) << integrator << ": " << run.summary.status;
    EXPECT_LT(run.summary.evaluations, 20'000) << integrator;
  }
}

/// Pulled by a force that grows slowly, it hardly opens at first.
TEST(SlowOpening, IsNoClosing) {
  for (const char* integrator : {"rk4", "cvode-bdf", "cvode-adams", "dopri45", "arkode"}) {
    Spec spec = test::spec_of(bar(0.05, 0.0, "[0, 0, 0]") +
                              "[[force]]\ntype = \"force\"\njoint = \"p.y\"\nvalue = \"9.81*t/0.5 - 40*q.p.y - v.p.y\"\n");
    spec.settings.integrator = {integrator, {}, {}};
    const RecordedRun run(spec);
    ASSERT_TRUE(run.summary.completed) << integrator << ": " << run.summary.status;
    EXPECT_EQ(run.happened(), (Strings{"left opens", "right opens"})) << integrator;
    EXPECT_NEAR(run.summary.events[0].t, 0.5, 1e-8) << integrator;
    EXPECT_LT(run.summary.evaluations, 5000) << integrator;
    EXPECT_GT(run.last("q.p.y"), 0.05) << integrator;
  }
}

// --- runs that make no progress

/// A ball flies between two walls so close together that time hardly gets on by its impacts.
TEST(ARunThatDoesNotGetOn, SaysSoAndNamesWhatKeepsSwitching) {
  std::string model = R"(
[settings]
gravity = [0, 0, 0]
end = 1e5
step = 100
output_every = 1e4
[[body]]
name = "ball"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "x"
type = "prismatic"
axis = [1, 0, 0]
parent = { body = "ground" }
child = { body = "ball" }
position = 5e-8
velocity = 1
limits = [0, 1e-7]
restitution = 1
)";
  const RecordedRun run(test::spec_of(model));
  EXPECT_FALSE(run.summary.completed);
  for (const char* part : {"evaluations advanced the time by less than", "what keeps switching is", "'x.low'", "'x.high'"})
    EXPECT_NE(run.summary.status.find(part), std::string::npos) << part << " in: " << run.summary.status;
  EXPECT_LT(run.summary.evaluations, 30'000);
}

// --- units

/// Lengths by a factor, masses by its cube, times by its root: the same happens.
TEST(Scale, OfTheMechanismMakesNoDifference) {
  const auto run = [](double scale) {
    RandomNumbers r(8);
    Block b = Block::random(r, 4);
    b.scale = scale;
    b.slope = 0.3;
    b.mu = 0.2;
    b.restitution = 0.3;
    Spec spec = b.spec(1.0, 2e-3);
    const V3 start = 0.05 * scale * b.normal;
    spec.joints[0].position = {start.x(), start.y(), start.z(), 1, 0, 0, 0};
    return RecordedRun(spec);
  };
  const RecordedRun usual = run(1.0);
  ASSERT_TRUE(usual.summary.completed) << usual.summary.status;
  ASSERT_GE(usual.summary.events.size(), 8U);
  for (const double scale : {1e-6, 1e-3, 1e3, 1e6}) {
    const RecordedRun scaled = run(scale);
    ASSERT_TRUE(scaled.summary.completed) << scale << ": " << scaled.summary.status;
    ASSERT_EQ(scaled.happened(), usual.happened()) << scale;
    for (std::size_t k = 0; k < usual.summary.events.size(); ++k)
      EXPECT_NEAR(scaled.summary.events[k].t / std::sqrt(scale), usual.summary.events[k].t, 1e-7) << scale << " " << k;
    EXPECT_LT((place(scaled, "q.f.") / scale - place(usual, "q.f.")).norm(), 1e-6) << scale;
    EXPECT_LT((place(scaled, "v.f.") / std::sqrt(scale) - place(usual, "v.f.")).norm(), 1e-6) << scale;
  }
}

/// A block that is pushed slips at its time, whatever its size.
TEST(Scale, OfAPushedBlockMakesNoDifference) {
  for (const double scale : {1e-6, 1.0, 1e6}) {
    RandomNumbers r(9);
    Block b = Block::random(r, 3);
    b.scale = scale;
    b.slope = 0.0;
    b.mu = 0.4;
    const V3 f = b.mu * b.mass * std::pow(scale, 3) * kG / b.time(0.3) * b.down;
    b.rest =
        fmt::format("[[force]]\ntype = \"wrench\"\nbody = \"block\"\nforce = [\"{:.17g}*t\", \"{:.17g}*t\", \"{:.17g}*t\"]\n",
                    f.x(), f.y(), f.z());
    const RecordedRun run(b.spec(0.5, 1e-3));
    ASSERT_TRUE(run.summary.completed) << scale << ": " << run.summary.status;
    ASSERT_EQ(run.happened(), (Strings{"foot0 slides", "foot1 slides", "foot2 slides"})) << scale;
    EXPECT_NEAR(run.summary.events[0].t / b.time(1.0), 0.3, 1e-7) << scale;
    const double v = 0.5 * b.mu * kG / 0.3 * 0.04;
    EXPECT_LT((place(run, "v.f.") / std::sqrt(scale) - v * b.down).norm(), 1e-6) << scale;
  }
}

/// A slider falls on its limit. Friction turns round at the top of every flight: an instant without speed, but not the end.
TEST(Flights, OfJointsWithFrictionAddUpToTheirSum) {
  test::RandomNumbers r(41);
  for (int trial = 0; trial < 10; ++trial) {
    const test::V3 axis = r.direction();
    const double mass = std::pow(10.0, r(-2.0, 2.0)), g = r(5.0, 15.0), friction = r(0.05, 0.5) * g, height = r(0.05, 0.5),
                 restitution = r(0.3, 0.8);
    const double up = g + friction, down = g - friction, slower = restitution * std::sqrt(down / up);
    const double struck = std::sqrt(2.0 * down * height), first = restitution * struck;
    const double end = struck / down + first * (1.0 / up + 1.0 / std::sqrt(up * down)) / (1.0 - slower);
    const Spec spec = test::spec_of(fmt::format(R"toml(
[settings]
gravity = {}
end = {:.17g}
step = 1e-3
[[body]]
name = "slider"
mass = {:.17g}
[[joint]]
name = "x"
type = "prismatic"
parent = {{ body = "ground" }}
child = {{ body = "slider", at = [1, 0, 0] }}
axis = {}
position = {:.17g}
limits = [0, 10]
restitution = {:.17g}
dry_friction = {{ kinetic = {:.17g} }}
)toml",
                                                test::text(-g * axis), 1.1 * end, mass, test::text(axis), height, restitution,
                                                mass * friction));
    const test::RecordedRun run(spec);
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    ASSERT_FALSE(run.summary.events.empty());
    EXPECT_NEAR(run.summary.events.back().t, end, 4e-6) << trial;
    EXPECT_NEAR(run.last("q.x"), 0.0, 1e-9) << trial;
  }
}

}  // namespace
}  // namespace linkwork
