#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "linkwork/io/model_file.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/simulation/simulation.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using test::Rows;
using testing::HasSubstr;

std::vector<std::string> names_of(const std::vector<EventRecord>& events) {
  std::vector<std::string> names;
  for (const EventRecord& event : events) names.push_back(fmt::format("{} {} {}", event.name, event.what, event.dof));
  return names;
}

/// The same events at the same times as in one piece, the same motion between them, and the same bits on any number of threads.
void expect_the_run_of_one_piece(Spec spec, const std::string& what, double tolerance = 1e-9) {
  const Rows whole = test::run_in_one_piece(spec);
  ASSERT_TRUE(whole.summary.completed) << what << ": " << whole.summary.status;
  spec.settings.glue = {"hierarchical", {}, {}};
  const Rows parts = test::run_modules(spec);
  ASSERT_TRUE(parts.summary.completed) << what << ": " << parts.summary.status;
  EXPECT_EQ(names_of(parts.summary.events), names_of(whole.summary.events)) << what;
  for (std::size_t k = 0; k < std::min(parts.summary.events.size(), whole.summary.events.size()); ++k)
    EXPECT_NEAR(parts.summary.events[k].t, whole.summary.events[k].t, tolerance) << what << ", event " << k;
  const auto [difference, column] = test::largest_difference(parts, whole);
  EXPECT_LE(difference, tolerance) << what << ", " << column;
  // Threads wait for one another without sleeping, which takes long where there are more of them than processors.
  spec.settings.step *= 4.0;
  spec.settings.end = std::min(spec.settings.end, 1.1);
  const Rows alone = test::run_modules(spec);
  for (const int threads : {2, 3})
    EXPECT_EQ(test::run_modules(spec, threads).rows, alone.rows) << what << ", threads " << threads;
}

class ReadyAssemblies : public testing::TestWithParam<std::string> {};

TEST_P(ReadyAssemblies, RunAsInOnePieceThroughAllEvents) {
  Spec spec = test::library_spec(GetParam());
  spec.settings.end = std::min(spec.settings.end, 2.0);
  spec.settings.output_every = 0.05;
  const Rows parts = test::run_modules(spec);
  ASSERT_TRUE(parts.summary.completed) << parts.summary.status;
  expect_the_run_of_one_piece(spec, GetParam());
}

INSTANTIATE_TEST_SUITE_P(WithEvents, ReadyAssemblies,
                         testing::Values("train_modules", "two_arms_modules", "clutch_modules", "geared_modules",
                                         "rolling_modules", "nested_modules", "moving_ground_modules", "stiff_modules"));

/// The goal that [Kasper] states: how many degrees of freedom there are changes during the run.
TEST(EventsInModules, ChangeTheDegreesOfFreedom) {
  for (const char* const name : {"train_modules", "two_arms_modules", "clutch_modules"}) {
    const Rows rows = test::run_modules(test::library_spec(name));
    ASSERT_TRUE(rows.summary.completed) << name << ": " << rows.summary.status;
    std::set<int> dof{rows.summary.dof};
    for (const EventRecord& event : rows.summary.events) dof.insert(event.dof);
    EXPECT_GE(rows.summary.events.size(), 1U) << name;
    EXPECT_GE(dof.size(), 2U) << name;
    EXPECT_LT(rows.summary.energy_drift, 1e-6) << name;
  }
}

/// What a block carries: a rider in a guide, or one that stands on two feet that rub.
std::string rider(bool on_feet, double number) {
  if (!on_feet)
    return fmt::format(R"([[joint]]
name = "rider"
type = "prismatic"
parent = {{ body = "block", at = [0, 0.15, 0] }}
child = {{ body = "rider" }}
axis = [1, 0, 0]
limits = [-0.1, {:.6g}]
restitution = 0.3
dry_friction = {{ static = 0.6, kinetic = 0.3 }}
)",
                       number);
  std::string text = R"([[joint]]
name = "rider"
type = "planar"
parent = { body = "ground" }
child = { body = "rider" }
position = ["x", 0.15, 0]
velocity = ["v", 0, 0]
)";
  for (const auto& [name, x] : {std::pair{"left_foot", -0.05}, std::pair{"right_foot", 0.05}})
    text += fmt::format(R"([[closure]]
name = "{}"
type = "point-contact"
a = {{ body = "block", at = [0, 0.1, 0] }}
b = {{ body = "rider", at = [{}, -0.05, 0] }}
normal = [0, 1, 0]
one_sided = "above"
dry_friction = {{ static = {:.6g}, kinetic = 0.1 }}
)",
                        name, x, 3.0 * number);
  return text;
}

/// Blocks that slide and stop in their own modules, with stops, friction and contacts between them, of random sizes.
Spec random_blocks(unsigned seed, bool on_feet = false) {
  std::mt19937 engine(seed);
  const auto number = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(engine()) / static_cast<double>(std::mt19937::max());
  };
  const std::string block =
      fmt::format(R"(linkwork = 1
[parameters]
x = 0
v = 0
[[body]]
name = "block"
solid = {{ shape = "box", size = [0.4, 0.2, 0.2], mass = {:.6g} }}
[[body]]
name = "rider"
solid = {{ shape = "box", size = [0.1, 0.1, 0.1], mass = {:.6g} }}
[[joint]]
name = "rail"
type = "prismatic"
parent = {{ body = "ground" }}
child = {{ body = "block" }}
axis = [1, 0, 0]
position = "x"
velocity = "v"
dry_friction = {{ static = {:.6g}, kinetic = {:.6g} }}
{}
[[port]]
name = "front"
body = "block"
at = [0.2, 0, 0]
[[port]]
name = "rear"
body = "block"
at = [-0.2, 0, 0]
)",
                  number(1, 4), number(0.2, 1), number(2, 6), number(1, 2), rider(on_feet, number(0.05, 0.15)));
  ReadOptions options;
  options.load = [&](const std::filesystem::path&) { return block; };
  return read_model_text(fmt::format(R"(linkwork = 1
[settings]
end = 0.8
step = 1e-3
output_every = 0.02
[[module]]
name = "a"
file = "block.toml"
parameters = {{ v = {:.6g} }}
[[module]]
name = "b"
file = "block.toml"
parameters = {{ x = 0.6 }}
[[module]]
name = "c"
file = "block.toml"
parameters = {{ x = 1.15, v = {:.6g} }}
[[connection]]
name = "ab"
type = "distance"
a = "a.front"
b = "b.rear"
length = 0.05
one_sided = "above"
restitution = {:.6g}
[[connection]]
name = "bc"
type = "distance"
a = "b.front"
b = "c.rear"
length = 0.05
one_sided = "above"
restitution = 0.4
[[event]]
name = "push"
when = "t - 0.4"
do = ["kick b.rail by {:.6g}"]
)",
                                     number(1, 3), number(-1, 0), number(0, 0.8), number(-4, 4)),
                         "blocks.toml", options);
}

TEST(EventsInModules, OfRandomBlocksComeAsInOnePiece) {
  for (unsigned seed = 1; seed <= 6; ++seed) expect_the_run_of_one_piece(random_blocks(seed), fmt::format("seed {}", seed), 1e-8);
}

TEST(EventsInModules, OfBlocksWhoseRidersRubComeAsInOnePiece) {
  for (unsigned seed = 1; seed <= 6; ++seed)
    expect_the_run_of_one_piece(random_blocks(seed, true), fmt::format("seed {}", seed), 1e-8);
}

TEST(EventsInModules, PulsesThatSwitchAreAsInOnePiece) {
  const std::string part = R"toml(linkwork = 1
[parameters]
start = 0.1
[[body]]
name = "b"
solid = { shape = "rod", to = [1, 0, 0], mass = 1 }
[[joint]]
name = "j"
type = "revolute"
parent = { body = "ground" }
child = { body = "b" }
[[force]]
type = "torque"
joint = "j"
value = "if(t > start, if(t < start + 0.0013, 500, 0), 0) - 2*sign(sin(5*q.j))"
[[port]]
name = "end"
body = "b"
at = [1, 0, 0]
)toml";
  ReadOptions options;
  options.load = [&](const std::filesystem::path&) { return part; };
  const Spec spec = read_model_text(R"toml(linkwork = 1
[settings]
end = 1
step = 0.005
[[module]]
name = "a"
file = "part.toml"
[[module]]
name = "b"
file = "part.toml"
parameters = { start = 0.3017 }
[[connection]]
name = "s"
type = "spring"
a = "a.end"
b = "b.end"
law = "20*max(0, d - 0.1)"
)toml",
                                    "pulses.toml", options);
  expect_the_run_of_one_piece(spec, "pulses");
}

/// A run that is saved in the middle of sliding and bouncing goes on with the same bits.
TEST(EventsInModules, GoOnFromASavedRun) {
  for (const char* const name : {"train_modules", "clutch_modules"}) {
    Spec spec = test::library_spec(name);
    spec.settings.end = 1.0;
    const AssemblyPlan plan = test::started_plan(spec);
    InProcess alone;
    const Choice glue{"hierarchical", {}, {}};
    const auto last_row = [&](bool interrupted) {
      Simulation run(std::make_unique<AssemblySystem>(plan, glue, alone));
      std::vector<SavedRun> saved;
      Observer observer;
      observer.checkpoint_every = 0.4;
      observer.checkpoint = [&](const SavedRun& at) { saved.push_back(at); };
      run.run(observer);
      if (!interrupted) return run.row();
      Simulation second(std::make_unique<AssemblySystem>(plan, glue, alone));
      second.restore(saved.at(1));
      second.run(observer);
      return second.row();
    };
    EXPECT_EQ(last_row(true), last_row(false)) << name;
  }
}

TEST(EventsInModules, AreRefusedInWordsByGluesThatCannotFollowThem) {
  for (const char* const glue : {"compliance", "projection", "waveform"}) {
    Spec spec = test::library_spec("clutch_modules");
    spec.settings.glue = {glue, {}, {}};
    try {
      test::run_modules(spec);
      FAIL() << glue;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr(glue));
    }
  }
}

}  // namespace
}  // namespace linkwork
