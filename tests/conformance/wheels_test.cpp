#include <gtest/gtest.h>

#include "linkwork/formulations/catalog.h"
#include "linkwork/stabilizations/catalog.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// A cart that floats, with a loop that turns across the others' axes, and two wheels: one that is the same however it has
/// turned, off the middle of its axis, and one with an inertia of its own.
std::string cart(const std::string& turned, const std::string& apart, const std::string& uneven) {
  return R"toml(
[settings]
gravity = [1, -2, -9]
[[body]]
name = "frame"
mass = 7
com = [0.1, -0.05, 0.2]
inertia = [0.9, 1.1, 1.3, 0.1, -0.05, 0.07]
[[joint]]
name = "frame"
type = "free"
parent = { body = "ground" }
child = { body = "frame" }
[[body]]
repeat = { i = [1, 3] }
name = "bar{i}"
mass = "0.5 + 0.2*i"
com = [0.3, 0, 0.02]
inertia = [0.02, 0.06, 0.07, 0.001, 0.002, -0.001]
[[joint]]
repeat = { i = [1, 2] }
name = "arm{i}"
type = "revolute"
parent = { body = "frame", at = [)toml" +
         apart + R"toml(], rpy = )toml" + turned + R"toml( }
child = { body = "bar{i}" }
axis = [0, 0, 1]
[[joint]]
name = "coupler"
type = "revolute"
parent = { body = "bar1", at = [0.7, 0, 0] }
child = { body = "bar3" }
axis = [0, 0, 1]
position = -0.4
[[closure]]
name = "loop"
type = "spherical"
a = { body = "bar3", at = [0.9, 0, 0] }
b = { body = "bar2", at = [0.6, 0, 0] }
[[body]]
repeat = { i = [1, 2] }
name = "wheel{i}"
mass = 2
com = [0, 0, "0.03*i"]
inertia = [0.05, "0.05 + (i - 1)*)toml" +
         uneven + R"toml(", 0.09, 0, 0, 0]
[[joint]]
repeat = { i = [1, 2] }
name = "wheel{i}"
type = "revolute"
parent = { body = "bar{i}", at = [0.4, 0.05, 0], rpy = [0.3, "pi/2*(i - 1)", 0.2] }
child = { body = "wheel{i}" }
axis = [0, 0, 1]
damping = 0.1
velocity = 3
)toml";
}

VecX<double> accelerations(const Model& model, const std::string& formulation, State state) {
  EquationsOfMotion equations(model, make_chosen(formulations(), {formulation, {}, {}}, "formulation", model),
                              make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
  Derivative rates;
  const Status status = equations.evaluate(state, rates);
  EXPECT_TRUE(status.ok()) << status.trouble;
  return rates.vdot;
}

TEST(Wheels, AreSolvedAsAnyBodyWhateverTheirAxes) {
  std::mt19937 random(11);
  struct Placed {
    const char *turned, *apart;  // the axes of the loop, and its second pivot, in the loop's plane
  };
  for (const auto& [turned, apart] :
       {Placed{"[0, 0, 0]", "\"i - 1\", 0.2, 0.1"}, Placed{"[\"pi/2\", 0, 0]", "\"i - 1\", 0.2, 0.1"},
        Placed{"[\"pi/2\", 0, \"pi/2\"]", "0.2, \"i - 1\", 0.1"}, Placed{"[\"-pi/2\", 0, \"-pi/2\"]", "0.2, \"i - 1\", 0.1"},
        Placed{"[0, \"pi/2\", 0]", "0.2, \"i - 1\", 0.1"},
        Placed{"[0.4, -0.3, 1.1]", "\"(i - 1)*cos(1.1)*cos(0.3)\", \"(i - 1)*sin(1.1)*cos(0.3)\", \"(i - 1)*sin(0.3)\""}})
    for (const char* uneven : {"0", "0.01"}) {
      const Model model = test::model_of(cart(turned, apart, uneven));
      for (int k = 0; k < 3; ++k) {
        const State state = test::random_consistent_state(model, random);
        EXPECT_LT(test::relative_difference(accelerations(model, "schur", state), accelerations(model, "nullspace-svd", state)),
                  1e-10)
            << turned << ' ' << uneven;
      }
    }
}

}  // namespace
}  // namespace linkwork
