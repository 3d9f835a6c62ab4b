#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "linkwork/formulations/catalog.h"
#include "linkwork/io/model_file.h"
#include "linkwork/modules/glue.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/stabilizations/catalog.h"
#include "tests/attack/random_assembly.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"
#include "tests/support/tries.h"

namespace linkwork {
namespace {

using test::Rows;
using testing::HasSubstr;

Spec ready(const std::string& name, double end, double every = 0.02) {
  Spec spec = test::library_spec(name);
  spec.settings.end = end;
  spec.settings.output_every = every;
  return spec;
}

/// The motion of one piece by the same methods, and the same bits on any number of threads.
void expect_one_motion(Spec spec, const std::string& what, double tolerance = 1e-9, bool same_coordinates = false) {
  Spec one = spec;
  if (!same_coordinates) one.settings.coordinates = {"TA", {}, {}};
  const Rows whole = test::run_in_one_piece(one);
  ASSERT_TRUE(whole.summary.completed) << what << ": " << whole.summary.status;
  spec.settings.glue = {"hierarchical", {}, {}};
  const Rows parts = test::run_modules(spec);
  ASSERT_TRUE(parts.summary.completed) << what << ": " << parts.summary.status;
  const auto [difference, column] = test::largest_difference(parts, whole);
  EXPECT_LE(difference, tolerance) << what << ", " << column;
  for (const int threads : {2, 3})
    EXPECT_EQ(test::run_modules(spec, threads).rows, parts.rows) << what << ", threads " << threads;
}

// --- drift control

class DriftControlInModules : public testing::TestWithParam<std::string> {};

TEST_P(DriftControlInModules, IsThatOfOnePiece) {
  for (const char* const name : {"rover_modules", "four_bar_modules", "ring_modules", "geared_modules"}) {
    Spec spec = ready(name, 0.1);
    spec.settings.stabilization = parse_choice(GetParam(), {});
    expect_one_motion(spec, name);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, DriftControlInModules,
                         testing::Values("projection", "projection:mass=0", "position", "position:mass=0", "velocity",
                                         "velocity:mass=0", "post", "post:mass=1", "post:times=1", "baumgarte", "acceleration",
                                         "none"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace_if(
                               name, [](char c) { return c == ':' || c == '='; }, '_');
                           return name;
                         });

/// Every entry of the catalog is among them.
TEST(DriftControlOfModules, KnowsTheWholeCatalog) {
  for (const auto& entry : stabilizations()) {
    Settings settings;
    settings.stabilization = {entry.info.name, {}, {}};
    EXPECT_EQ(drift_control(settings).positions, entry.traits.holds_positions) << entry.info.name;
    EXPECT_EQ(drift_control(settings).velocities, entry.traits.holds_velocities) << entry.info.name;
  }
}

// --- formulations and coordinates

class FormulationInModules : public testing::TestWithParam<std::string> {};

std::vector<std::string> formulations_of_modules() {
  std::vector<std::string> names;
  for (const auto& entry : formulations())
    if (entry.traits.gives == Equations::kAcceleration && entry.traits.exact) names.push_back(entry.info.name);
  return names;
}

TEST_P(FormulationInModules, GivesTheMotionOfOnePiece) {
  for (const char* const name : {"rover_modules", "four_bar_modules", "chain_modules", "geared_modules"}) {
    Spec spec = ready(name, 0.03, 0.01);
    spec.settings.formulation = {GetParam(), {}, {}};
    Spec one = spec;
    one.settings.formulation = {"schur", {}, {}};
    if (GetParam() == "lagrange" && !test::run_in_one_piece(one).summary.redundant.empty()) continue;  // which it refuses
    // It changes velocities in every stage, in modules by their own rows alone: the integrator's error is another.
    expect_one_motion(spec, name, GetParam() == "projection" ? 1e-7 : 1e-9);
  }
}
INSTANTIATE_TEST_SUITE_P(Exact, FormulationInModules, testing::ValuesIn(formulations_of_modules()), [](const auto& test) {
  std::string name = test.param;
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(FormulationsOfModules, MayBeApproximate) {
  for (const char* const name : {"compliance", "park"}) {
    Spec spec = ready("rover_modules", 0.02, 0.01);
    spec.settings.step = 1e-5;
    spec.settings.formulation = {name, {}, {}};
    const KeptRun run = run_model(spec);
    EXPECT_TRUE(run.summary.completed) << name << ": " << run.summary.status;
    EXPECT_EQ(run.summary.formulation, name);
    EXPECT_EQ(run.summary.glue, "hierarchical");
  }
}

TEST(CoordinatesInModules, GiveTheMotionOfOnePiece) {
  for (const char* const coordinates : {"CE", "CE:analytic=0", "FA"})
    for (const char* const name : {"rover_modules", "four_bar_modules", "nested_modules"}) {
      Spec spec = ready(name, 0.1);
      spec.settings.coordinates = parse_choice(coordinates, {});
      expect_one_motion(spec, fmt::format("{} {}", coordinates, name));
    }
}

TEST(CoordinatesInModules, GoThroughEvents) {
  for (const char* const name : {"train_modules", "clutch_modules", "two_arms_modules"}) {
    Spec spec = ready(name, 1.4, 0.05);
    spec.settings.coordinates = {"FA", {}, {}};
    spec.settings.step = 2e-3;
    expect_one_motion(spec, name, 1e-9, true);
  }
}

/// Slider-cranks whose connecting rods have no mass: what the joint at the crank moves has no inertia by itself.
TEST(FormulationsOfModules, DealsWithJointsWithoutInertia) {
  const std::string part = R"(linkwork = 1
[parameters]
side = 1
[[body]]
name = "crank"
solid = { shape = "rod", from = [0, 0, 0], to = [0.2, 0.05, 0], mass = 1 }
[[body]]
name = "rod"
mass = 0
[[body]]
name = "slider"
solid = { shape = "box", size = [0.1, 0.1, 0.1], mass = 2 }
[[joint]]
name = "theta"
type = "revolute"
parent = { body = "ground", at = ["side", 0.1, 0] }
child = { body = "crank" }
axis = [0, 0, 1]
position = "0.4 + 0.2*side"
velocity = "2*side"
[[joint]]
name = "psi"
type = "revolute"
parent = { body = "crank", at = [0.2, 0.05, 0] }
child = { body = "rod" }
axis = [0, 0, 1]
position = -0.7
[[joint]]
name = "x"
type = "prismatic"
parent = { body = "ground", at = ["side", 0, 0] }
child = { body = "slider" }
axis = [1, 0, 0]
position = 0.75
[[closure]]
name = "wrist"
type = "pin"
a = { body = "rod", at = [0.6, 0, 0] }
b = { body = "slider" }
axis = [0, 0, 1]
[[port]]
name = "end"
body = "slider"
at = [0.05, 0, 0]
)";
  ReadOptions options;
  options.load = [&](const std::filesystem::path&) { return part; };
  const auto two = [&](const std::string& connection) {
    return read_model_text(R"(linkwork = 1
[settings]
end = 0.1
gravity = [0, -9.81, 0]
[[module]]
name = "a"
file = "part.toml"
[[module]]
name = "b"
file = "part.toml"
parameters = { side = -1 }
[[connection]]
name = "between"
a = "a.end"
b = "b.end"
)" + connection,
                           "light.toml", options);
  };
  // What has no mass is moved back by coordinates; in one piece by the mass matrix with a little lent, unless it is told
  // otherwise.
  for (const char* const connection :
       {"type = \"spring\"\nstiffness = 200\nlength = 0.3\n", "type = \"distance\"\nlength = 2\n"}) {
    Spec spec = two(connection);
    spec.settings.stabilization = {"projection", {{"mass", 0.0}}, {}};
    expect_one_motion(spec, connection, 1e-7);
    spec.settings.stabilization = {"none", {}, {}};
    expect_one_motion(spec, connection);
  }
}

std::string refusal(const std::string& model, const std::function<void(Settings&)>& change) {
  Spec spec = test::library_spec(model);
  change(spec.settings);
  if (spec.settings.glue.name == "auto") spec.settings.glue = {"hierarchical", {}, {}};
  try {
    std::vector<std::string> notes;
    chosen_glue(spec, notes);
    test::started_plan(spec);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// What is refused says what to do in its place.
TEST(MethodsInModules, AreRefusedInWords) {
  EXPECT_THAT(refusal("rover_modules", [](Settings& s) { s.formulation = {"gauss-ga", {}, {}}; }), HasSubstr("not linear"));
  EXPECT_THAT(refusal("rover_modules", [](Settings& s) { s.formulation = {"index3", {}, {}}; }), HasSubstr("such as schur"));
  EXPECT_THAT(refusal("rover_modules", [](Settings& s) { s.integrator = {"ida", {}, {}}; }), HasSubstr("cvode-bdf"));
  EXPECT_THAT(refusal("rover_modules",
                      [](Settings& s) {
                        s.glue = {"projection", {}, {}};
                        s.coordinates = {"CE", {}, {}};
                      }),
              HasSubstr("chooses them itself"));
  EXPECT_THAT(refusal("rover_modules",
                      [](Settings& s) {
                        s.coordinates = {"CE", {}, {}};
                        s.formulation = {"lagrange", {}, {}};
                      }),
              HasSubstr("no constraints are left"));
}

// --- integrators

class IntegratorOfModules : public testing::TestWithParam<std::string> {};

TEST_P(IntegratorOfModules, GivesTheMotionOfOnePiece) {
  const bool fixed = GetParam() == "semi-implicit-euler";
  for (const char* const name : {"rover_modules", "four_bar_modules", "gear_train_modules"}) {
    Spec spec = ready(name, GetParam() == "arkode" ? 0.02 : 0.1);
    spec.settings.integrator = parse_choice(GetParam(), {});
    spec.settings.rtol = 1e-10;
    spec.settings.atol = 1e-12;
    expect_one_motion(spec, name, fixed ? 1e-9 : 1e-7);
  }
}
INSTANTIATE_TEST_SUITE_P(Methods, IntegratorOfModules,
                         testing::Values("semi-implicit-euler", "cvode-adams", "cvode-bdf", "arkode", "dopri45"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace_if(
                               name, [](char c) { return std::isalnum(c) == 0; }, '_');
                           return name;
                         });

/// Newmark's family steps modules by their accelerations: another method than the one of one piece with its multipliers, of the
/// same order.
TEST(ImplicitIntegratorsOfModules, OfNewmarksFamilyConvergeWithOrderTwo) {
  for (const char* const integrator : {"newmark", "hht", "generalized-alpha"}) {
    Spec spec = ready("four_bar_modules", 0.4, 0.4);
    const Rows exact = test::run_in_one_piece(spec);  // rk4
    spec.settings.integrator = {integrator, {}, {}};
    spec.settings.glue = {"hierarchical", {}, {}};
    std::vector<double> errors;
    for (const double step : {8e-3, 4e-3, 2e-3}) {
      spec.settings.step = step;
      const Rows parts = test::run_modules(spec);
      ASSERT_TRUE(parts.summary.completed) << integrator << ": " << parts.summary.status;
      errors.push_back(test::largest_difference(parts, exact).first);
      EXPECT_EQ(test::run_modules(spec, 2).rows, parts.rows) << integrator;
    }
    EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2.0, 0.3) << integrator << ' ' << errors[0] << ' ' << errors[2];
  }
}

TEST(ImplicitIntegratorsOfModules, OfNewmarksFamilyTakeStiffModules) {
  Spec spec = test::library_spec("stiff_modules", {{"k", "1e6"}});
  spec.settings.end = 1.0;
  spec.settings.step = 0.01;
  spec.settings.output_every = 0.1;
  spec.settings.integrator = {"generalized-alpha", {}, {}};
  spec.settings.glue = {"hierarchical", {}, {}};
  const KeptRun run = run_model(spec);
  EXPECT_TRUE(run.summary.completed) << run.summary.status;
  EXPECT_LT(run.summary.evaluations, 3000);
}

/// The stiff spring hardly loses energy: BDF of a higher order would follow its oscillation, in one piece too.
TEST(ImplicitIntegratorsOfModules, TakeLongStepsWhereModulesAreStiff) {
  Spec spec = test::library_spec("stiff_modules", {{"k", "1e8"}});
  spec.settings.end = 1.0;
  spec.settings.output_every = 0.1;
  spec.settings.rtol = 1e-5;
  spec.settings.atol = 1e-7;
  const auto evaluations = [&](const char* integrator) {
    spec.settings.integrator = parse_choice(integrator, {});
    const KeptRun run = run_model(spec);
    EXPECT_TRUE(run.summary.completed) << integrator << ": " << run.summary.status;
    return run.summary.evaluations;
  };
  spec.settings.glue = {"hierarchical", {}, {}};
  const long bdf = evaluations("cvode-bdf:order=2"), explicit_steps = evaluations("dopri45");
  EXPECT_LT(5 * bdf, explicit_steps);
}

TEST(ImplicitIntegratorsOfModules, GoThroughEvents) {
  for (const char* const integrator : {"cvode-bdf", "arkode"})
    for (const char* const name : {"train_modules", "clutch_modules"}) {
      Spec spec = ready(name, 1.4, 0.1);
      spec.settings.integrator = {integrator, {}, {}};
      spec.settings.rtol = 1e-9;
      spec.settings.atol = 1e-11;
      expect_one_motion(spec, fmt::format("{} {}", integrator, name), 1e-6);
    }
}

/// Steps that are chosen end where something comes and goes in time, though no module sees it from where it stands.
TEST(AdaptiveIntegratorsOfModules, SeeShortPulses) {
  const std::string part = R"toml(linkwork = 1
[parameters]
at = 0
[[body]]
name = "block"
solid = { shape = "box", size = [0.1, 0.1, 0.1], mass = 1 }
[[joint]]
name = "rail"
type = "prismatic"
parent = { body = "ground" }
child = { body = "block" }
axis = [1, 0, 0]
[[force]]
type = "force"
joint = "rail"
value = "100*exp(-((t - at)/0.002)^2)"
[[port]]
name = "hook"
body = "block"
)toml";
  ReadOptions options;
  options.load = [&](const std::filesystem::path&) { return part; };
  const std::string text = R"(linkwork = 1
[settings]
end = 2
integrator = "INTEGRATOR"
output_every = 0.1
[[module]]
name = "a"
file = "part.toml"
parameters = { at = 0.7 }
[[module]]
name = "b"
file = "part.toml"
parameters = { at = 1.4 }
[[connection]]
name = "spring"
type = "spring"
a = "a.hook"
b = "b.hook"
stiffness = 1
length = 0
)";
  for (const std::string integrator : {"dopri45", "cvode-bdf"}) {
    std::string own = text;
    own.replace(own.find("INTEGRATOR"), 10, integrator);
    expect_one_motion(read_model_text(own, "pulses.toml", options), integrator, 1e-4);
  }
}

// --- contradictions

/// Two sliders that drives accelerate, joined where they begin.
TEST(Contradiction, OfModulesWithAJointBetweenThemIsNamedIfItIsReal) {
  const std::string part = R"toml(linkwork = 1
[parameters]
acceleration = 1
[[body]]
name = "block"
mass = 1
inertia = [1, 1, 1]
[[joint]]
name = "rail"
type = "prismatic"
parent = { body = "ground" }
child = { body = "block" }
axis = [0.36, 0.48, 0.8]
[[closure]]
name = "lead"
type = "drive"
joint = "rail"
value = "0.5*acceleration*t^2"
[[port]]
name = "hook"
body = "block"
)toml";
  ReadOptions options;
  options.load = [&](const std::filesystem::path&) { return part; };
  for (const double second : {3.0, 5.01, 5.0}) {
    const std::string text = fmt::format(R"(linkwork = 1
[settings]
end = 0.01
glue = "hierarchical"
[[module]]
name = "a"
file = "part.toml"
parameters = {{ acceleration = 5 }}
[[module]]
name = "b"
file = "part.toml"
parameters = {{ acceleration = {} }}
[[connection]]
name = "both"
type = "point"
a = "a.hook"
b = "b.hook"
)",
                                         second);
    Spec spec = read_model_text(text, "drives.toml", options);
    const Summary summary = run_model(spec).summary;
    EXPECT_EQ(summary.completed, second == 5.0) << summary.status;
    if (second != 5.0) {
      EXPECT_THAT(summary.status, testing::HasSubstr("connection 'both' contradicts")) << second;
    } else {  // nothing is left for projections to find, either
      spec.settings.glue = {"projection", {}, {}};
      const Summary projected = run_model(spec).summary;
      EXPECT_TRUE(projected.completed) << projected.status;
    }
  }
}

/// Where light bodies carry heavy ones accelerations are large, and with them what rounding leaves of dependent rows.
TEST(Contradiction, IsNotSaidOfRoundingBesideLargeAccelerations) {
  for (const std::uint64_t seed : {91000016u, 91000135u}) {
    const test::AssemblyVerdict comparison = test::compare_with_one_piece(test::assembly_in("smooth", seed), 1e-7);
    EXPECT_EQ(comparison.kind, test::AssemblyVerdict::Kind::kSame) << seed << ": " << comparison.words;
  }
}

// --- random assemblies

class RandomAssemblies : public testing::TestWithParam<std::string> {};

/// ./dev attack --assemblies does the same for as long as one likes.
TEST_P(RandomAssemblies, MoveAsInOnePieceOrAreRefusedInWords) {
  constexpr int kAssemblies = test::tries(30);
  const double tolerance = GetParam() == "bdf" ? 1e-6 : 1e-7;
  int same = 0, compared = 0;
  for (std::uint64_t seed = 1; seed <= kAssemblies; ++seed) {
    const test::AssemblyVerdict comparison = test::compare_with_one_piece(test::assembly_in(GetParam(), seed), tolerance);
    using Kind = test::AssemblyVerdict::Kind;
    EXPECT_NE(comparison.kind, Kind::kDiffers) << "seed " << seed << ": " << comparison.difference << ' ' << comparison.words;
    if (comparison.kind != Kind::kLeftOut) ++compared;
    if (comparison.kind == Kind::kSame) ++same;
  }
  EXPECT_GE(compared, kAssemblies / 2);
  EXPECT_GE(same, compared * 7 / 10);
}
INSTANTIATE_TEST_SUITE_P(Ways, RandomAssemblies, testing::ValuesIn(test::assembly_modes()));

}  // namespace
}  // namespace linkwork
