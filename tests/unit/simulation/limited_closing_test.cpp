#include "linkwork/simulation/limited_closing.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkwork/io/model_file.h"
#include "linkwork/simulation/assembly.h"

namespace linkwork {
namespace {

/// A planar chain of two equal links whose end is pinned to a point: the elbow may be above or below.
std::string elbow(const std::string& limits, double start) {
  return fmt::format(R"(linkwork = 1
[[body]]
name = "upper"
solid = {{ shape = "rod", to = [1, 0, 0], mass = 1 }}
[[body]]
name = "lower"
solid = {{ shape = "rod", to = [1, 0, 0], mass = 1 }}
[[joint]]
name = "shoulder"
type = "revolute"
parent = {{ body = "ground" }}
child = {{ body = "upper" }}
[[joint]]
name = "elbow"
type = "revolute"
parent = {{ body = "upper", at = [1, 0, 0] }}
child = {{ body = "lower" }}
{}
[[joint]]
name = "wheel"
type = "revolute"
parent = {{ body = "ground", at = [1.5, 0, 0] }}
child = {{ body = "disc" }}
[[body]]
name = "disc"
solid = {{ shape = "cylinder", from = [0, 0, -0.1], to = [0, 0, 0.1], radius = 0.2, mass = 1 }}
[[closure]]
name = "hand"
type = "pin"
a = {{ body = "lower", at = [1, 0, 0] }}
b = {{ body = "disc", at = [0.1, 0, 0] }}
)",
                     fmt::format("position = {}\n{}", start, limits));
}

double elbow_of(const std::string& text) {
  const Model model = build_model(read_model_text(text, "elbow.toml"));
  AssemblyReport report;
  const State state = assemble(model, report);
  System system(model);
  system.update(state);
  EXPECT_LT(model.largest_error(system.terms().phi), 1e-10);
  return state.q[model.joints[1].q[0]];
}

TEST(Assembly, ClosesLoopsWithinTheLimitsOfJoints) {
  const double free = elbow_of(elbow("", 0.2));
  EXPECT_GT(free, 0.5) << "the nearest way to close it";
  const double below = elbow_of(elbow("limits = [-3, 0.3]", 0.2));
  EXPECT_LT(below, 0.3) << "the other way, as the limits have it";
  EXPECT_GE(below, -3.0);
}

TEST(Assembly, WithinLimitsGivesTheSameBitsEveryTime) {
  const std::string text = elbow("limits = [-3, 0.3]", 0.2);
  EXPECT_EQ(elbow_of(text), elbow_of(text));
}

TEST(Assembly, LeavesLimitsOnlyIfLoopsCannotBeClosedWithinThem) {
  EXPECT_GT(std::abs(elbow_of(elbow("limits = [-0.3, 0.3]", 0.2))), 0.3) << "closed after all, and a check says so";
}

/// Ladders of loops whose joints all begin at zero, far from where they close.
TEST(Assembly, ClosesLoopsThatHangOnOneAnother) {
  std::string text = "linkwork = 1\n";
  const int n = 5;
  for (int i = 0; i < n; ++i) {
    const std::string below = i == 0 ? "ground" : fmt::format("top{}", i - 1);
    for (const char* side : {"left", "right", "top"})
      text += fmt::format("[[body]]\nname = \"{}{}\"\nsolid = {{ shape = \"rod\", to = [1, 0, 0], mass = 1 }}\n", side, i);
    const auto joint = [&](const std::string& name, const std::string& parent, double at, const std::string& child) {
      text += fmt::format(
          "[[joint]]\nname = \"{}{}\"\ntype = \"revolute\"\nparent = {{ body = \"{}\", at = [{}, 0, 0] }}\nchild = {{ body = "
          "\"{}{}\" }}\nlimits = [-2.8, 2.8]\n",
          name, i, parent, at, child, i);
    };
    joint("a", below, 0.0, "left");
    joint("b", fmt::format("left{}", i), 1.0, "top");
    joint("c", below, 1.0 + 0.1 * i, "right");
    text += fmt::format(
        "[[closure]]\nname = \"d{0}\"\ntype = \"pin\"\na = {{ body = \"top{0}\", at = [1, 0, 0] }}\nb = {{ body = \"right{0}\", "
        "at = [1, 0, 0] }}\n",
        i);
  }
  const Model model = build_model(read_model_text(text, "ladder.toml"));
  AssemblyReport report;
  const State state = assemble(model, report);
  System system(model);
  system.update(state);
  EXPECT_LT(model.largest_error(system.terms().phi), 1e-10);
  LimitedClosing closing(model, std::vector<char>(model.tree.nodes.size(), 1));
  EXPECT_TRUE(closing.keeps_limits(state));
  State again = state;
  EXPECT_TRUE(closing.close(state, again)) << "what is closed is closed";
}

}  // namespace
}  // namespace linkwork
