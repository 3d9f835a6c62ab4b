// What joints and closures transmit. Joints of the tree get it from a pass over the tree, free bodies (FA) from the multipliers
// of a closure each, modules from what comes through their ports: where it is unique, all must agree.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <random>

#include "linkwork/modules/model_run.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::Contains;

struct Reactions {
  std::map<std::string, std::vector<double>> columns;
  Summary summary;
};

bool is_reaction(const std::string& column) { return column.starts_with("force.") || column.starts_with("torque."); }

Reactions reactions(Spec spec, const char* coordinates, const char* glue) {
  spec.settings.coordinates = {coordinates, {}, {}};
  spec.settings.glue = {glue, {}, {}};
  spec.settings.end = 2e-3;
  spec.settings.step = spec.settings.output_every = 1e-3;
  const KeptRun run = run_model(spec);
  Reactions found{{}, run.summary};
  for (const std::string& column : run.columns)
    if (is_reaction(column) && !run.rows.empty()) found.columns[column] = run[column];
  return found;
}

class ReactionsOnModel : public testing::TestWithParam<std::string> {};

/// Relative to the largest there is. At the start: later the states differ by what drift control does.
TEST_P(ReactionsOnModel, AreTheSameInAllCoordinatesAndModulesWhereTheyAreUnique) {
  const Spec spec = test::library_spec(GetParam());
  const Reactions tree = reactions(spec, "TA", "none");
  ASSERT_FALSE(tree.columns.empty()) << tree.summary.status;
  double largest = 1e-3;
  for (const auto& [column, values] : tree.columns) largest = std::max(largest, std::abs(values[0]));
  int compared = 0;
  for (const auto& [coordinates, glue] : {std::pair{"FA", "none"}, {"CE", "none"}, {"auto", "hierarchical"}}) {
    Reactions other;
    try {
      other = reactions(spec, coordinates, glue);
    } catch (const InputError&) {
      continue;  // not every model can
    }
    if (!other.summary.completed) continue;
    ++compared;
    for (const auto& [column, values] : tree.columns) {
      ASSERT_TRUE(other.columns.contains(column)) << column << " in " << coordinates << ", " << glue;
      const double difference = std::abs(values[0] - other.columns[column][0]) / largest;
      const bool unique = std::ranges::find(tree.summary.not_unique, column) == tree.summary.not_unique.end();
      EXPECT_TRUE(!unique || difference < 1e-9) << column << " in " << coordinates << ", " << glue << ": " << difference;
    }
  }
  EXPECT_GE(compared, GetParam() == "slip_to_roll" ? 0 : 1);
}

INSTANTIATE_TEST_SUITE_P(Library, ReactionsOnModel, testing::ValuesIn(test::library_models()),
                         [](const auto& model) { return model.param; });

/// By hand: two rods on one another, hanging at rest, turned into any direction; the upper hinge carries both.
TEST(Reactions, OfAHangingChainAreItsWeights) {
  std::mt19937 random(7);
  for (int k = 0; k < 20; ++k) {
    std::uniform_real_distribution<double> number(-1.0, 1.0);
    const Vec3<double> down = Vec3<double>(number(random), number(random), number(random)).normalized();
    const double upper = 2.0 + number(random), lower = 2.0 + number(random);
    Spec spec = test::library_spec("double_pendulum");
    ASSERT_EQ(spec.bodies.size(), 2U);
    ASSERT_EQ(spec.joints.size(), 2U);
    spec.settings.gravity = 9.81 * down;
    // The rods along gravity, about axes across it.
    Vec3<double> axis = down.unitOrthogonal();
    for (std::size_t i = 0; i < 2; ++i) {
      spec.bodies[i].mass = i == 0 ? upper : lower;
      spec.bodies[i].com = 0.5 * down;
      spec.bodies[i].inertia = spec.bodies[i].mass * Mat3<double>::Identity();
      spec.bodies[i].solid.reset();
      spec.joints[i].type = "spherical";
      spec.joints[i].position.clear();
      spec.joints[i].velocity.clear();
      spec.joints[i].axis = axis;
      spec.joints[i].parent.at = i == 0 ? Vec3<double>::Zero() : Vec3<double>(down);
      spec.joints[i].child.at = Vec3<double>::Zero();
    }
    spec.forces.clear();
    spec.sensors.clear();
    for (const char* const coordinates : {"TA", "FA"}) {
      const Reactions found = reactions(spec, coordinates, "none");
      for (std::size_t i = 0; i < 2; ++i)
        for (int c = 0; c < 3; ++c) {
          const double expected = -9.81 * down[c] * (i == 0 ? upper + lower : lower);
          EXPECT_NEAR(found.columns.at(fmt::format("force.{}.{}", spec.joints[i].name, "xyz"[c]))[0], expected, 1e-9);
          EXPECT_NEAR(found.columns.at(fmt::format("torque.{}.{}", spec.joints[i].name, "xyz"[c]))[0], 0.0, 1e-9);
        }
    }
  }
}

/// What is said not to be unique is what another solution of the same motion has otherwise.
TEST(Reactions, ThatAreNotUniqueAreNamed) {
  for (const char* const model : {"bricard", "delta", "five_bar_redundant"}) {
    const Spec spec = test::library_spec(model);
    const Reactions tree = reactions(spec, "TA", "none"), free = reactions(spec, "FA", "none");
    ASSERT_FALSE(tree.summary.not_unique.empty()) << model;
    int different = 0;
    for (const auto& [column, values] : tree.columns)
      if (std::abs(values[0] - free.columns.at(column)[0]) > 1e-6) {
        ++different;
        EXPECT_THAT(tree.summary.not_unique, Contains(column)) << model;
        EXPECT_THAT(free.summary.not_unique, Contains(column)) << model;
      }
    EXPECT_GT(different, 0) << model;
  }
  EXPECT_TRUE(reactions(test::library_spec("four_bar"), "TA", "none").summary.not_unique.empty());
}

}  // namespace
}  // namespace linkwork
