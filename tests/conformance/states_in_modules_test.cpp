// States of the user's own in modules that are solved apart: the same as in one piece.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "linkwork/io/model_file.h"
#include "linkwork/modules/model_run.h"
#include "tests/support/assemblies.h"

namespace linkwork {
namespace {

using testing::Contains;

/// A cart on a rail with a controller that has a state; two of them, joined by a rod's spring and a pin.
constexpr const char* kPart = R"(linkwork = 1
[[body]]
name = "cart"
mass = 1.5
inertia = [0.1, 0.1, 0.1]
[[body]]
name = "link"
mass = 0.6
com = [0.2, 0, 0]
inertia = [0.01, 0.02, 0.02]
[[joint]]
name = "slide"
type = "prismatic"
parent = { body = "ground" }
child = { body = "cart" }
axis = [1, 0, 0]
[[joint]]
name = "swing"
type = "revolute"
parent = { body = "cart" }
child = { body = "link" }
position = 0.4
[[port]]
name = "tip"
body = "link"
at = [0.4, 0, 0]
[[state]]
name = "sum"
start = 0.2
rate = "0.3 - q.slide"
[[state]]
name = "lag"
rate = "8*(z.sum + z.ramp - z.lag) + v.swing"
[[state]]
name = "ramp"
rate = "z.wave"
[[state]]
name = "wave"
start = 1.0
rate = "cos(3*t) - z.ramp"
[[force]]
name = "motor"
type = "force"
joint = "slide"
value = "20*z.lag - 3*v.slide"
)";

Spec two_carts(const std::string& more) {
  ReadOptions options;
  options.load = [](const std::filesystem::path&) { return std::string(kPart); };
  return read_model_text(R"(linkwork = 1
[settings]
end = 0.3
step = 1e-3
output_every = 0.01
[[module]]
name = "left"
file = "part.toml"
[[module]]
name = "right"
file = "part.toml"
[[connection]]
name = "pin"
type = "pin"
a = "left.tip"
b = "right.tip"
)" + more,
                         "whole.toml", options);
}

/// Of no module: a signal that both use. And one that nothing uses.
constexpr const char* kShared = R"toml(
[[state]]
name = "clock"
start = 0.5
rate = "-z.clock + sin(5*t)"
[[state]]
name = "idle"
rate = "1"
[[force]]
type = "torque"
joint = "left.swing"
value = "z.clock"
[[force]]
type = "torque"
joint = "right.swing"
value = "-2*z.clock + z.right.sum"
)toml";

double largest_difference_of_states(const test::Rows& a, const test::Rows& b) {
  double largest = 0.0;
  int compared = 0;
  for (const std::string& column : a.columns) {
    if (!column.starts_with("z.")) continue;
    EXPECT_EQ(std::ranges::count(b.columns, column), 1) << column;
    const std::vector<double> x = a.of(column), y = b.of(column);
    for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
    ++compared;
  }
  EXPECT_EQ(compared, 10);
  return largest;
}

TEST(StatesInModules, AreThoseOfOnePieceUnderEveryExactGlue) {
  Spec spec = two_carts(kShared);
  spec.settings.integrator = {"rk4", {}, {}};
  const test::Rows whole = test::run_in_one_piece(spec);
  ASSERT_TRUE(whole.summary.completed) << whole.summary.status;
  for (const char* const glue : {"hierarchical", "projection", "waveform"}) {
    spec.settings.glue = {glue, {}, {}};
    const test::Rows apart = test::run_modules(spec);
    ASSERT_TRUE(apart.summary.completed) << glue << ": " << apart.summary.status;
    EXPECT_LT(test::largest_difference(whole, apart).first, 1e-8) << glue;
    EXPECT_LT(largest_difference_of_states(whole, apart), 1e-8) << glue;
    EXPECT_LT(apart.summary.energy_drift, 1e-7) << glue;
  }
}

/// Runs compare modules with the whole on the way, whatever is written.
TEST(StatesInModules, ArePartOfTheComparisonWithTheWhole) {
  Spec spec = two_carts(kShared);
  for (const std::vector<std::string>& columns : {std::vector<std::string>{}, {"q"}}) {
    spec.settings.columns = columns;
    const KeptRun run = run_model(spec);
    EXPECT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_NE(run.summary.glue, "none");
    EXPECT_EQ(std::ranges::count(run.columns, "z.left.lag"), columns.empty() ? 1 : 0);
  }
}

TEST(StatesInModules, AreTheSameBitsOnAnyNumberOfThreads) {
  Spec spec = two_carts(kShared);
  const test::Rows one = test::run_modules(spec), two = test::run_modules(spec, 2);
  EXPECT_EQ(one.columns, two.columns);
  EXPECT_EQ(one.rows, two.rows);
}

/// What is watched by error control is the motion and the states.
TEST(StatesInModules, AreUnderErrorControl) {
  Spec spec = two_carts("[[state]]\nname = \"fast\"\nstart = 1\nrate = \"-300*z.fast\"\n" + std::string(kShared));
  spec.settings.integrator = {"dopri45", {}, {}};
  spec.settings.rtol = spec.settings.atol = 1e-9;
  const test::Rows apart = test::run_modules(spec);
  ASSERT_TRUE(apart.summary.completed) << apart.summary.status;
  const std::vector<double> t = apart.of("t"), z = apart.of("z.fast");
  for (std::size_t i = 0; i < t.size(); ++i) EXPECT_NEAR(z[i], std::exp(-300.0 * t[i]), 1e-6);
}

/// Rates that see several modules, states of one module that others use, and so many that they do not fit into one port.
constexpr const char* kOfSeveral = R"toml(
[[state]]
name = "both"
rate = "q.left.slide - q.right.slide - 0.5*z.both"
[[state]]
name = "chain"
start = 0.1
rate = "z.both + z.left.sum - z.chain"
[[state]]
name = "push{i}"
repeat = { i = [1, 6] }
start = "0.1*i"
rate = "sin(i*q.left.swing) - z.push{i} + if(v.right.swing > 0, 0.3, -0.2)"
[[sensor]]
name = "seen"
type = "expression"
expression = "z.both + q.left.slide"
[[force]]
name = "pull"
type = "torque"
joint = "left.swing"
value = "z.right.sum - 3*z.chain + z.push6"
[[force]]
name = "guide"
type = "force"
joint = "right.slide"
value = "5*s.seen - z.push1*z.push3"
)toml";

TEST(StatesInModules, MayConcernSeveralModules) {
  Spec spec = two_carts(kOfSeveral);
  const test::Rows whole = test::run_in_one_piece(spec);
  ASSERT_TRUE(whole.summary.completed) << whole.summary.status;
  spec.settings.glue = {"hierarchical", {}, {}};
  const test::Rows apart = test::run_modules(spec);
  ASSERT_TRUE(apart.summary.completed) << apart.summary.status;
  EXPECT_LT(test::largest_difference(whole, apart).first, 1e-9);
  int compared = 0;
  for (const std::string& column : whole.columns) {
    if (!column.starts_with("z.") && !column.starts_with("effort.") && !column.starts_with("s.")) continue;
    ++compared;
    ASSERT_EQ(std::ranges::count(apart.columns, column), 1) << column;
    EXPECT_NEAR(apart.last(column), whole.last(column), 1e-8) << column;
  }
  EXPECT_GE(compared, 19);
  for (const int threads : {2, 3}) EXPECT_EQ(test::run_modules(spec, threads).rows, apart.rows) << threads;
}

}  // namespace
}  // namespace linkwork
