// Efforts of inverse dynamics, played back as recorded inputs, give the motion again: five-bar, 3-RRR, Stewart platform, delta
// robot; motions of joints and of the tool.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>

#include "linkwork/analysis/inverse_dynamics.h"
#include "linkwork/io/motion_file.h"
#include "linkwork/simulation/simulation.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using testing::HasSubstr;

std::string rod_on(const std::string& name, const std::string& parent, double x, double y, double length, double angle) {
  return fmt::format(R"(
[[body]]
name = "{0}"
solid = {{ shape = "rod", from = [0, 0, 0], to = [{4}, 0, 0], mass = 1.0 }}
[[joint]]
name = "{0}"
type = "revolute"
parent = {{ body = "{1}", at = [{2}, {3}, 0] }}
child = {{ body = "{0}" }}
position = {5}
)",
                     name, parent, x, y, length, angle);
}

std::string five_bar() {
  return "settings.gravity = [0, -9.81, 0]\n" + rod_on("left", "ground", 0, 0, 0.5, 2.0) +
         rod_on("left2", "left", 0.5, 0, 0.8, -1.1) + rod_on("right", "ground", 1, 0, 0.5, 1.1) +
         rod_on("right2", "right", 0.5, 0, 0.8, 1.1) + R"(
[[closure]]
name = "tip"
type = "pin"
a = { body = "left2", at = [0.8, 0, 0] }
b = { body = "right2", at = [0.8, 0, 0] }
[[sensor]]
name = "tool"
type = "point"
body = "left2"
at = [0.8, 0, 0]
)";
}

/// Three cranks of 0.5 m and rods of 0.7 m hold a triangle.
std::string three_rrr() {
  std::string toml = "settings.gravity = [0, -9.81, 0]\n";
  std::array<double, 3> azimuth{};
  for (std::size_t i = 0; i < 3; ++i) {
    azimuth[i] = 0.5 * std::numbers::pi + static_cast<double>(i) * 2.0 * std::numbers::pi / 3.0;
    const double c = std::cos(azimuth[i]), s = std::sin(azimuth[i]),
                 crank = azimuth[i] + std::numbers::pi + std::acos(0.25 / 0.7);
    const double ex = c + 0.5 * std::cos(crank), ey = s + 0.5 * std::sin(crank), rod = std::atan2(0.3 * s - ey, 0.3 * c - ex);
    toml += rod_on(fmt::format("crank{}", i), "ground", c, s, 0.5, crank);
    toml += rod_on(fmt::format("rod{}", i), fmt::format("crank{}", i), 0.5, 0, 0.7, rod - crank);
    if (i == 0)
      toml += fmt::format(R"(
[[body]]
name = "plate"
mass = 2.0
inertia = [0.05, 0.05, 0.1]
[[joint]]
name = "plate"
type = "revolute"
parent = {{ body = "rod0", at = [0.7, 0, 0] }}
child = {{ body = "plate", at = [{}, {}, 0] }}
position = {}
)",
                          0.3 * c, 0.3 * s, -rod);
    else
      toml += fmt::format(R"(
[[closure]]
name = "corner{0}"
type = "pin"
a = {{ body = "rod{0}", at = [0.7, 0, 0] }}
b = {{ body = "plate", at = [{1}, {2}, 0] }}
)",
                          i, 0.3 * c, 0.3 * s);
  }
  return toml + R"(
[[sensor]]
name = "middle"
type = "point"
body = "plate"
[[sensor]]
name = "side"
type = "point"
body = "plate"
at = [0.3, 0, 0]
)";
}

double value_of(const Simulation& run, const std::string& column, const std::vector<double>& row) {
  const auto& columns = run.columns();
  const auto found = std::ranges::find(columns, column);
  EXPECT_NE(found, columns.end()) << column;
  return row[static_cast<std::size_t>(found - columns.begin())];
}

/// Moves `columns` smoothly about the start, finds the efforts, and plays them back.
void play(Spec spec, const std::string& name, const std::vector<std::string>& columns, const std::vector<std::string>& actuators,
          const char* effort, double amplitude) {
  constexpr double kEnd = 0.5, kEvery = 1e-3;
  std::erase_if(spec.closures, [](const ClosureSpec& closure) { return closure.type == "drive"; });
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.integrator = {"rk4", {}, {}};
  spec.settings.step = 5e-4, spec.settings.end = kEnd, spec.settings.output_every = kEvery;
  for (JointSpec& joint : spec.joints) joint.velocity.clear();
  Simulation start(build_model(spec));
  start.advance_to(0.0);
  const std::vector<double> at_start = start.row();
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / ("linkwork_playback_" + name);
  std::filesystem::create_directories(folder);
  const auto moved = [&](std::size_t k, double t) {
    return value_of(start, columns[k], at_start) +
           amplitude * (1.0 + 0.3 * static_cast<double>(k)) * std::pow(1.0 - std::cos(4.0 * t), 2) * (k % 2 == 0 ? 1.0 : -0.7);
  };
  std::ofstream file(folder / "motion.csv");
  file.precision(17);
  file << "t";
  for (const std::string& column : columns) file << "," << column;
  for (int i = 0; i <= 500; ++i) {
    file << "\n" << i * kEvery;
    for (std::size_t k = 0; k < columns.size(); ++k) file << "," << moved(k, i * kEvery);
  }
  file << "\n";
  file.close();
  Spec driven = spec;
  add_drives(driven, folder / "motion.csv", false);
  const InverseMotion inverse = inverse_motion(std::make_shared<const Model>(build_model(driven)), actuators);
  ASSERT_EQ(inverse.rows.size(), 501U);
  for (std::size_t k = 0; k < actuators.size(); ++k) {
    std::vector<double> t, values;
    for (const auto& row : inverse.rows) t.push_back(row[0]), values.push_back(row[k + 1]);
    InputSpec input;
    input.name = fmt::format("motor{}", k);
    input.data = std::make_shared<const Curve>(input.name, t, values, Curve::Interpolation::kCubic, Curve::Beyond::kHold);
    spec.inputs.push_back(input);
    ForceSpec motor;
    motor.type = effort, motor.joint = actuators[k];
    motor.value = Expression::linear({"u." + input.name}, {1.0}, 0.0, {});
    spec.forces.push_back(motor);
  }
  Simulation forward(build_model(spec));
  ASSERT_TRUE(forward.advance_to(0.4));
  const std::vector<double> row = forward.row();
  for (std::size_t k = 0; k < columns.size(); ++k)
    EXPECT_NEAR(value_of(forward, columns[k], row), moved(k, 0.4), 1e-6) << columns[k];
}

TEST(Playback, OfAFiveBarWhoseToolIsMoved) {
  play(test::spec_of(five_bar()), "five_bar", {"p.tool.x", "p.tool.y"}, {"left", "right"}, "torque", 0.02);
}

TEST(Playback, OfAThreeRrrWhosePlateIsMovedAndTurned) {
  play(test::spec_of(three_rrr()), "three_rrr", {"p.middle.x", "p.middle.y", "p.side.y"}, {"crank0", "crank1", "crank2"},
       "torque", 0.01);
}

TEST(Playback, OfAStewartPlatform) {
  std::vector<std::string> legs, columns;
  for (int i = 1; i <= 6; ++i) legs.push_back(fmt::format("extend{}", i)), columns.push_back("q." + legs.back());
  play(test::library_spec("stewart"), "stewart", columns, legs, "force", 0.005);
}

TEST(Playback, OfADeltaRobot) {
  std::vector<std::string> hips, columns;
  for (int i = 1; i <= 3; ++i) hips.push_back(fmt::format("hip{}", i)), columns.push_back("q." + hips.back());
  play(test::library_spec("delta"), "delta", columns, hips, "torque", 0.02);
}

/// A hull that floats, with an arm of two joints about generic axes; no gravity holds it.
std::string satellite() {
  return R"(
settings.gravity = [0, 0, -0.3]
[[body]]
name = "hull"
mass = 5.0
com = [0.05, -0.02, 0.1]
inertia = [0.4, 0.5, 0.3]
[[joint]]
name = "base"
type = "free"
parent = { body = "ground", at = [0.1, 0.2, 0.3], rotation = { axis = [1, 1, 0], angle = 0.4 } }
child = { body = "hull", at = [0, 0.05, 0] }
position = [0.2, -0.1, 0.3, 0.9, 0.1, -0.3, 0.2]
velocity = [0.1, 0, -0.05, 0.2, -0.1, 0.3]
[[body]]
name = "upper"
mass = 1.5
com = [0.2, 0, 0]
inertia = [0.02, 0.05, 0.06]
[[joint]]
name = "shoulder"
type = "revolute"
parent = { body = "hull", at = [0.3, 0, 0.1] }
child = { body = "upper" }
axis = [0.2, 1, 0.3]
[[body]]
name = "fore"
mass = 0.8
com = [0.15, 0.02, 0]
inertia = [0.01, 0.02, 0.02]
[[joint]]
name = "elbow"
type = "revolute"
parent = { body = "upper", at = [0.4, 0, 0] }
child = { body = "fore" }
axis = [0, 0.3, 1]
position = 0.5
damping = 0.05
)";
}

constexpr double kFloatEnd = 0.6, kFloatEvery = 1e-3;

Spec driven_satellite() {
  Spec spec = test::spec_of(satellite() + R"toml(
[[closure]]
name = "drive1"
type = "drive"
joint = "shoulder"
value = "0.8*(1 - cos(3*t))"
[[closure]]
name = "drive2"
type = "drive"
joint = "elbow"
value = "0.5 - 0.6*sin(2*t)^2"
)toml");
  spec.settings.integrator = {"rk4", {}, {}};
  spec.settings.step = 1e-3, spec.settings.end = kFloatEnd, spec.settings.output_every = kFloatEvery;
  return spec;
}

/// The model without drives, its joints pushed by the efforts of rows.
Spec pushed_satellite(const InverseMotion& inverse) {
  Spec spec = driven_satellite();
  spec.closures.clear();
  for (const char* const joint : {"shoulder", "elbow"}) {
    const auto column =
        static_cast<std::size_t>(std::ranges::find(inverse.columns, fmt::format("effort.{}", joint)) - inverse.columns.begin());
    std::vector<double> t, values;
    for (const auto& row : inverse.rows) t.push_back(row[0]), values.push_back(row[column]);
    InputSpec input;
    input.name = fmt::format("motor_{}", joint);
    input.data = std::make_shared<const Curve>(input.name, t, values, Curve::Interpolation::kCubic, Curve::Beyond::kHold);
    spec.inputs.push_back(input);
    ForceSpec motor;
    motor.type = "torque", motor.joint = joint;
    motor.value = Expression::linear({"u." + input.name}, {1.0}, 0.0, {});
    spec.forces.push_back(motor);
  }
  return spec;
}

/// The drives' run itself is the reference: of the base as well, which no one drives.
TEST(Playback, OfARobotThatFloatsMovesItsBaseToo) {
  const Spec spec = driven_satellite();
  const InverseMotion inverse = inverse_motion(std::make_shared<const Model>(build_model(spec)), {});
  EXPECT_EQ(inverse.actuators, (std::vector<std::string>{"shoulder", "elbow"}));
  EXPECT_THAT(inverse.notes, testing::Contains(HasSubstr("'base' moves as the equations of motion make it")));
  ASSERT_EQ(inverse.rows.size(), 601U);
  Simulation reference(build_model(spec)), forward(build_model(pushed_satellite(inverse)));
  ASSERT_TRUE(reference.advance_to(kFloatEnd));
  ASSERT_TRUE(forward.advance_to(kFloatEnd));
  const std::vector<double> expected = reference.row(), row = forward.row();
  for (const char* const column : {"q.base.x", "q.base.y", "q.base.z", "q.base.qw", "q.base.qx", "q.base.qy", "q.base.qz",
                                   "q.shoulder", "q.elbow", "v.base.wx", "v.elbow"})
    EXPECT_NEAR(value_of(forward, column, row), value_of(reference, column, expected), 1e-6) << column;
}

/// A motion of base and joints that was recorded is one that the motors of the joints can make.
TEST(Playback, OfARobotThatFloatsWithTheMotionOfItsBaseGiven) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "linkwork_playback_base";
  std::filesystem::create_directories(folder);
  const std::vector<std::string> names{"q.base.x",  "q.base.y",  "q.base.z",   "q.base.qw", "q.base.qx",
                                       "q.base.qy", "q.base.qz", "q.shoulder", "q.elbow"};
  Simulation recorded(build_model(driven_satellite()));
  std::ofstream file(folder / "motion.csv");
  file.precision(17);
  file << "t";
  for (const std::string& name : names) file << "," << name;
  recorded.run({.row = [&](std::span<const double> row) {
    file << "\n" << row[0];
    for (const std::string& name : names) file << "," << value_of(recorded, name, std::vector<double>(row.begin(), row.end()));
  }});
  file << "\n";
  file.close();
  const InverseMotion expected = inverse_motion(std::make_shared<const Model>(build_model(driven_satellite())), {});
  Spec spec = driven_satellite();
  spec.closures.clear();
  add_drives(spec, folder / "motion.csv", false);
  const auto model = std::make_shared<const Model>(build_model(spec));
  const InverseMotion inverse = inverse_motion(model, {"shoulder", "elbow"});
  EXPECT_THAT(inverse.notes, testing::Contains(HasSubstr("'base' has no motors")));
  ASSERT_EQ(inverse.rows.size(), expected.rows.size());
  for (std::size_t r = 20; r + 20 < expected.rows.size(); r += 40)
    for (std::size_t c = 1; c <= 2; ++c) EXPECT_NEAR(inverse.rows[r][c], expected.rows[r][c], 1e-4) << r;
  // With motors on the base as well, they have next to nothing to do.
  const InverseMotion held = inverse_motion(model, {"base", "shoulder", "elbow"});
  EXPECT_EQ(held.columns[1], "effort.base.x");
  for (std::size_t r = 20; r + 20 < held.rows.size(); r += 40)
    for (std::size_t c = 1; c <= 6; ++c) EXPECT_NEAR(held.rows[r][c], 0.0, 1e-3) << r;
}

TEST(Playback, OfABaseThatIsHeldNamesTheForcesThatItTakes) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "linkwork_playback_held";
  std::filesystem::create_directories(folder);
  std::ofstream file(folder / "motion.csv");
  file << "t,q.base.x,q.base.y,q.base.z,q.base.qw,q.base.qx,q.base.qy,q.base.qz,q.shoulder,q.elbow\n";
  for (int i = 0; i <= 20; ++i)
    file << 0.05 * i << ",0.2,-0.1,0.3,1,0,0,0," << 0.3 * std::sin(0.1 * i) << "," << 0.5 + 0.2 * std::cos(0.1 * i) << "\n";
  file.close();
  Spec spec = test::spec_of(satellite());
  for (JointSpec& joint : spec.joints) joint.velocity.clear();
  add_drives(spec, folder / "motion.csv", false);
  const auto model = std::make_shared<const Model>(build_model(spec));
  try {
    inverse_motion(model, {"shoulder", "elbow"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.message(), HasSubstr("drive 2 of 8 degrees of freedom"));
    EXPECT_THAT(error.message(), HasSubstr("along 'base."));
  }
  // Held by its own motors, it takes what a hand calculation of the weight says, on average over a slow motion.
  const InverseMotion held = inverse_motion(model, {"base", "shoulder", "elbow"});
  EXPECT_EQ(held.freedoms, 8);
  // What is driven but for the elbow leaves more than the base to itself.
  Spec loose = driven_satellite();
  loose.closures.pop_back();
  try {
    inverse_motion(std::make_shared<const Model>(build_model(loose)), {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.message(), HasSubstr("'elbow' free, beside what floats"));
  }
}

TEST(Playback, SaysWhatIsMissing) {
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "linkwork_playback_words";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "tool.csv") << "t,p.tool.x,p.tool.y\n0,0.5,1\n0.1,0.5,1\n0.2,0.5,1\n0.3,0.5,1\n";
  std::ofstream(folder / "wrong.csv") << "t,p.tol.x\n0,0.5\n0.1,0.5\n0.2,0.5\n0.3,0.5\n";
  Spec spec = test::spec_of(five_bar()), other = spec;
  add_drives(spec, folder / "tool.csv", false);
  const auto model = std::make_shared<const Model>(build_model(spec));
  try {
    inverse_motion(model, {});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.message(), HasSubstr("which joints have motors"));
  }
  try {
    inverse_motion(model, {"left"});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.message(), HasSubstr("cannot drive 2 degrees of freedom"));
  }
  EXPECT_THAT(inverse_motion(model, {"left", "right", "left2"}).notes.front(), HasSubstr("least squares"));
  EXPECT_THROW(add_drives(other, folder / "wrong.csv", false), InputError);
}

}  // namespace
}  // namespace linkwork
