#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/support/assemblies.h"
#include "tests/support/random_block.h"

/// Modules whose masses differ by decades: forces between them are corrected by what they miss, as they are in one piece.
namespace linkwork {
namespace {

using test::RandomNumbers;
using test::text;
using test::V3;

/// A chain of bodies in space, joined by anything, with every body in another module than its neighbours.
Spec chain(RandomNumbers& r, double decades) {
  constexpr int kBodies = 6, kModules = 3;
  constexpr std::array kTypes{"prismatic", "weld", "cylindrical", "revolute", "universal"};
  std::array<V3, kBodies + 1> joint{V3::Zero()};
  for (std::size_t k = 1; k < joint.size(); ++k) joint[k] = joint[k - 1] + r(0.2, 1.0) * r.direction();
  std::string model = "[settings]\nend = 0.02\nstep = 1e-3\noutput_every = 0.01\n";
  std::string body = "ground";
  V3 origin = V3::Zero();
  for (std::size_t k = 0; k < kBodies; ++k) {
    const V3 way = joint[k + 1] - joint[k], com = joint[k] + 0.5 * way + 0.1 * way.norm() * r.direction();
    const double mass = std::pow(10.0, r(-0.5, 0.5) * decades), inertia = mass * way.squaredNorm();
    const V3 axis = r.direction(), other = axis.cross(r.direction()).normalized();
    const std::string type = k == 0 ? "revolute" : kTypes[static_cast<std::size_t>(r(0.0, 4.999))];
    model += fmt::format("[[body]]\nname = \"b{}\"\nmass = {:.17g}\ninertia = {}\n", k, mass,
                         text(inertia * V3(r(0.1, 0.15), r(0.1, 0.15), r(0.1, 0.15))));
    model += fmt::format(
        "[[joint]]\nname = \"j{0}\"\ntype = \"{1}\"\nparent = {{ body = \"{2}\", at = {3} }}\nchild = {{ body = \"b{0}\", at = "
        "{4} "
        "}}\n",
        k, type, body, text(joint[k] - origin), text(joint[k] - com));
    if (type != "weld") model += fmt::format("axis = {}\n", text(axis));
    if (type == "universal") model += fmt::format("axis2 = {}\n", text(other));
    if (k > 0)
      model += fmt::format(
          "[[joint]]\nname = \"f{0}\"\ntype = \"free\"\nparent = {{ body = \"ground\" }}\nchild = {{ body = \"b{0}\" "
          "}}\nposition = [{1:.17g}, {2:.17g}, {3:.17g}, 1, 0, 0, 0]\n",
          k, com.x(), com.y(), com.z());
    body = fmt::format("b{}", k);
    origin = com;
  }
  Spec spec = test::spec_of(model);
  for (int m = 0; m < kModules; ++m) {
    ModuleSpec module;
    module.name = fmt::format("m{}", m);
    spec.modules.push_back(module);
  }
  const auto rename = [](std::string& name) {
    if (name != "ground") name = fmt::format("m{}.{}", std::stoi(name.substr(1)) % kModules, name);
  };
  for (std::size_t k = 0; k < spec.bodies.size(); ++k) {
    spec.bodies[k].module = static_cast<int>(k) % kModules;
    rename(spec.bodies[k].name);
  }
  for (JointSpec& j : spec.joints) rename(j.parent.body), rename(j.child.body);
  return spec;
}

class UnequalModules : public testing::TestWithParam<const char*> {};

TEST_P(UnequalModules, MoveAsInOnePiece) {
  RandomNumbers r(23);
  for (int trial = 0; trial < 12; ++trial) {
    Spec spec = chain(r, 6.0);
    const test::Rows whole = test::run_in_one_piece(spec);
    ASSERT_TRUE(whole.summary.completed) << whole.summary.status;
    spec.settings.formulation = parse_choice(GetParam(), {});
    spec.settings.glue = {"hierarchical", {}, {}};
    const test::Rows parts = test::run_modules(spec);
    ASSERT_TRUE(parts.summary.completed) << trial << ": " << parts.summary.status;
    EXPECT_LT(parts.summary.modules->pretty, 1e-9) << trial;
    const auto [difference, column] = test::largest_difference(parts, whole);
    EXPECT_LT(difference, 1e-8) << trial << ", " << column;
    EXPECT_EQ(test::run_modules(spec, 2).rows, parts.rows) << trial;
  }
}
INSTANTIATE_TEST_SUITE_P(Formulations, UnequalModules, testing::Values("auto", "nullspace-qr"));

}  // namespace
}  // namespace linkwork
