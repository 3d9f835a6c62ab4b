#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/support/random_block.h"

/// Dry friction in linkages that run through their dead centres, where a joint comes to rest and no force on it has an effect.
/// The law that switches must give what one rounded over speeds of eps gives as eps goes to zero.
namespace linkwork {
namespace {

using test::RandomNumbers;
using test::RecordedRun;
using test::text;
using test::V3;

/// A plane linkage in any plane of space, of rods with the mass in their middle.
struct Linkage {
  Eigen::Matrix3d turn;
  std::string model;
  double eps = 0.0;

  V3 at(double x, double y = 0.0) const { return turn * V3(x, y, 0.0); }

  void begin(const V3& gravity) { model = fmt::format("[settings]\ngravity = {}\nend = 1\nstep = 2.5e-4\n", text(gravity)); }
  void rod(const std::string& name, double mass, double length) {
    model += fmt::format("[[body]]\nname = \"{0}\"\nmass = {1}\ncom = {2}\ninertia = [{3}, {3}, {3}]\n", name, mass,
                         text(at(length / 2)), mass * length * length / 12);
  }
  void joint(const std::string& name, const std::string& type, const V3& axis, const std::string& parent, const V3& place,
             const std::string& child, double position, double friction, const std::string& more = "") {
    model += fmt::format(
        "[[joint]]\nname = \"{}\"\ntype = \"{}\"\naxis = {}\nparent = {{ body = \"{}\", at = {} }}\nchild = {{ body = \"{}\" "
        "}}\nposition = {:.17g}\n{}",
        name, type, text(axis), parent, text(place), child, position, more);
    if (eps == 0.0)
      model += fmt::format("dry_friction = {{ kinetic = {:.17g} }}\n", friction);
    else
      forces += fmt::format("[[force]]\ntype = \"{}\"\njoint = \"{}\"\nvalue = \"-{:.17g}*tanh(v.{}/{})\"\n",
                            type == "revolute" ? "torque" : "force", name, friction, name, eps);
  }
  void pin(const std::string& a, double along, const std::string& b, double along_b) {
    model += fmt::format(
        "[[closure]]\nname = \"pin\"\ntype = \"pin\"\na = {{ body = \"{}\", at = {} }}\nb = {{ body = \"{}\", at = "
        "{} }}\naxis = {}\n",
        a, text(at(along)), b, text(at(along_b)), text(turn.col(2)));
  }
  Spec spec() const { return test::spec_of(model + forces); }

  std::string forces;
};

/// What the two laws give for the speed of the crank, and what happened.
void expect_equal_as_rounding_vanishes(const std::function<Spec(double eps)>& linkage, int trial) {
  const RecordedRun run(linkage(0.0));
  ASSERT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_GE(run.summary.events.size(), 3U) << trial;
  for (const EventRecord& event : run.summary.events) EXPECT_EQ(event.what, "turns round") << trial << " " << event.name;
  EXPECT_LT(run.summary.energy_drift, 1e-6) << trial;
  const double speed = run.last("v.crank");
  Spec halved = linkage(0.0);
  halved.settings.step *= 0.5;
  const RecordedRun again(halved);
  ASSERT_EQ(again.happened(), run.happened()) << trial;  // of frictions that turn round together, all
  for (std::size_t k = 0; k < run.summary.events.size(); ++k)
    EXPECT_NEAR(again.summary.events[k].t, run.summary.events[k].t, 1e-6) << trial;
  const auto off = [&](double eps) { return std::abs(RecordedRun(linkage(eps)).last("v.crank") - speed); };
  const double coarse = off(0.1), fine = off(0.01);  // small against the speeds: the difference is of first order or better
  EXPECT_LT(fine, 0.3 * coarse + 1e-6 * std::abs(speed)) << trial;
  EXPECT_LT(fine, 2e-3 * std::abs(speed)) << trial;
  EXPECT_GT(std::abs(speed), 1.0) << trial;
}

TEST(SliderCrank, PassesItsDeadCentresAsWithARoundedLawOfFriction) {
  RandomNumbers r(1);
  for (int trial = 0; trial < 4; ++trial) {
    const Eigen::Matrix3d turn = r.rotation();
    const V3 gravity = 9.81 * r.direction();
    const double crank = r(0.2, 0.3), rod = crank * r(2.2, 3.0), theta = r(0.3, 2.5);
    const double masses[]{r(0.5, 2.0), r(0.5, 2.0), r(0.5, 3.0)};
    const double in_slider = r(2.0, 6.0), in_pins = trial % 2 == 0 ? 0.0 : r(0.05, 0.2);
    const double knee = -theta - std::asin(crank / rod * std::sin(theta));
    const double x = crank * std::cos(theta) + std::sqrt(rod * rod - std::pow(crank * std::sin(theta), 2));
    expect_equal_as_rounding_vanishes(
        [&](double eps) {
          Linkage l{.turn = turn, .model = {}, .eps = eps, .forces = {}};
          l.begin(gravity);
          l.rod("a", masses[0], crank);
          l.rod("b", masses[1], rod);
          l.rod("slider", masses[2], 0.2);
          l.joint("crank", "revolute", turn.col(2), "ground", V3::Zero(), "a", theta, in_pins, "velocity = 25\nfixed = true\n");
          l.joint("knee", "revolute", turn.col(2), "a", l.at(crank), "b", knee, in_pins);
          l.joint("slide", "prismatic", turn.col(0), "ground", V3::Zero(), "slider", x, in_slider);
          l.pin("b", rod, "slider", 0.0);
          return l.spec();
        },
        trial);
  }
}

TEST(FourBar, PassesItsDeadCentresAsWithARoundedLawOfFriction) {
  RandomNumbers r(2);
  for (int trial = 0; trial < 4; ++trial) {
    const Eigen::Matrix3d turn = r.rotation();
    const V3 gravity = 9.81 * r.direction();
    const double crank = r(0.08, 0.12), coupler = r(0.28, 0.35), rocker = r(0.28, 0.35), ground = r(0.3, 0.38);
    const double theta = r(0.0, 6.0), friction[]{r(0.02, 0.1), r(0.02, 0.1), r(0.05, 0.3)};
    const double masses[]{r(0.5, 2.0), r(0.5, 2.0), r(0.5, 2.0)};
    const Eigen::Vector2d B(crank * std::cos(theta), crank * std::sin(theta)), D(ground, 0.0), between = D - B;
    const double d = between.norm(), along = (d * d + coupler * coupler - rocker * rocker) / (2.0 * d);
    const Eigen::Vector2d C =
        B + along * between / d + std::sqrt(coupler * coupler - along * along) * Eigen::Vector2d(-between.y(), between.x()) / d;
    const double beta = std::atan2((C - B).y(), (C - B).x()), psi = std::atan2((C - D).y(), (C - D).x());
    expect_equal_as_rounding_vanishes(
        [&](double eps) {
          Linkage l{.turn = turn, .model = {}, .eps = eps, .forces = {}};
          l.begin(gravity);
          l.rod("a", masses[0], crank);
          l.rod("b", masses[1], coupler);
          l.rod("c", masses[2], rocker);
          const V3 axis = turn.col(2);
          l.joint("crank", "revolute", axis, "ground", V3::Zero(), "a", theta, friction[0], "velocity = 25\nfixed = true\n");
          l.joint("knee", "revolute", axis, "a", l.at(crank), "b", beta - theta, friction[1]);
          l.joint("rocker", "revolute", axis, "ground", l.at(ground), "c", psi, friction[2]);
          l.pin("b", coupler, "c", rocker);
          return l.spec();
        },
        trial);
  }
}

}  // namespace
}  // namespace linkwork
