#include "linkwork/simulation/one_tree.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "linkwork/simulation/simulation.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// An arm on the ground, and two modules of a body on a free joint with a pendulum each.
Spec modules_with(const std::string& rest) {
  ReadOptions options;
  options.load = [](const std::filesystem::path&) {
    return std::string(R"(
linkwork = 1
[parameters]
x = 0
[[body]]
name = "m"
mass = 1.3
com = [0.1, -0.05, 0.02]
inertia = [0.11, 0.12, 0.2]
[[body]]
name = "n"
mass = 0.4
com = [0, 0.1, 0]
inertia = [0.02, 0.03, 0.025]
[[joint]]
name = "f"
type = "free"
parent = { body = "ground" }
child = { body = "m", at = [0.02, 0, 0.01] }
position = ["x", 0.1, 0.05, 1, 0, 0, 0]
[[joint]]
name = "hinge"
type = "revolute"
parent = { body = "m", at = [0.2, 0.1, 0] }
child = { body = "n" }
axis = [0.3, 0.5, 0.8]
position = 0.4
velocity = 0.7
)");
  };
  return read_model_text(R"(
linkwork = 1
[settings]
gravity = [0, -9.81, 0]
end = 0.4
[[body]]
name = "arm"
mass = 2
inertia = [0.2, 0.3, 0.4]
[[joint]]
name = "shoulder"
type = "universal"
parent = { body = "ground" }
child = { body = "arm" }
axis = [1, 0, 0]
axis2 = [0, 1, 0]
[[module]]
name = "a"
file = "x"
parameters = { x = 0.5 }
[[module]]
name = "b"
file = "x"
parameters = { x = 1.0 }
)" + rest,
                         "m.toml", options);
}

std::string closure(const std::string& name, const std::string& type, const std::string& on, const std::string& of) {
  return fmt::format(
      "[[closure]]\nname = \"{}\"\ntype = \"{}\"\na = {{ body = \"{}\", at = [0.5, 0.1, -0.1], rpy = [0.2, -0.3, 0.5] }}\n"
      "b = {{ body = \"{}\", at = [-0.1, 0.05, 0.1], rpy = [0.1, 0.4, 0.2] }}\n{}",
      name, type, on, of, test::generic_axis(type));
}

struct Rows {
  std::vector<std::string> columns;
  std::vector<std::vector<double>> rows;
  Summary summary;
};

Rows run(Simulation simulation) {
  Rows result{simulation.columns(), {}, {}};
  result.summary =
      simulation.run(Observer{.row = [&](std::span<const double> row) { result.rows.emplace_back(row.begin(), row.end()); }});
  return result;
}

/// The same columns with the same numbers, to what rounding becomes. Quaternions may change their sign.
void expect_same(const Spec& spec, std::size_t carried, const std::string& what) {
  const auto model = std::make_shared<const Model>(build_model(spec));
  const OneTree tree = in_one_tree(spec, *model);
  ASSERT_EQ(tree.carried.size(), carried) << what;
  EXPECT_LT(tree.model->row_count(), model->row_count()) << what;
  const Rows with = run(Simulation(model, tree)), without = run(Simulation(model));
  ASSERT_EQ(with.summary.status, without.summary.status) << what;
  ASSERT_EQ(with.columns, without.columns) << what;
  EXPECT_EQ(with.summary.dof, without.summary.dof) << what;
  EXPECT_EQ(with.summary.rows, without.summary.rows) << what;
  EXPECT_EQ(with.summary.rank, without.summary.rank) << what;
  ASSERT_EQ(with.rows.size(), without.rows.size()) << what;
  for (std::size_t c = 0; c < with.columns.size(); ++c) {
    double size = 1.0, difference = 0.0;
    for (std::size_t r = 0; r < with.rows.size(); ++r) {
      size = std::max(size, std::abs(without.rows[r][c]));
      difference = std::max(difference, std::abs(with.rows[r][c] - without.rows[r][c]));
    }
    EXPECT_LE(difference, 1e-9 * size) << what << ", " << with.columns[c];
  }
}

TEST(OneTree, ChangesNothingThatIsWritten) {
  for (const std::string first : {"weld", "revolute", "universal", "spherical", "point"})
    for (const std::string second : {"weld", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw"})
      for (const bool turned : {false, true})
        expect_same(modules_with(closure("c1", first, turned ? "a.m" : "arm", turned ? "arm" : "a.m") +
                                 closure("c2", second, turned ? "b.m" : "a.n", turned ? "a.n" : "b.m")),
                    2, first + ", " + second + (turned ? ", turned" : ""));
}

TEST(OneTree, KeepsAFloatingWhole) {
  expect_same(modules_with(closure("c", "revolute", "a.m", "b.n")), 1, "two modules that float");
}

TEST(OneTree, CarriesTheSuspensionsOfTheRover) {
  Spec spec = test::library_spec("rover_modules");
  spec.settings.end = 2.0;
  expect_same(spec, 6, "rover");
}

TEST(OneTree, LeavesAloneWhatCouldTell) {
  const auto carried = [](const Spec& spec) { return in_one_tree(spec, build_model(spec)).carried.size(); };
  const std::string held = closure("c", "weld", "arm", "a.m");
  EXPECT_EQ(carried(modules_with(held)), 1U);
  // Reactions would not be unique.
  EXPECT_EQ(carried(modules_with(held + closure("d", "point", "arm", "a.m"))), 0U);
  EXPECT_EQ(carried(modules_with(held + closure("d", "point-on-plane", "arm", "a.n"))), 0U);
  // Something refers to it.
  EXPECT_EQ(carried(modules_with(held + "[[force]]\ntype = \"force\"\njoint = \"a.f.x\"\nvalue = 1\n")), 0U);
  EXPECT_EQ(carried(modules_with(held + "[[force]]\ntype = \"torque\"\njoint = \"a.hinge\"\nvalue = \"v.a.f.wx\"\n")), 0U);
  // Something comes and goes.
  EXPECT_EQ(carried(modules_with(held + "[[event]]\nname = \"e\"\nwhen = \"t - 0.1\"\ndo = [\"stop\"]\n")), 0U);
  Spec other = modules_with(held);
  other.settings.stabilization = {"baumgarte", {}, {}};
  EXPECT_EQ(carried(other), 0U);
  other = modules_with(held);
  other.settings.formulation = {"lagrange", {}, {}};
  EXPECT_EQ(carried(other), 0U);
}

}  // namespace
}  // namespace linkwork
