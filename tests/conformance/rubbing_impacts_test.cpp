#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/support/random_block.h"

/// Impacts of several contacts at once that rub: random blocks on 2, 3 and 4 feet, in a plane and in space, thrown on a plane, or
/// standing on a cart that is struck. More impulses than freedoms, and feet that an impact leaves without any load.
namespace linkwork {
namespace {

using test::kG;
using test::RandomNumbers;
using test::RecordedRun;
using test::text;
using test::V3;

struct Law {
  double mu, restitution;
  bool poisson;
};

std::string foot(const std::string& name, const std::string& on, const std::string& body, const V3& at, const V3& normal,
                 const Law& law, double sticking) {
  return fmt::format(R"([[closure]]
name = "{}"
type = "point-contact"
a = {}
b = {{ body = "{}", at = {} }}
normal = {}
one_sided = "above"
restitution = {:.17g}
impact_law = "{}"
dry_friction = {{ static = {:.17g}, kinetic = {:.17g} }}
)",
                     name, on, body, text(at), text(normal), law.restitution, law.poisson ? "poisson" : "newton",
                     sticking * law.mu, law.mu);
}

std::string settings(const V3& gravity, double end) {
  return fmt::format("[settings]\ngravity = {}\nend = {:.17g}\nstep = 1e-3\noutput_every = 0.1\n", text(gravity), end);
}

/// A box that moves in a plane or in space. Its feet are at its lower corners.
std::string box(RandomNumbers& r, const std::string& name, bool planar, double mass, const V3& at, const V3& turned, const V3& velocity,
                const V3& spin) {
  const auto inertia = [&] { return mass * r(0.004, 0.05); };
  const double a = inertia(), b = inertia(), c = std::min(a + b, std::max(std::abs(a - b) * 1.01, inertia()));
  std::string body = fmt::format(
      "[[body]]\nname = \"{0}\"\nmass = {1:.17g}\ninertia = [{2:.17g}, {3:.17g}, {4:.17g}]\n[[joint]]\n"
      "name = \"{0}\"\nparent = {{ body = \"ground\" }}\nchild = {{ body = \"{0}\" }}\n",
      name, mass, a, b, c);
  if (planar)  // x, y
    return body + fmt::format("type = \"planar\"\nposition = [{:.17g}, {:.17g}, {:.17g}]\nvelocity = {}\n", at.x(), at.y(),
                              turned.z(), text({velocity.x(), velocity.y(), spin.z()}));
  const double angle = turned.norm();
  const V3 q = angle > 0.0 ? V3(std::sin(angle / 2) * turned / angle) : V3::Zero();
  return body + fmt::format(
                    "type = \"free\"\nposition = [{:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}]\n"
                    "velocity = [{:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}, {:.17g}]\n",
                    at.x(), at.y(), at.z(), std::cos(angle / 2), q.x(), q.y(), q.z(), velocity.x(), velocity.y(), velocity.z(),
                    spin.x(), spin.y(), spin.z());
}

std::vector<V3> corners(int count, bool planar, double reach, double depth) {
  std::vector<V3> points;
  for (int i = 0; i < count; ++i) {
    const double angle = 2.0 * M_PI * (i + 0.5) / count;
    points.push_back(planar ? V3(reach * (2.0 * i / (count - 1) - 1.0), -depth, 0)
                            : V3(reach * std::cos(angle), -depth, reach * std::sin(angle)));
  }
  return points;
}

/// Thrown on a plane, flat or a little turned, on an incline.
std::string thrown(RandomNumbers& r, int feet, bool planar, const Law& law) {
  const double mass = std::pow(10.0, r(-1.0, 1.5));
  const double slope = r(0.0, 0.6), depth = r(0.02, 0.4), reach = r(0.1, 0.4), fall = r(0.01, 0.1);
  const bool flat = r(0, 1) < 0.6;
  const V3 turned = flat ? V3::Zero() : V3(planar ? 0.0 : r(-0.1, 0.1), planar ? 0.0 : r(-0.1, 0.1), r(-0.1, 0.1));
  const V3 spin = flat ? V3::Zero() : V3(planar ? 0.0 : r(-1, 1), planar ? 0.0 : r(-1, 1), r(-1, 1));
  const V3 velocity(r(-2, 2), r(-1, 0), planar ? 0.0 : r(-2, 2));
  const double height = depth + fall + (flat ? 0.0 : 0.2 * reach);
  std::string model = settings(kG * V3(std::sin(slope), -std::cos(slope), 0), 0.4) +
                      box(r, "block", planar, mass, {0, height, 0}, turned, velocity, spin);
  const std::vector<V3> at = corners(feet, planar, reach, depth);
  for (int i = 0; i < feet; ++i)
    model += foot(fmt::format("foot{}", i), "{ body = \"ground\" }", "block", at[static_cast<std::size_t>(i)], V3::UnitY(), law,
                  r(1, 2));
  return model;
}

/// Stands on a cart, which runs against a stop: the feet have no load but their friction, which would tip the block.
std::string carried(RandomNumbers& r, int feet, bool planar, const Law& law) {
  const double mass = std::pow(10.0, r(-1.0, 1.0));
  const double depth = r(0.02, 0.2), reach = r(0.1, 0.3), v = r(0.3, 2.0);
  std::string model = settings({0, -kG, 0}, 0.4) +
                      fmt::format(R"([[body]]
name = "cart"
mass = {:.17g}
inertia = [1, 1, 1]
[[joint]]
name = "rail"
type = "prismatic"
axis = [1, 0, 0]
parent = {{ body = "ground" }}
child = {{ body = "cart" }}
position = -0.1
velocity = {:.17g}
limits = [-1, 0]
restitution = {:.17g}
impact_law = "{}"
)",
                                  std::pow(10.0, r(-1.0, 1.0)), v, law.restitution, law.poisson ? "poisson" : "newton") +
                      box(r, "block", planar, mass, {-0.1, depth, 0}, V3::Zero(), {v, 0, 0}, V3::Zero());
  const std::vector<V3> at = corners(feet, planar, reach, depth);
  for (int i = 0; i < feet; ++i)
    model += foot(fmt::format("foot{}", i), "{ body = \"cart\" }", "block", at[static_cast<std::size_t>(i)], V3::UnitY(), law,
                  r(1, 2));
  return model;
}

struct Counts {
  int impacts = 0, together = 0, chatter = 0;
};

/// The run comes to its end, and impacts take energy, or a warning says that they do not. Feet of a block that comes to rest may
/// chatter, which stops a run by name.
void judge(const std::string& model, const std::string& what, Counts& counts) {
  std::vector<double> before, after;
  Observer observer;
  observer.event = [&](EquationsOfMotion& equations, bool is_after) {
    (is_after ? after : before).push_back(equations.system().kinetic_energy());
  };
  const RecordedRun run(test::spec_of(model), observer);
  if (run.summary.status.find("chatter") != std::string::npos) {
    ++counts.chatter;
    return;
  }
  ASSERT_TRUE(run.summary.completed) << what << ": " << run.summary.status << "\n" << model;
  EXPECT_LT(run.summary.energy_drift, 1e-2) << what;
  bool adds = false;
  ASSERT_EQ(before.size(), after.size());
  for (std::size_t k = 0; k < before.size(); ++k) adds = adds || after[k] > before[k] * (1.0 + 1e-8) + 1e-12;
  const auto tells = [](const std::string& warning) { return warning.find("adds energy") != std::string::npos; };
  EXPECT_TRUE(!adds || std::ranges::any_of(run.summary.warnings, tells)) << what;
  double last = -1.0;
  for (const EventRecord& event : run.summary.events) {
    if (event.what != "closes" && event.what != "bounces") continue;
    ++counts.impacts;
    counts.together += event.t == last ? 1 : 0;
    last = event.t;
  }
}

/// Returns what has been met, so that a test can tell that it has met enough.
template <class Make>
Counts judge_many(unsigned seed, Make make, bool poisson) {
  Counts counts;
  RandomNumbers r(seed);
  for (const bool planar : {true, false})
    for (int feet = 2; feet <= 4; ++feet)
      for (int i = 0; i < 10; ++i) {
        const Law law{.mu = r(0.05, 1.0), .restitution = i % 3 == 0 ? 0.0 : r(0.05, 0.8), .poisson = poisson};
        judge(make(r, feet, planar, law), fmt::format("{} feet, {}, case {}", feet, planar ? "planar" : "spatial", i), counts);
        if (testing::Test::HasFatalFailure()) return counts;
      }
  return counts;
}

class RubbingImpacts : public testing::TestWithParam<bool> {};

TEST_P(RubbingImpacts, OfThrownBlocksAreSolved) {
  const Counts counts = judge_many(21, thrown, GetParam());
  EXPECT_GT(counts.impacts, 200);
  EXPECT_GT(counts.together, 30);
  EXPECT_LE(counts.chatter, 3) << "of 60";
}

TEST_P(RubbingImpacts, OfCarriedBlocksAreSolved) {
  const Counts counts = judge_many(22, carried, GetParam());
  EXPECT_GT(counts.impacts, 60);
}

INSTANTIATE_TEST_SUITE_P(ByLaw, RubbingImpacts, testing::Bool(),
                         [](const auto& tested) { return std::string(tested.param ? "Poisson" : "Newton"); });

}  // namespace
}  // namespace linkwork
