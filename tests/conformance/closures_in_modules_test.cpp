#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <Eigen/Geometry>
#include <algorithm>
#include <cmath>

#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/io/model_file.h"
#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/model/joints/joint_kind.h"
#include "linkwork/model/kinds.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/modules/one_piece.h"
#include "linkwork/simulation/coordinate_choice.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/transport/thread_team.h"
#include "tests/support/assemblies.h"
#include "tests/support/random_text.h"

namespace linkwork {
namespace {

using test::body_text;
using test::frame_text;
using test::Random;
using test::Rows;
using test::written;
using testing::HasSubstr;

std::vector<std::string> closure_types() {
  std::vector<std::string> types;
  for (const JointKind& kind : joint_kinds())
    if (!kind.rows.empty()) types.emplace_back(kind.name);
  for (const FrameClosureKind& kind : frame_closure_kinds()) types.emplace_back(kind.name);
  for (const CoordinateClosureKind& kind : standard_kinds()->closures) types.emplace_back(kind.name);
  return types;
}

/// Between the arm and the loose body, or on the coordinates of their joints.
std::string closure(Random& random, const std::string& type) {
  const auto number = [&] { return random.uniform(0.2, 1.0); };
  std::string text = fmt::format("type = \"{}\"\n", type);
  if (type == "gear")
    return text + fmt::format("joints = [\"arm\", \"loose.x\"]\ncoefficients = [{}, {}]\noffset = 0.1\n", number(), -number());
  if (type == "drive" || type == "speed-drive")
    return text + fmt::format("joint = \"arm\"\nvalue = \"{}*sin({}*t) + t^2\"\n", number(), 4.0 * number());
  if (type == "expression") return text + fmt::format("expression = \"sin(q.arm)*q.loose.y + {}*q.arm - 0.1\"\n", number());
  if (type == "pfaffian")
    return text + fmt::format("expression = \"sin(q.arm)*v.loose.y + {}*v.arm - 0.1*t*q.loose.x\"\n", number());
  if (type == "friction-drive")
    return text + fmt::format("joints = [\"arm\", \"loose.x\"]\nratio = \"{} + q.loose.y^2\"\n", number());
  if (type.starts_with("rolling")) text += fmt::format("radius = {}\n", number());
  if (type == "rolling-discs") text += "radius_a = 1.3\n";
  if (type == "distance") text += fmt::format("length = {}\n", 2.0 * number());
  if (type == "screw") text += fmt::format("pitch = {}\n", number());
  const FrameClosureKind* const kind = find_frame_closure_kind(type);
  const JointKind* const joint = find_joint_kind(type);
  if (kind != nullptr && kind->on_plane) text += fmt::format("normal = {}\n", written(random.axis()));
  if (kind != nullptr ? kind->has_axis : joint->has_axis) {
    const Eigen::Vector3d axis = random.axis();
    text += fmt::format("axis = {}\n", written(axis));
    if (type == "universal") text += fmt::format("axis2 = {}\n", written(axis.cross(random.axis()).normalized()));
  }
  return text + "a = " + frame_text(random, "arm") + "b = " + frame_text(random, "loose");
}

/// A base that others carry, an arm that turns on it, and a loose body, so that any closure can be met.
std::string module_text(Random& random, const std::string& type, bool redundant) {
  std::string text =
      "linkwork = 1\n" + body_text(random, "base", 1.0) + body_text(random, "arm", 1.0) + body_text(random, "loose", 1.0);
  text += "[[joint]]\nname = \"base\"\ntype = \"free\"\nchild = { body = \"base\" }\nparent = { body = \"ground\" }\n";
  text += fmt::format(
      "[[joint]]\nname = \"arm\"\ntype = \"revolute\"\naxis = {}\nposition = {}\nvelocity = {}\nparent = {}child = {}",
      written(random.axis()), random.uniform(-1, 1), random.uniform(-1, 1), frame_text(random, "base"),
      frame_text(random, "arm"));
  text += fmt::format(
      "[[joint]]\nname = \"loose\"\ntype = \"free\"\nvelocity = [0.3, 0.1, {}, 0.2, 0.5, -0.3]\nparent = {{ body = \"ground\" "
      "}}\nchild = {}",
      random.uniform(-1, 1), frame_text(random, "loose"));
  const std::string rows = closure(random, type);
  text += "[[closure]]\nname = \"c\"\n" + rows;
  if (redundant) text += "[[closure]]\nname = \"again\"\n" + rows;
  return text +
         "[[port]]\nname = \"low\"\nbody = \"base\"\nat = [0, -0.4, 0.1]\n[[port]]\nname = \"high\"\nbody = \"base\"\nat = "
         "[0.1, 0.4, 0]\n";
}

/// A double pendulum of two such modules.
Spec two_modules(const std::string& type, unsigned seed, bool redundant) {
  Random random(seed);
  const std::string first = module_text(random, type, redundant), second = module_text(random, type, false);
  ReadOptions options;
  options.load = [&](const std::filesystem::path& file) { return file.filename() == "first.toml" ? first : second; };
  return read_model_text(R"(linkwork = 1
[settings]
end = 0.04
step = 1e-3
[[module]]
name = "m1"
file = "first.toml"
[[module]]
name = "m2"
file = "second.toml"
[[connection]]
name = "hook"
type = "spherical"
a = "ground"
b = "m1.high"
[[connection]]
name = "link"
type = "universal"
a = "m1.low"
b = "m2.high"
)",
                         type + ".toml", options);
}

class ClosuresInModules : public testing::TestWithParam<std::string> {};

TEST_P(ClosuresInModules, GiveTheMotionOfOnePieceWithEveryExactGlue) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    const bool redundant = seed == 3;
    Spec spec = two_modules(GetParam(), seed, redundant);
    const Rows whole = test::run_in_one_piece(spec);
    ASSERT_TRUE(whole.summary.completed) << seed << ": " << whole.summary.status;
    for (const GlueEntry& glue : glues()) {
      if (!glue.traits.exact) continue;
      spec.settings.glue = {glue.info.name, {}, {}};
      const Rows parts = test::run_modules(spec);
      ASSERT_TRUE(parts.summary.completed) << seed << ", " << glue.info.name << ": " << parts.summary.status;
      const auto [difference, column] = test::largest_difference(parts, whole);
      EXPECT_LE(difference, 1e-9) << seed << ", " << glue.info.name << ", " << column;
      EXPECT_EQ(parts.summary.dof, whole.summary.dof) << seed << ", " << glue.info.name;
      EXPECT_EQ(parts.summary.rank, whole.summary.rank) << seed << ", " << glue.info.name;
      EXPECT_EQ(parts.summary.redundant.size(), whole.summary.redundant.size()) << seed << ", " << glue.info.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(EveryType, ClosuresInModules, testing::ValuesIn(closure_types()), [](const auto& type) {
  std::string name = type.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

/// The modules are not those of the system in one piece: a body of one is heavier. An exact glue must notice at the start.
TEST(ExactGlue, StopsARunThatDiffersFromOnePiece) {
  Spec spec = two_modules("pin", 1, false);
  const Model whole = build_model(spec);
  Spec other = spec;
  other.bodies.front().mass *= 1.01;
  const AssemblyPlan plan = test::started_plan(other);
  for (const bool exact : {true, false}) {
    InProcess alone;
    Simulation run(std::make_unique<AssemblySystem>(plan, Choice{"hierarchical", {}, {}}, alone));
    PieceComparison comparison(whole, run.columns(), exact);
    Observer observer;
    observer.object = [&](std::span<const double> row) { return comparison.object_to(row); };
    const Summary summary = run.run(observer);
    EXPECT_EQ(summary.completed, !exact) << summary.status;
    if (exact) {
      EXPECT_THAT(summary.status, HasSubstr("stopped at t = 0 s: the modules accelerate otherwise than the same system"));
    }
    EXPECT_GT(comparison.largest(), 1e-6);
  }
}

TEST(ExactGlue, StopsAllRanksWhenItComesToDifferLater) {
  const Spec spec = two_modules("pin", 1, false);
  const AssemblyPlan plan = test::started_plan(spec);
  for (const int after : {1, 3, 5}) {  // of 5 rows
    std::vector<double> reached(2, 0.0);
    std::vector<char> completed(2, 1);
    ThreadTeam team(2);
    team.run([&](Transport& transport) {
      Simulation run(std::make_unique<AssemblySystem>(plan, Choice{"hierarchical", {}, {}}, transport));
      Observer observer;
      int rows = 0;
      observer.object = [&](std::span<const double>) { return ++rows >= after ? "no" : ""; };
      const auto rank = static_cast<std::size_t>(transport.rank());
      completed[rank] = run.run(observer).completed;
      reached[rank] = run.t();
    });
    EXPECT_EQ(completed, std::vector<char>(2, 0)) << after;
    EXPECT_EQ(reached[0], reached[1]) << after;
  }
}

TEST(AutoGlue, SaysWhyModulesAreSolvedInOnePiece) {
  Spec spec = two_modules("pin", 1, false);
  std::vector<std::string> notes;
  EXPECT_EQ(chosen_glue(spec, notes).name, "hierarchical");
  EXPECT_TRUE(notes.empty());
  spec.settings.formulation = {"index3", {}, {}};
  EXPECT_EQ(chosen_glue(spec, notes).name, "none");
  ASSERT_EQ(notes.size(), 1U);
  EXPECT_THAT(notes.front(), HasSubstr("in one piece: formulation 'index3' does not go with glue 'hierarchical'"));
}

/// Whatever is chosen: modules are solved apart and the run goes, or they are not, and the one note names the choice and says
/// why.
TEST(AutoGlue, NeverGivesUpDistributionWithoutSayingSo) {
  int apart = 0, together = 0;
  for (const char* const model : {"four_bar_modules", "clutch_modules", "moving_ground_modules", "stiff_modules"}) {
    Spec spec = test::library_spec(model);
    spec.settings.end = 2.0 * spec.settings.step;
    const auto look_at = [&](Choice Settings::*choice, const std::string& name) {
      Spec changed = spec;
      changed.settings.*choice = {name, {}, {}};
      std::vector<std::string> notes;
      Choice glue;
      try {
        glue = chosen_glue(changed, notes);
      } catch (const InputError&) {
        return;  // it does not go at all
      }
      if (glue.name == "none") {
        ++together;
        ASSERT_EQ(notes.size(), 1U) << model << ", " << name;
        EXPECT_THAT(notes.front(), HasSubstr("the modules are solved in one piece: ")) << model;
        EXPECT_THAT(notes.front(), HasSubstr(name)) << model;
        return;
      }
      ++apart;
      EXPECT_TRUE(notes.empty()) << model << ", " << name << ": " << notes.front();
      const Rows rows = test::run_modules(changed);
      EXPECT_TRUE(rows.summary.completed) << model << ", " << name << ": " << rows.summary.status;
    };
    for (const CatalogInfo& info : formulation_choices()) look_at(&Settings::formulation, info.name);
    for (const CatalogInfo& info : coordinate_choices()) look_at(&Settings::coordinates, info.name);
    for (const auto& entry : stabilizations()) look_at(&Settings::stabilization, entry.info.name);
    for (const auto& entry : integrators()) look_at(&Settings::integrator, entry.info.name);
  }
  EXPECT_GT(apart, 100);
  EXPECT_GT(together, 10);
}

}  // namespace
}  // namespace linkwork
