#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "tests/support/mechanisms.h"
#include "tests/support/recorded_run.h"

/// Several contacts and frictions at once: closed forms, with random sizes and axes.
namespace linkwork {
namespace {

using test::RecordedRun;
using Strings = std::vector<std::string>;
using V3 = Eigen::Vector3d;

constexpr double kG = 9.81;

std::string text(const V3& v) { return fmt::format("[{:.17g}, {:.17g}, {:.17g}]", v.x(), v.y(), v.z()); }

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

struct Random {
  std::mt19937 engine;
  double operator()(double low, double high) { return std::uniform_real_distribution<double>(low, high)(engine); }
  V3 direction() { return V3((*this)(-1, 1), (*this)(-1, 1), (*this)(-1, 1)).normalized(); }
};

/// A block on feet, on a plane with any normal; gravity leans by `slope` towards `down` in it.
struct Block {
  V3 normal, down;
  double slope = 0.0, mass = 1.0, height = 0.1, reach = 0.3, mu = 0.5;
  int feet = 4;
  std::string rest;

  Spec spec(double end, double step = 1e-2) const {
    std::string model = fmt::format(
        "[settings]\ngravity = {}\nend = {}\nstep = {}\noutput_every = 0.05\n[[body]]\nname = \"block\"\nmass = {}\ncom = {}\n"
        "inertia = [{}, {}, {}]\n[[joint]]\nname = \"f\"\ntype = \"free\"\nparent = {{ body = \"ground\" }}\nchild = {{ body = "
        "\"block\" }}\n",
        text(kG * (std::sin(slope) * down - std::cos(slope) * normal)), end, step, mass, text(height * normal), 0.02 * mass,
        0.02 * mass, 0.02 * mass);
    const V3 side = normal.cross(down);
    for (int i = 0; i < feet; ++i) {
      const double angle = 2.0 * M_PI * (i + 0.5) / feet;
      model += fmt::format(
          "[[closure]]\nname = \"foot{}\"\ntype = \"point-contact\"\na = {{ body = \"ground\" }}\nb = {{ body = \"block\", at = "
          "{} }}\n"
          "normal = {}\none_sided = \"above\"\ndry_friction = {{ kinetic = {:.17g} }}\n",
          i, text(reach * (std::cos(angle) * down + std::sin(angle) * side)), text(normal), mu);
    }
    return test::spec_of(model + rest);
  }
  static Block random(Random& r, int feet) {
    Block b;
    b.normal = r.direction();
    b.down = b.normal.cross(r.direction()).normalized();
    b.slope = r(0.2, 0.7);
    b.mass = r(0.2, 20.0);
    b.height = r(0.01, 0.05);
    b.feet = feet;
    return b;
  }
};

V3 place(const RecordedRun& run, const std::string& prefix) {
  return {run.last(prefix + "x"), run.last(prefix + "y"), run.last(prefix + "z")};
}

TEST(BlockOnFeet, RestsIfFrictionCanHoldItAndElseSlidesDownTheSlope) {
  Random r{std::mt19937(1)};
  for (const int feet : {3, 4, 5})
    for (const double share : {0.6, 0.98, 1.02, 1.6}) {
      Block b = Block::random(r, feet);
      b.mu = share * std::tan(b.slope);
      const RecordedRun run(b.spec(0.5));
      const std::string what = fmt::format("{} feet, share {}: {}", feet, share, run.summary.status);
      ASSERT_TRUE(run.summary.completed) << what;
      const double a = share < 1.0 ? kG * (std::sin(b.slope) - b.mu * std::cos(b.slope)) : 0.0;
      EXPECT_LT((place(run, "v.f.") - 0.5 * a * b.down).norm(), 1e-9) << what;
      EXPECT_LT((place(run, "q.f.") - 0.125 * a * b.down).norm(), 1e-9) << what;
      EXPECT_TRUE(run.summary.events.empty()) << what;
    }
}

TEST(BlockOnFeet, SlipsWhenThePushReachesTheLimit) {
  Random r{std::mt19937(2)};
  for (const int feet : {3, 4}) {
    Block b = Block::random(r, feet);
    b.slope = 0.0;
    b.mu = r(0.2, 0.6);
    const double rate = b.mu * b.mass * kG / 0.3;  // at 0.3 s
    const V3 f = rate * b.down;
    b.rest =
        fmt::format("[[force]]\ntype = \"wrench\"\nbody = \"block\"\nforce = [\"{:.17g}*t\", \"{:.17g}*t\", \"{:.17g}*t\"]\n",
                    f.x(), f.y(), f.z());
    const RecordedRun run(b.spec(0.5, 1e-3));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    ASSERT_EQ(run.summary.events.size(), static_cast<std::size_t>(feet));
    for (const EventRecord& event : run.summary.events) {
      EXPECT_EQ(event.what, "slides");
      EXPECT_NEAR(event.t, 0.3, 1e-8);
    }
    const double v = 0.5 * rate * 0.04 / b.mass;  // from rest, by a force that grows from nothing over 0.2 s
    EXPECT_LT((place(run, "v.f.") - v * b.down).norm(), 1e-6 * v) << feet;
  }
}

TEST(BlockOnFeet, TipsWhereItIsTooTallForTheSlope) {
  Random r{std::mt19937(3)};
  Block b = Block::random(r, 4);
  b.slope = 0.5;
  b.mu = 2.0;
  const double half = b.reach * std::cos(M_PI / 4.0);
  for (const double share : {0.95, 1.05}) {
    b.height = share * half / std::tan(b.slope);
    const RecordedRun run(b.spec(0.2));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    const V3 w(run.last("v.f.wx"), run.last("v.f.wy"), run.last("v.f.wz"));
    if (share < 1.0)
      EXPECT_LT(w.norm(), 1e-9);
    else
      EXPECT_GT(w.dot(b.normal.cross(b.down)), 1e-2);
  }
}

// --- impacts

std::string bar(double inertia, double restitution, const std::string& start = "[0, 0.1, 0]") {
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
        "axis = [0, 1, 0]\none_sided = \"above\"\nrestitution = {}\n",
        x < 0 ? "left" : "right", x, restitution);
  return model;
}

TEST(BarDroppedFlat, BouncesStraightUpWhateverItsInertia) {
  for (const double inertia : {0.02, 0.25, 0.1, 2.0}) {
    const RecordedRun run(test::spec_of(bar(inertia, 1.0)));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_NEAR(run.last("q.p.angle"), 0.0, 1e-12) << inertia;
    EXPECT_EQ(run.summary.events.size(), 8U) << inertia;
    EXPECT_LT(run.summary.energy_drift, 1e-12);
    const double fall = std::sqrt(0.2 / kG), since = std::remainder(1.0 - fall, 2.0 * fall);
    EXPECT_NEAR(run.last("q.p.y"), 0.1 - 0.5 * kG * std::pow(fall - std::abs(since), 2), 1e-9) << inertia;
  }
}

TEST(BarDroppedFlat, RestsAtOnceWithoutRestitutionAndAfterItsBouncesWithSome) {
  for (const double inertia : {0.02, 0.1, 2.0}) {
    const RecordedRun plastic(test::spec_of(bar(inertia, 0.0)));
    EXPECT_EQ(plastic.happened(), (Strings{"left closes", "right closes"})) << inertia;
    EXPECT_NEAR(plastic.last("q.p.y"), 0.0, 1e-12);
    const RecordedRun bouncing(test::spec_of(bar(inertia, 0.4)));
    ASSERT_TRUE(bouncing.summary.completed) << bouncing.summary.status;
    EXPECT_NEAR(bouncing.summary.events.back().t, std::sqrt(0.2 / kG) * 1.4 / 0.6, 1e-6) << inertia;
    EXPECT_NEAR(bouncing.last("q.p.angle"), 0.0, 1e-9) << inertia;
    EXPECT_NEAR(bouncing.last("v.p.y"), 0.0, 1e-9) << inertia;
  }
}

/// On one end first: it rattles, and impacts take energy only.
TEST(BarDroppedFlat, OnOneEndLosesEnergyAtEveryImpact) {
  for (const double tilt : {0.02, 0.1}) {
    const RecordedRun run(test::spec_of(bar(0.05, 0.5, fmt::format("[0, 0.1, {}]", tilt))));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_GT(run.summary.events.size(), 4U);
    for (const EventRecord& event : run.summary.events) EXPECT_LE(event.energy, 1e-12) << event.t;
    EXPECT_LT(run.summary.energy_drift, 1e-8);
  }
}

TEST(Table, DroppedFlatComesToRestOnAllLegs) {
  Random r{std::mt19937(4)};
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

// --- friction in mechanisms

/// Dry friction in the slider, as a law that switches or rounded over speeds of eps: the same as eps goes to zero.
TEST(SliderCrank, PassesItsDeadCentresAsWithARoundedLawOfFriction) {
  const auto model = [](double force, double eps, double r, double l) {
    const double theta = 0.7, knee = -theta - std::asin(r / l * std::sin(theta));
    const double x = r * std::cos(theta) + std::sqrt(l * l - std::pow(r * std::sin(theta), 2));
    std::string text =
        fmt::format(R"(
[settings]
gravity = [0, -9.81, 0]
end = 1
step = 1e-3
[[body]]
name = "crank"
mass = 1
com = [{0}, 0, 0]
inertia = [0.001, 0.01, 0.01]
[[body]]
name = "rod"
mass = 1.5
com = [{1}, 0, 0]
inertia = [0.001, 0.08, 0.08]
[[body]]
name = "slider"
mass = 2
inertia = [1, 1, 1]
[[joint]]
name = "th"
type = "revolute"
parent = {{ body = "ground" }}
child = {{ body = "crank" }}
position = 0.7
velocity = 15
fixed = true
[[joint]]
name = "k"
type = "revolute"
parent = {{ body = "crank", at = [{2}, 0, 0] }}
child = {{ body = "rod" }}
position = {3:.17g}
[[joint]]
name = "x"
type = "prismatic"
axis = [1, 0, 0]
parent = {{ body = "ground" }}
child = {{ body = "slider" }}
position = {4:.17g}
{5}
[[closure]]
name = "wrist"
type = "pin"
a = {{ body = "rod", at = [{6}, 0, 0] }}
b = {{ body = "slider" }}
)",
                    r / 2, l / 2, r, knee, x, eps > 0.0 ? "" : fmt::format("dry_friction = {{ kinetic = {} }}", force), l);
    if (eps > 0.0) text += fmt::format("[[force]]\ntype = \"force\"\njoint = \"x\"\nvalue = \"-{}*tanh(v.x/{})\"\n", force, eps);
    return test::spec_of(text);
  };
  for (const auto& [force, r, l] : {std::array{5.0, 0.3, 0.8}, std::array{12.0, 0.2, 0.5}}) {
    const RecordedRun run(model(force, 0.0, r, l));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_GE(run.summary.events.size(), 3U);
    for (const EventRecord& event : run.summary.events) EXPECT_EQ(event.what, "turns round");
    EXPECT_LT(run.summary.energy_drift, 1e-6);
    const auto off = [&](double eps) { return std::abs(RecordedRun(model(force, eps, r, l)).last("v.th") - run.last("v.th")); };
    const double coarse = off(0.3), fine = off(0.03);
    EXPECT_LT(fine, 0.3 * coarse) << force;
    EXPECT_LT(fine, 2e-3 * std::abs(run.last("v.th"))) << force;
  }
}

/// A rod that slides on its tip: no force fits where friction is strong and the rod steep, and that is said.
TEST(PainlevesRod, IsToldApartFromOneThatMerelySlides) {
  const auto rod = [](double mu, double speed) {
    return RecordedRun(test::spec_of(fmt::format(R"(
[settings]
gravity = [0, -9.81, 0]
end = 0.02
step = 1e-4
[[body]]
name = "rod"
solid = {{ shape = "rod", to = [1, 0, 0], mass = 1 }}
[[joint]]
name = "place"
type = "planar"
parent = {{ body = "ground" }}
child = {{ body = "rod" }}
position = [0, 0, 1.1]
velocity = [{}, 0, 0]
[[closure]]
name = "tip"
type = "point-contact"
a = {{ body = "ground" }}
b = {{ body = "rod" }}
normal = [0, 1, 0]
one_sided = "above"
dry_friction = {{ kinetic = {} }}
)",
                                                 speed, mu)));
  };
  // The normal force meets 1 + 3 c (c - mu s sign): positive below mu = (1 + 3 c^2)/(3 c s).
  const double c = std::cos(1.1), s = std::sin(1.1), critical = (1.0 + 3.0 * c * c) / (3.0 * c * s);
  EXPECT_TRUE(rod(0.98 * critical, -1.0).summary.warnings.empty());
  EXPECT_TRUE(rod(1.3 * critical, 1.0).summary.warnings.empty());  // dragged, not pushed
  const RecordedRun jammed = rod(1.02 * critical, -1.0);
  ASSERT_TRUE(jammed.summary.completed) << jammed.summary.status;
  ASSERT_EQ(jammed.happened(), Strings{"tip jams"});
  EXPECT_LT(jammed.summary.events[0].energy, 0.0);
  ASSERT_EQ(jammed.summary.warnings.size(), 1U);
  for (const char* part : {"'tip'", "Painleve", "inconsistent"}) EXPECT_TRUE(contains(jammed.summary.warnings[0], part)) << part;
}

/// Three boxes on one another, one of them pulled: the weakest interface below it slips, when its friction is used up.
TEST(StackOfBoxes, SlipsWhereFrictionIsUsedUpFirst) {
  const double mu[]{0.5, 0.4, 0.3}, mass[]{1.0, 1.5, 2.0};
  for (const int pulled : {0, 1, 2}) {
    std::string model = "[settings]\ngravity = [0, -9.81, 0]\nend = 1.0\nstep = 2e-3\n";
    int slips = 0;
    double limit = 1e300;
    for (int i = 0; i < 3; ++i) {
      double above = 0.0;
      for (int j = i; j < 3; ++j) above += mass[j];
      if (i <= pulled && mu[i] * above * kG < limit) limit = mu[i] * above * kG, slips = i;
    }
    for (int i = 0; i < 3; ++i) {
      model += fmt::format(
          "[[body]]\nname = \"b{0}\"\nsolid = {{ shape = \"box\", size = [0.6, 0.1, 0.3], mass = {1} }}\n[[joint]]\nname = "
          "\"p{0}\"\ntype "
          "= \"planar\"\nparent = {{ body = \"ground\" }}\nchild = {{ body = \"b{0}\" }}\nposition = [0, {2}, 0]\n",
          i, mass[i], 0.05 + 0.1 * i);
      for (const int side : {-1, 1})
        model += fmt::format(
            "[[closure]]\nname = \"c{0}{1}\"\ntype = \"point-contact\"\na = {{ body = \"{2}\", at = [0, {3}, 0] }}\nb = {{ body "
            "= "
            "\"b{0}\", at = [{4}, -0.05, 0] }}\nnormal = [0, 1, 0]\none_sided = \"above\"\ndry_friction = {{ kinetic = {5} }}\n",
            i, side > 0 ? "r" : "l", i == 0 ? "ground" : fmt::format("b{}", i - 1), i == 0 ? 0.0 : 0.05, 0.3 * side, mu[i]);
    }
    model += fmt::format("[[force]]\ntype = \"force\"\njoint = \"p{}.x\"\nvalue = \"{:.17g}*t\"\n", pulled, limit / 0.8);
    const RecordedRun run(test::spec_of(model));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    ASSERT_GE(run.summary.events.size(), 2U) << pulled;
    for (std::size_t k : {0U, 1U}) {
      EXPECT_EQ(run.summary.events[k].name.substr(0, 2), fmt::format("c{}", slips)) << pulled;
      EXPECT_EQ(run.summary.events[k].what, "slides") << pulled;
      EXPECT_NEAR(run.summary.events[k].t, 0.8, 1e-8) << pulled;
    }
    EXPECT_LT(run.summary.energy_drift, 1e-6) << pulled;
  }
}

/// A block slides down a wedge that gives way on the floor, without friction.
TEST(Wedge, GivesWayToTheBlockOnIt) {
  const double a = 0.6, m = 1.3, M = 2.1;
  std::string model = fmt::format(R"(
[settings]
gravity = [0, -9.81, 0]
end = 0.2
step = 1e-2
[[body]]
name = "wedge"
mass = {0}
inertia = [1, 1, 1]
[[joint]]
name = "w"
type = "planar"
parent = {{ body = "ground" }}
child = {{ body = "wedge" }}
[[body]]
name = "block"
mass = {1}
inertia = [0.1, 0.1, 0.1]
[[joint]]
name = "b"
type = "planar"
parent = {{ body = "ground" }}
child = {{ body = "block" }}
position = [0, 0, {2}]
)",
                                  M, m, -a);
  for (const int side : {-1, 1}) {
    model += fmt::format(
        "[[closure]]\nname = \"floor{0}\"\ntype = \"point-on-plane\"\na = {{ body = \"ground\", at = [0, -1, 0] }}\nb = {{ body "
        "= "
        "\"wedge\", at = [{1}, -1, 0] }}\naxis = [0, 1, 0]\none_sided = \"above\"\n",
        side > 0 ? "r" : "l", 2.0 * side);
    model += fmt::format(
        "[[closure]]\nname = \"slope{0}\"\ntype = \"point-on-plane\"\na = {{ body = \"wedge\", rpy = [0, 0, {1}] }}\nb = {{ body "
        "= "
        "\"block\", at = [{2}, 0, 0] }}\naxis = [0, 1, 0]\none_sided = \"above\"\n",
        side > 0 ? "r" : "l", -a, 0.1 * side);
  }
  const RecordedRun run(test::spec_of(model));
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  const double s = std::sin(a), c = std::cos(a);
  EXPECT_NEAR(run.last("v.w.x"), -0.2 * m * kG * s * c / (M + m * s * s), 1e-9);
  EXPECT_LT(run.summary.energy_drift, 1e-9);
}

/// A block held down by a weight that a rail keeps from moving along, and pulled aside: it slips at both at once.
TEST(Clamp, SlipsAtTheSameTimeWithEveryIntegrator) {
  const std::string model = R"(
[settings]
gravity = [0, -9.81, 0]
end = 0.7
step = 1e-3
[[body]]
name = "block"
solid = { shape = "box", size = [0.2, 0.1, 0.1], mass = 1 }
[[joint]]
name = "b"
type = "planar"
parent = { body = "ground", at = [0, 0.05, 0] }
child = { body = "block" }
[[body]]
name = "weight"
solid = { shape = "box", size = [0.1, 0.1, 0.1], mass = 3 }
[[joint]]
name = "w"
type = "prismatic"
axis = [0, 1, 0]
parent = { body = "ground", at = [0, 0.15, 0] }
child = { body = "weight" }
[[closure]]
repeat = { i = [1, 2] }
name = "table{i}"
type = "point-contact"
a = { body = "ground" }
b = { body = "block", at = ["(2*i - 3)*0.1", -0.05, 0] }
normal = [0, 1, 0]
one_sided = "above"
dry_friction = { kinetic = 0.3 }
[[closure]]
name = "press"
type = "point-contact"
a = { body = "block", at = [0, 0.05, 0] }
b = { body = "weight", at = [0, -0.05, 0] }
normal = [0, 1, 0]
one_sided = "above"
dry_friction = { kinetic = 0.3 }
[[force]]
type = "force"
joint = "b.x"
value = "40*t"
)";
  const double slip = 0.3 * (4.0 + 3.0) * kG / 40.0;
  for (const char* integrator : {"rk4", "dopri45", "cvode-bdf", "cvode-adams", "arkode"}) {
    Spec spec = test::spec_of(model);
    spec.settings.integrator = {integrator, {}, {}};
    const RecordedRun run(spec);
    ASSERT_TRUE(run.summary.completed) << integrator << ": " << run.summary.status;
    ASSERT_GE(run.summary.events.size(), 3U) << integrator;
    for (std::size_t k : {0U, 1U, 2U}) {
      EXPECT_EQ(run.summary.events[k].what, "slides") << integrator;
      EXPECT_NEAR(run.summary.events[k].t, slip, 1e-7) << integrator;
    }
    EXPECT_NEAR(run.last("v.b.x"), 20.0 * std::pow(0.7 - slip, 2), 1e-4) << integrator;
  }
}

// --- runs that used not to end

TEST(GripperRuns, EndWithMethodsThatHoldContactsBadly) {
  Spec usual = test::library_spec("gripper");
  usual.settings.end = 0.2;
  const RecordedRun reference(usual);
  for (const auto& [integrator, formulation, coordinates] :
       {std::array{"euler", "auto", "TA"}, std::array{"rk4", "compliance", "TA"}, std::array{"cvode-bdf", "auto", "FA"}}) {
    Spec spec = test::library_spec("gripper");
    spec.settings.integrator = {integrator, {}, {}};
    spec.settings.formulation = {formulation, {}, {}};
    spec.settings.coordinates = {coordinates, {}, {}};
    spec.settings.end = 0.2;
    const RecordedRun run(spec);
    EXPECT_TRUE(run.summary.completed) << integrator << " " << formulation << ": " << run.summary.status;
    EXPECT_NEAR(run.last("q.block.x"), reference.last("q.block.x"), 1e-4) << integrator << " " << formulation;
  }
}

}  // namespace
}  // namespace linkwork
