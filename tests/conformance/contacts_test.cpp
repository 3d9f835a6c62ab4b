#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/random_block.h"

/// Several contacts and frictions at once: closed forms, with random sizes and axes.
namespace linkwork {
namespace {

using test::Block;
using test::kG;
using test::place;
using test::RandomNumbers;
using test::RecordedRun;
using test::turned;
using test::V3;
using Strings = std::vector<std::string>;

bool has_part(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST(BlockOnFeet, RestsIfFrictionCanHoldItAndElseSlidesDownTheSlope) {
  RandomNumbers r(1);
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
      EXPECT_LT(run.summary.energy_drift, 1e-9) << what;  // of what rests, too
    }
}

TEST(BlockOnFeet, SlipsWhenThePushReachesTheLimit) {
  RandomNumbers r(2);
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
  RandomNumbers r(3);
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

/// On two feet in a plane of its own, turned anyhow in space.
TEST(BlockOnTwoFeet, RestsSlidesOrTips) {
  RandomNumbers r(10);
  for (int trial = 0; trial < 12; ++trial) {
    const V3 rpy(r(-1, 1), r(-1, 1), r(-1, 1));
    const Eigen::Matrix3d turn = (Eigen::AngleAxisd(rpy.z(), V3::UnitZ()) * Eigen::AngleAxisd(rpy.y(), V3::UnitY()) *
                                  Eigen::AngleAxisd(rpy.x(), V3::UnitX()))
                                     .toRotationMatrix();
    const double slope = r(0.2, 0.5), m = r(0.2, 5.0), half = r(0.1, 0.3), inertia = m * r(0.01, 0.05);
    const int kind = trial % 3;  // rests, slides, tips
    const double mu = (kind == 0 ? r(1.03, 1.5) : kind == 1 ? r(0.2, 0.97) : r(3.0, 4.0)) * std::tan(slope);
    const double height = (kind == 2 ? r(1.05, 1.3) : r(0.3, 0.95)) * half / std::tan(slope);
    std::string model = fmt::format(
        "[settings]\ngravity = {0}\nend = 0.02\nstep = 1e-3\n[[body]]\nname = \"block\"\nmass = {1}\ncom = [0, {2}, 0]\ninertia "
        "= "
        "[{3}, {3}, {3}]\n[[joint]]\nname = \"p\"\ntype = \"planar\"\nparent = {{ body = \"ground\", rpy = {4} }}\nchild = {{ "
        "body "
        "= \"block\" }}\n",
        test::text(turn * V3(kG * std::sin(slope), -kG * std::cos(slope), 0)), m, height, inertia, test::text(rpy));
    for (const double side : {-1.0, 1.0})
      model += fmt::format(
          "[[closure]]\nname = \"{}\"\ntype = \"point-contact\"\na = {{ body = \"ground\", rpy = {} }}\nb = {{ body = \"block\", "
          "at "
          "= [{}, 0, 0] }}\nnormal = [0, 1, 0]\none_sided = \"above\"\ndry_friction = {{ kinetic = {:.17g} }}\n",
          side < 0.0 ? "upper" : "lower", test::text(rpy), side * half, mu);
    const RecordedRun run(test::spec_of(model));
    ASSERT_TRUE(run.summary.completed) << trial << ": " << run.summary.status;
    const double t = 0.02, a = kind == 1 ? kG * (std::sin(slope) - mu * std::cos(slope)) : 0.0;
    if (kind < 2) {
      EXPECT_NEAR(run.last("v.p.x"), a * t, 1e-10) << trial;
      EXPECT_NEAR(run.last("q.p.angle"), 0.0, 1e-10) << trial;
      continue;
    }
    const double moment = m * kG * (height * std::sin(slope) - half * std::cos(slope));
    const double about_foot = inertia + m * (height * height + half * half);
    EXPECT_NEAR(run.last("v.p.angle"), -moment / about_foot * t, 2e-3 * moment / about_foot * t) << trial;
    EXPECT_NEAR(run.last("v.p.x") - half * std::sin(run.last("q.p.angle")) * run.last("v.p.angle"), 0.0, 1e-9) << trial;
  }
}

// --- friction in mechanisms

/// A rod that slides on its tip: no force fits where friction is strong and the rod steep, and that is said.
TEST(PainlevesRod, IsToldApartFromOneThatMerelySlides) {
  RandomNumbers r(13);
  double angle = 1.1, mass = 1.0;
  const auto rod = [&](double mu, double speed, double turning = 0.0) {
    return RecordedRun(turned(test::spec_of(fmt::format(R"(
[settings]
gravity = [0, -9.81, 0]
end = 0.02
step = 1e-4
[[body]]
name = "rod"
solid = {{ shape = "rod", to = [1, 0, 0], mass = {} }}
[[joint]]
name = "place"
type = "planar"
parent = {{ body = "ground" }}
child = {{ body = "rod" }}
position = [0, 0, {}]
velocity = [{}, 0, {}]
[[closure]]
name = "tip"
type = "point-contact"
a = {{ body = "ground" }}
b = {{ body = "rod" }}
normal = [0, 1, 0]
one_sided = "above"
dry_friction = {{ kinetic = {} }}
)",
                                                        mass, angle, speed, turning, mu)),
                              r.rotation()));
  };
  // The normal force meets 1 + 3 c (c - mu s sign): positive below mu = (1 + 3 c^2)/(3 c s).
  double critical = 0.0;
  for (int trial = 0; trial < 6; ++trial) {
    if (trial > 0) angle = r(0.9, 1.25), mass = std::pow(10.0, r(-3, 3));
    const double c = std::cos(angle), s = std::sin(angle);
    critical = (1.0 + 3.0 * c * c) / (3.0 * c * s);
    EXPECT_TRUE(rod(0.98 * critical, -1.0).summary.warnings.empty()) << angle;
    EXPECT_TRUE(rod(1.3 * critical, 1.0).summary.warnings.empty()) << angle;  // dragged, not pushed
    const RecordedRun jammed = rod(1.02 * critical, -1.0);
    ASSERT_TRUE(jammed.summary.completed) << jammed.summary.status;
    ASSERT_EQ(jammed.happened(), Strings{"tip jams"}) << angle;
    EXPECT_LT(jammed.summary.events[0].energy, 0.0) << angle;
    ASSERT_EQ(jammed.summary.warnings.size(), 1U) << angle;
    for (const char* part : {"'tip'", "Painleve", "inconsistent"})
      EXPECT_TRUE(has_part(jammed.summary.warnings[0], part)) << part;
  }
  angle = 1.1, mass = 1.0;
  critical = (1.0 + 3.0 * std::pow(std::cos(angle), 2)) / (3.0 * std::cos(angle) * std::sin(angle));
  // Turning so fast that the tip would lift by itself, it may as well stay.
  const RecordedRun either = rod(1.1 * critical, -1.0, 6.0);
  ASSERT_TRUE(either.summary.completed) << either.summary.status;
  ASSERT_EQ(either.summary.warnings.size(), 1U);
  for (const char* part : {"'tip'", "Painleve", "may open or press"})
    EXPECT_TRUE(has_part(either.summary.warnings[0], part)) << either.summary.warnings[0];
  EXPECT_TRUE(rod(0.9 * critical, -1.0, 6.0).summary.warnings.empty());  // it lifts
}

/// Three boxes on one another, one of them pulled: the weakest interface below it slips, when its friction is used up.
TEST(StackOfBoxes, SlipsWhereFrictionIsUsedUpFirst) {
  RandomNumbers r(11);
  for (int trial = 0; trial < 9; ++trial) {
    const int pulled = trial % 3;
    const double mu[]{r(0.2, 0.6), r(0.2, 0.6), r(0.2, 0.6)}, mass[]{r(0.5, 3.0), r(0.5, 3.0), r(0.5, 3.0)};
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

/// A block slides down a wedge that gives way on the floor, with friction between the two; or sticks to it.
TEST(Wedge, GivesWayToTheBlockOnIt) {
  RandomNumbers r(12);
  for (int trial = 0; trial < 6; ++trial) {
    const double a = r(0.3, 0.7), m = r(0.5, 3.0), M = r(0.5, 3.0);
    const double mu = trial % 3 == 0 ? 0.0 : (trial % 3 == 1 ? r(0.2, 0.9) : r(1.1, 1.5)) * std::tan(a);
    std::string model = fmt::format(R"(
[settings]
gravity = [0, -9.81, 0]
end = 0.1
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
    const auto add = [&](const std::string& name, const std::string& on, const std::string& of, double friction) {
      model += fmt::format(
          "[[closure]]\nname = \"{}\"\ntype = \"point-contact\"\na = {{ {} }}\nb = {{ {} }}\nnormal = [0, 1, 0]\none_sided = "
          "\"above\"\ndry_friction = {{ kinetic = {:.17g} }}\n",
          name, on, of, friction);
    };
    for (const int side : {-1, 1}) {
      add(fmt::format("floor{}", side + 1), "body = \"ground\", at = [0, -1, 0]",
          fmt::format("body = \"wedge\", at = [{}, -1, 0]", 2 * side), 0.0);
      add(fmt::format("slope{}", side + 1), fmt::format("body = \"wedge\", rpy = [0, 0, {}]", -a),
          fmt::format("body = \"block\", at = [{}, 0, 0]", 0.1 * side), mu);
    }
    const RecordedRun run(test::spec_of(model));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    const double s = std::sin(a), c = std::cos(a);
    const double N = mu < std::tan(a) ? m * kG * c / (1.0 + m * s * (s - mu * c) / M) : 0.0;
    EXPECT_NEAR(run.last("v.w.x"), 0.1 * N * (mu * c - s) / M, 1e-9) << trial;
    EXPECT_NEAR(M * run.last("v.w.x") + m * run.last("v.b.x"), 0.0, 1e-9) << trial;
  }
}

/// A block held down by a weight that a rail keeps from moving along, and pulled aside: it slips at both at once.
TEST(Clamp, SlipsAtTheSameTimeWithEveryIntegrator) {
  RandomNumbers r(14);
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
    Spec spec = turned(test::spec_of(model), r.rotation());
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
    EXPECT_LT(run.summary.events.size(), 60U) << integrator << " " << formulation;
    EXPECT_LT(run.summary.evaluations, 20'000) << integrator << " " << formulation;
  }
}

}  // namespace
}  // namespace linkwork
