#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "linkwork/io/model_file.h"
#include "tests/support/recorded_run.h"

namespace linkwork {
namespace {

using test::RecordedRun;
using testing::HasSubstr;

/// A free body of 2 kg with the inertias 0.3, 0.4, 0.5 on a bushing at its centre, without gravity.
Spec on_bushing(const std::string& bushing, const std::string& start, const std::string& settings = "") {
  return read_model_text(fmt::format(R"(linkwork = 1
[settings]
gravity = [0, 0, 0]
integrator = "dopri45"
rtol = 1e-11
atol = 1e-12
{}
[[body]]
name = "block"
mass = 2
inertia = [0.3, 0.4, 0.5]
[[joint]]
name = "free"
type = "free"
parent = {{ body = "ground" }}
child = {{ body = "block" }}
{}
[[force]]
name = "mount"
type = "bushing"
a = {{ body = "ground" }}
b = {{ body = "block" }}
{}
)",
                                     settings, start, bushing),
                         "mount.toml");
}

TEST(Bushing, SwingsInEachDirectionAsItsStiffnessSays) {
  // Along x, y, z with 50, 60, 70 N/m; about them with 5, 6, 7 N m/rad. Small turns; one at a time.
  const std::string stiff = "force_stiffness = [50, 60, 70]\ntorque_stiffness = [5, 6, 7]";
  const std::array<double, 6> rate{std::sqrt(50.0 / 2.0), std::sqrt(60.0 / 2.0), std::sqrt(70.0 / 2.0),
                                   std::sqrt(5.0 / 0.3),  std::sqrt(6.0 / 0.4),  std::sqrt(7.0 / 0.5)};
  for (std::size_t k = 0; k < 6; ++k) {
    std::array<double, 6> v{};
    v[k] = 0.3;
    Spec spec = on_bushing(stiff, fmt::format("velocity = [{}]", fmt::join(v, ", ")));
    spec.settings.end = 1.0;
    const RecordedRun run(spec);
    const std::array<const char*, 6> column{"v.free.x", "v.free.y", "v.free.z", "v.free.wx", "v.free.wy", "v.free.wz"};
    EXPECT_NEAR(run.last(column[k]), 0.3 * std::cos(rate[k]), 1e-8) << column[k];
    EXPECT_LT(run.summary.energy_drift, 1e-9);
  }
}

TEST(Bushing, TurnsFreelyAboutTheOneAxisWithoutStiffness) {
  for (int axis = 0; axis < 3; ++axis) {
    std::array<double, 3> torque{400.0, 500.0, 600.0}, w{0.02, 0.03, 0.01};
    torque[static_cast<std::size_t>(axis)] = 0.0;
    w[static_cast<std::size_t>(axis)] = 9.0;
    Spec spec = on_bushing(fmt::format("force_stiffness = [900, 900, 900]\ntorque_stiffness = [{}]", fmt::join(torque, ", ")),
                           fmt::format("velocity = [0, 0, 0, {}]", fmt::join(w, ", ")));
    spec.settings.end = 2.0;  // almost three turns
    const RecordedRun run(spec);
    EXPECT_TRUE(run.summary.completed);
    EXPECT_LT(run.summary.energy_drift, 1e-8) << axis;
    EXPECT_NEAR(run.last(fmt::format("v.free.w{}", "xyz"[axis])), 9.0, 0.05) << axis;
  }
}

TEST(Bushing, LosesWhatItsDampersTake) {
  Spec spec = on_bushing("force_stiffness = [50, 60, 70]\nforce_damping = [1, 2, 3]\ntorque_damping = [0.1, 0.2, 0.3]",
                         "velocity = [1, -2, 0.5, 1, 2, 3]\nposition = [0.1, 0.2, -0.3, 0.8, 0.1, 0.4, -0.3]");
  spec.settings.end = 3.0;
  const RecordedRun run(spec);
  EXPECT_LT(run.summary.energy_drift, 1e-9) << "work of the dampers is accounted for";
  EXPECT_LT(run.last("energy.total"), 0.5 * run.rows.front()[run.column("energy.total")]);
  EXPECT_LT(run.last("power.mount"), 1e-6);
}

TEST(Bushing, ShowsItsLoadAndCanBeSwitchedOff) {
  Spec spec = on_bushing("force_stiffness = [50, 60, 70]\nactive = true", "position = [0.1, 0, 0, 1, 0, 0, 0]");
  spec.settings.end = 0.02;
  EXPECT_NEAR(RecordedRun(spec).rows.front()[RecordedRun(spec).column("load.mount.fx")], -5.0, 1e-12);
  Spec off = on_bushing("force_stiffness = [50, 60, 70]\nactive = false", "position = [0.1, 0, 0, 1, 0, 0, 0]");
  off.settings.end = 0.02;
  EXPECT_EQ(RecordedRun(off).last("q.free.x"), 0.1);
}

TEST(Bushing, MovesTheSameInAllCoordinatesAndWithStiffMethods) {
  const std::string start = "velocity = [1, -2, 0.5, 1, 2, 3]";
  const std::string law = "force_stiffness = [50, 60, 70]\ntorque_stiffness = [9, 8, 0]\ntorque_damping = [0.1, 0.1, 0]";
  Spec plain = on_bushing(law, start);
  plain.settings.end = 0.5;
  const RecordedRun reference(plain);
  for (const char* coordinates : {"FA", "TA"}) {
    Spec other = plain;
    other.settings.coordinates = {coordinates, {}, {}};
    EXPECT_NEAR(RecordedRun(other).last("q.free.x"), reference.last("q.free.x"), 1e-8);
  }
  Spec stiff = plain;
  stiff.settings.integrator = {"cvode-bdf", {}, {}};
  stiff.settings.rtol = 1e-9;
  EXPECT_NEAR(RecordedRun(stiff).last("q.free.x"), reference.last("q.free.x"), 1e-5);
}

TEST(Bushing, WithoutAnythingInItIsRefused) {
  EXPECT_THROW(on_bushing("", ""), InputError);
  EXPECT_THROW(on_bushing("force_stiffness = [1, 2]", ""), InputError);
  EXPECT_THROW(on_bushing("force_stiffness = [1, 2, -3]", ""), InputError);
}

}  // namespace
}  // namespace linkwork
