#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "linkwork/modules/model_run.h"
#include "linkwork/spatial/so3.h"
#include "tests/support/mechanisms.h"
#include "tests/support/random_text.h"
#include "tests/support/recorded_run.h"

/// Dry friction in joints that loops keep from moving: it holds whatever is asked of it, since nothing is. Rounding must not
/// decide which way it slides.
namespace linkwork {
namespace {

using test::RecordedRun;

/// A triangle of three bars that swings about one of its corners, in a plane of any direction; a fourth bar may repeat a side.
struct Triangle {
  Vec3<double> corner[3];
  Vec3<double> axis;
  double masses[4];
  bool doubled;

  explicit Triangle(int seed) {
    test::Random random(static_cast<unsigned>(seed));
    const Mat3<double> turned = so3_exp(random.vector(2.0));
    axis = turned.col(2);
    corner[0] = Vec3<double>::Zero();
    corner[1] = turned * Vec3<double>(random.uniform(0.5, 1.5), random.uniform(-0.2, 0.2), 0.0);
    corner[2] = turned * Vec3<double>(random.uniform(0.2, 1.0), random.uniform(0.4, 1.2), 0.0);
    for (double& mass : masses) mass = std::pow(10.0, random.uniform(-1.5, 1.5));
    doubled = seed % 2 == 0;
  }

  std::string body(const std::string& name, int from, int to, double mass) const {
    const Vec3<double> middle = 0.5 * (corner[from] + corner[to]);
    return fmt::format("[[body]]\nname = \"{}\"\nmass = {:.17g}\ncom = {}\ninertia = [{:.17g}, {:.17g}, {:.17g}]\n", name, mass,
                       test::written(middle), 0.02 * mass, 0.03 * mass, 0.04 * mass);
  }

  /// All frames of bodies coincide as the triangle starts.
  std::string joint(const std::string& name, const std::string& parent, const std::string& child, int at, double friction) const {
    std::string joint = fmt::format(
        "[[joint]]\nname = \"{}\"\ntype = \"revolute\"\nparent = {{ body = \"{}\", at = {} }}\nchild = {{ body = \"{}\", at = {} "
        "}}\n"
        "axis = {}\n",
        name, parent, test::written(corner[at]), child, test::written(corner[at]), test::written(axis));
    if (friction > 0.0)
      joint += fmt::format("dry_friction = {{ static = {:.17g}, kinetic = {:.17g} }}\n", 1.3 * friction, friction);
    return joint;
  }

  Spec spec(double in_hinge, double inside) const {
    std::string text = "[settings]\nend = 4.0\nstep = 2e-3\noutput_every = 0.05\n";
    text += body("a", 0, 1, masses[0]) + body("b", 1, 2, masses[1]) + body("c", 2, 0, masses[2]);
    text += joint("hinge", "ground", "a", 0, in_hinge) + joint("ab", "a", "b", 1, inside) + joint("bc", "b", "c", 2, inside) +
            joint("ca", "c", "a", 0, inside);
    if (doubled) text += body("d", 1, 2, masses[3]) + joint("ad", "a", "d", 1, inside) + joint("dc", "d", "c", 2, inside);
    return test::spec_of(text);
  }

  double torque() const {
    double total = 0.0;
    for (const double mass : masses) total += mass;
    return 9.81 * total * 0.5;
  }
};

class ImmobileFriction : public testing::TestWithParam<int> {};

TEST_P(ImmobileFriction, LeavesTheMotionAlone) {
  const Triangle triangle(GetParam());
  const double in_hinge = 0.03 * triangle.torque();
  const RecordedRun without(triangle.spec(in_hinge, 0.0));
  ASSERT_TRUE(without.summary.completed) << without.summary.status;
  for (const double share : {1e-4, 0.03, 3.0}) {
    const RecordedRun run(triangle.spec(in_hinge, share * triangle.torque()));
    ASSERT_TRUE(run.summary.completed) << run.summary.status << ", friction " << share;
    for (const EventRecord& event : run.summary.events)
      EXPECT_EQ(event.name, "hinge.friction") << event.what << ", friction " << share;
    EXPECT_EQ(run.summary.events.size(), without.summary.events.size());
    EXPECT_NEAR(run.last("q.hinge"), without.last("q.hinge"), 1e-8) << "friction " << share;
  }
}

/// The triangle on two feet, which cannot move at all, cut into modules: the second hangs on the first and floats.
Spec truss_in_modules(const Triangle& triangle, double friction) {
  Spec spec = triangle.spec(friction, friction);
  spec.settings.end = 0.1;
  ClosureSpec foot;
  foot.name = "foot";
  foot.type = "revolute";
  foot.a.body = "ground";
  foot.b.body = "a";
  foot.a.at = foot.b.at = triangle.corner[1];
  foot.axis = triangle.axis;
  spec.closures.push_back(foot);
  for (const char* name : {"one", "two"}) {
    ModuleSpec module;
    module.name = name;
    spec.modules.push_back(module);
  }
  const auto place = [](std::string& body) {
    if (body != "ground" && !body.empty()) body = (body == "a" ? "one." : "two.") + body;
  };
  for (BodySpec& body : spec.bodies) body.module = body.name == "a" ? 0 : 1, place(body.name);
  for (JointSpec& joint : spec.joints) place(joint.parent.body), place(joint.child.body);
  for (ClosureSpec& closure : spec.closures) place(closure.a.body), place(closure.b.body);
  JointSpec free;
  free.name = "floats";
  free.type = "free";
  free.parent.body = "ground";
  free.child.body = "two.b";
  spec.joints.push_back(free);
  return spec;
}

TEST_P(ImmobileFriction, HoldsWhereNothingCanMoveInOnePieceAndInModules) {
  const Triangle triangle(GetParam());
  for (const char* glue : {"none", "hierarchical"}) {
    for (const double share : {1e-4, 0.03, 3.0}) {
      Spec spec = truss_in_modules(triangle, share * triangle.torque());
      spec.settings.glue = {glue, {}, {}};
      const KeptRun run = run_model(spec);
      ASSERT_TRUE(run.summary.completed) << run.summary.status << ", glue " << glue << ", friction " << share;
      EXPECT_TRUE(run.summary.events.empty()) << run.summary.events.front().name << ", glue " << glue << ", friction " << share;
      for (std::size_t c = 0; c < run.columns.size(); ++c) {
        if (run.columns[c].starts_with("v.")) {
          EXPECT_NEAR(run.rows.back()[c], 0.0, 1e-9) << run.columns[c];
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, ImmobileFriction, testing::Range(1, 13));

}  // namespace
}  // namespace linkwork
