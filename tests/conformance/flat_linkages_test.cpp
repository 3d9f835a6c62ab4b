#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/check.h"
#include "linkwork/simulation/simulation.h"
#include "tests/support/random_block.h"
#include "tests/support/tries.h"

/// Parallelograms that are nearly flat: their constraints nearly lose a rank there, by as little as one likes. Everything that
/// counts freedoms must come to the same number, however close that is.
namespace linkwork {
namespace {

using test::RandomNumbers;
using test::V3;

struct Parallelogram {
  V3 axis, link, coupler, pivot;
  double angle = 0.0, arm = 0.0;  // of the lever that hangs beside it
  bool redundant = false;         // closed by a revolute joint in place of a pin
  std::array<double, 3> mass{};

  static Parallelogram random(RandomNumbers& r, double angle) {
    Parallelogram p;
    const Eigen::Matrix3d turn = (Eigen::AngleAxisd(r(-3, 3), V3::UnitZ()) * Eigen::AngleAxisd(r(-1.5, 1.5), V3::UnitY()) *
                                  Eigen::AngleAxisd(r(-3, 3), V3::UnitX()))
                                     .toRotationMatrix();
    const double length = std::pow(10.0, r(-1.0, 1.0));
    p.axis = turn.col(2);
    p.link = length * turn.col(0);
    p.coupler = std::pow(10.0, r(-0.7, 0.7)) * p.link;
    p.pivot = r(0.0, 1.0) < 0.5 ? V3::Zero() : V3(std::pow(10.0, r(-1.0, 2.0)) * V3(r(-1, 1), r(-1, 1), r(-1, 1)));
    p.angle = angle;
    p.arm = std::pow(10.0, r(-2.0, 3.0));
    p.redundant = r(0.0, 1.0) < 0.5;
    for (double& m : p.mass) m = r(0.5, 2.0);
    return p;
  }

  Spec spec(double end) const {
    const auto body = [&](const char* name, double m, const V3& com) {
      return fmt::format("[[body]]\nname = \"{0}\"\nmass = {1:.17g}\ncom = {2}\ninertia = [{3:.17g}, {3:.17g}, {3:.17g}]\n", name,
                         m, test::text(com), 0.1 * m * com.squaredNorm());
    };
    const auto joint = [&](const char* name, const char* parent, const V3& at, const char* child, double position) {
      return fmt::format(
          "[[joint]]\nname = \"{}\"\ntype = \"revolute\"\nparent = {{ body = \"{}\", at = {} }}\nchild = {{ body = \"{}\" "
          "}}\naxis = {}\nposition = {:.17g}\n",
          name, parent, test::text(at), child, test::text(axis), position);
    };
    return test::spec_of(
        fmt::format("[settings]\ngravity = [0, 0, -9.81]\nend = {}\nstep = 1e-3\noutput_every = {}\n", end, end) +
        body("a", mass[0], 0.5 * link) + body("b", mass[1], 0.5 * coupler) + body("c", mass[2], 0.5 * link) +
        body("lever", 1.0, arm * link.normalized()) + joint("ja", "ground", pivot, "a", angle) +
        joint("jb", "a", link, "b", -angle) + joint("jc", "ground", pivot + coupler, "c", angle) +
        joint("beside", "ground", pivot, "lever", 0.3) +
        fmt::format(
            "[[closure]]\nname = \"cut\"\ntype = \"{}\"\na = {{ body = \"b\", at = {} }}\nb = {{ body = \"c\", at = {} }}\naxis "
            "= {}\n",
            redundant ? "revolute" : "pin", test::text(coupler), test::text(link), test::text(axis)));
  }

  /// Its rockers in modules of their own, the coupler with the first, or floating in a third one.
  Spec in_modules(double end, bool floats) const {
    Spec result = spec(end);
    const std::map<std::string, int> module_of{{"a", 0}, {"lever", 0}, {"c", 1}, {"b", floats ? 2 : 0}};
    for (int m = 0; m < (floats ? 3 : 2); ++m) {
      ModuleSpec& module = result.modules.emplace_back();
      module.name = fmt::format("m{}", m);
    }
    const auto rename = [&](std::string& name) {
      if (name != "ground") name = fmt::format("m{}.{}", module_of.at(name), name);
    };
    for (BodySpec& body : result.bodies) {
      body.module = module_of.at(body.name);
      rename(body.name);
    }
    for (JointSpec& joint : result.joints) rename(joint.parent.body), rename(joint.child.body);
    for (ClosureSpec& closure : result.closures) rename(closure.a.body), rename(closure.b.body);
    if (floats) {
      JointSpec& free = result.joints.emplace_back();
      free.name = "floats";
      free.type = "free";
      free.parent.body = "ground";
      free.child.body = "m2.b";
      const V3 at = pivot + Eigen::AngleAxisd(angle, axis) * link;
      free.position = {at.x(), at.y(), at.z(), 1, 0, 0, 0};
    }
    return result;
  }

  /// Where the links are after some time: they swing as a pendulum, whatever the constraints have come close to.
  double angle_after(double time) const {
    const V3 g(0.0, 0.0, -9.81), moment = 0.5 * (mass[0] + mass[2]) * link + mass[1] * link;
    const double square = link.squaredNorm(), inertia = (mass[0] + mass[2]) * (0.25 + 0.025) * square + mass[1] * square;
    const auto acceleration = [&](double q) {
      return axis.dot((std::cos(q) * moment + std::sin(q) * axis.cross(moment)).cross(g)) / inertia;
    };
    constexpr int kSteps = 20000;
    const double h = time / kSteps;
    double q = angle, v = 0.0;
    for (int i = 0; i < kSteps; ++i) {  // [Nystroem], of fourth order
      const double a = acceleration(q), b = acceleration(q + 0.5 * h * v + 0.125 * h * h * a),
                   c = acceleration(q + h * v + 0.5 * h * h * b);
      q += h * v + h * h / 6.0 * (a + 2.0 * b);
      v += h / 6.0 * (a + 4.0 * b + c);
    }
    return q;
  }
};

Summary run_in(Spec spec, const std::string& coordinates) {
  spec.settings.coordinates = {coordinates, {}, {}};
  spec.settings.end = spec.settings.step = spec.settings.output_every = 1e-9;
  return run_model(spec).summary;
}

TEST(NearlyFlatParallelogram, HasAsManyFreedomsForACheckAsForARunInAnyCoordinates) {
  RandomNumbers r(11);
  int refused = 0, lost = 0;
  constexpr int kTrials = test::tries(100);
  for (int trial = 0; trial < kTrials; ++trial) {
    const double angle = std::pow(10.0, r(-7.0, -3.0));
    const Spec spec = Parallelogram::random(r, angle).spec(1.0);
    const CheckReport report = check(build_model(spec));
    if (report.dof == 3) ++lost;
    EXPECT_EQ(static_cast<int>(report.redundant().size()), report.rows - report.rank) << angle;
    for (const char* coordinates : {"TA", "CE", "auto"}) {
      const Summary summary = run_in(spec, coordinates);
      ASSERT_TRUE(summary.completed) << summary.status;
      EXPECT_EQ(summary.dof, report.dof) << coordinates << ", angle " << angle;
    }
    try {
      EXPECT_EQ(run_in(spec, "FA").dof, report.dof) << "FA, angle " << angle;
    } catch (const InputError& error) {  // which measures lengths from the origin
      ++refused;
      EXPECT_LT(angle, 1e-3) << error.what();
    }
  }
  EXPECT_LT(refused, kTrials / 4);
  EXPECT_GT(lost, kTrials / 4);
  EXPECT_LT(lost, 3 * kTrials / 4);
}

TEST(NearlyFlatParallelogram, SwingsThroughItsFlatPositionAsAPendulum) {
  RandomNumbers r(12);
  for (int trial = 0; trial < test::tries(40); ++trial) {
    const Parallelogram p = Parallelogram::random(r, std::pow(10.0, r(-3.5, -1.0)) * (r(0.0, 1.0) < 0.5 ? -1.0 : 1.0));
    const KeptRun run = run_model(p.spec(0.1));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    const auto column = std::ranges::find(run.columns, "q.ja") - run.columns.begin();
    EXPECT_NEAR(run.rows.back()[static_cast<std::size_t>(column)], p.angle_after(0.1), 1e-8) << trial << ", angle " << p.angle;
  }
}

TEST(NearlyFlatParallelogram, SwingsThroughItsFlatPositionInModulesToo) {
  RandomNumbers r(12);
  for (int trial = 0; trial < 40; ++trial) {
    const Parallelogram p = Parallelogram::random(r, std::pow(10.0, r(-3.5, -1.0)) * (r(0.0, 1.0) < 0.5 ? -1.0 : 1.0));
    for (const bool floats : {false, true}) {
      Spec spec = p.in_modules(0.1, floats);
      spec.settings.glue = {"hierarchical", {}, {}};
      const KeptRun run = run_model(spec);
      ASSERT_TRUE(run.summary.completed) << trial << ": " << run.summary.status;
      EXPECT_NEAR(run["q.ja"].back(), p.angle_after(0.1), 1e-8) << trial << ", angle " << p.angle << ", floats " << floats;
    }
  }
}

/// With error control: not worse than the tolerance by more than a hundredfold, unless a warning says where that was.
TEST(NearlyFlatParallelogram, IsPassedAsWellAsTheTolerancesAsk) {
  RandomNumbers r(13);
  for (int trial = 0; trial < 12; ++trial) {
    const Parallelogram p = Parallelogram::random(r, r(-0.3, 0.3));
    Spec spec = p.spec(1.0);
    spec.settings.integrator = {trial % 2 == 0 ? "dopri45" : "cvode-adams", {}, {}};
    spec.settings.rtol = trial < 6 ? 1e-12 : 1e-9;
    spec.settings.atol = 0.1 * spec.settings.rtol;
    const KeptRun run = run_model(spec);
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    const auto column = std::ranges::find(run.columns, "q.ja") - run.columns.begin();
    const double error = std::abs(run.rows.back()[static_cast<std::size_t>(column)] - p.angle_after(1.0));
    const bool is_told =
        std::ranges::any_of(run.summary.warnings, [](const std::string& w) { return w.find("at t = ") != w.npos; });
    EXPECT_TRUE(is_told || error < 100.0 * spec.settings.rtol * std::max(1.0, std::abs(p.angle_after(1.0))))
        << trial << ": " << error;
  }
}

}  // namespace
}  // namespace linkwork
