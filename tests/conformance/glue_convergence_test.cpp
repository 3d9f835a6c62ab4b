#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "linkwork/io/model_file.h"
#include "linkwork/modules/glues/waveform_rate.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using test::Rows;
using testing::HasSubstr;

Spec with_glue(const std::string& model, const std::string& glue,
               const std::vector<std::pair<std::string, std::string>>& set = {}) {
  Spec spec = test::library_spec(model, set);
  spec.settings.glue = parse_choice(glue, {});
  return spec;
}

/// A module with a stiff spring inside, at steps that do not follow it: the slow motion is right to second order.
TEST(Gluing, ConvergesWithStiffModules) {
  for (const char* const k : {"1e3", "1e4", "1e5", "1e6"}) {
    Spec spec = with_glue("stiff_modules", "gluing:rho=0.2", {{"k", k}});
    spec.settings.step = spec.settings.output_every = 0.05;
    const Rows rows = test::run_modules(spec);
    ASSERT_TRUE(rows.summary.completed) << k << ": " << rows.summary.status;
    EXPECT_LE(rows.summary.modules->most_iterations, 12) << k;
    Spec fine = with_glue("stiff_modules", "hierarchical", {{"k", k}});
    fine.settings.step = 2e-4;
    fine.settings.end = spec.settings.end;
    fine.settings.output_every = 0.05;
    const Rows whole = test::run_modules(fine);
    EXPECT_NEAR(rows.last("q.left.rail"), whole.last("q.left.rail"), 5e-3) << k;
  }
}

/// The example of [Tseng2001] in Cartesian coordinates: bars that move by themselves, pinned to a parallelogram.
TEST(Gluing, KeepsTheEnergyOfTheCartesianParallelogram) {
  const std::string link = R"(linkwork = 1
[parameters]
m = 10
J = 1
l = 1
x = 0
y = 0
angle = 0
vx = 0
w = 0
slope = 0
[[body]]
name = "link"
mass = "m"
inertia = ["J", "J", "J"]
[[joint]]
name = "place"
type = "planar"
parent = { body = "ground" }
child = { body = "link" }
position = ["x", "y", "angle"]
velocity = ["vx", 0, "w"]
[[force]]
type = "torque"
joint = "place.angle"
value = "slope*t"
[[port]]
name = "begin"
body = "link"
at = ["-l/2", 0, 0]
[[port]]
name = "end"
body = "link"
at = ["l/2", 0, 0]
)";
  ReadOptions options;
  options.load = [&](const std::filesystem::path&) { return link; };
  Spec spec = read_model_text(R"(linkwork = 1
[settings]
gravity = [0, 0, 0]
end = 4
step = 0.04
output_every = 0.04
[[module]]
name = "left"
file = "link.toml"
parameters = { y = 0.5, angle = "pi/2", vx = "-pi", w = "2*pi", slope = -2 }
[[module]]
name = "coupler"
file = "link.toml"
parameters = { m = 20, J = 2, l = 2, x = 1, y = 1, vx = "-2*pi" }
[[module]]
name = "right"
file = "link.toml"
parameters = { x = 2, y = 0.5, angle = "pi/2", vx = "-pi", w = "2*pi" }
[[port]]
name = "far"
body = "ground"
at = [2, 0, 0]
[[connection]]
name = "A"
type = "pin"
a = "ground"
b = "left.begin"
[[connection]]
name = "B"
type = "pin"
a = "left.end"
b = "coupler.begin"
[[connection]]
name = "C"
type = "pin"
a = "coupler.end"
b = "right.end"
[[connection]]
name = "E"
type = "pin"
a = "far"
b = "right.begin"
)",
                              "cartesian.toml", options);
  spec.settings.glue = parse_choice("gluing", {});
  const Rows rows = test::run_modules(spec);
  ASSERT_TRUE(rows.summary.completed) << rows.summary.status;
  // (J_left + J_right + m_coupler) wdot = -2 t about the pivots, with the cranks' inertias about them; all links turn as one.
  const double inertia = 2.0 * (1.0 + 10.0 * 0.25) + 20.0;
  const std::vector<double> t = rows.of("t"), w = rows.of("v.left.place.angle");
  for (std::size_t k = 0; k < t.size(); ++k)
    EXPECT_NEAR(w[k], 2.0 * std::numbers::pi - t[k] * t[k] / inertia, 0.02) << "t = " << t[k];
}

/// A chain of n masses between rods of one dof, as waveform relaxation sees it: its rate is measured by iterating on numbers.
TEST(Waveform, AnnouncesTheRateOfAnyNumberOfModules) {
  for (const int n : {2, 4, 8}) {
    WaveCoupling coupling;
    for (int m = 0; m < n; ++m) {
      MatX<double> D(2, 2);
      D << 1.0, 0.4, 0.4, 0.8 + 0.1 * m;
      coupling.D.push_back(D);
      MatX<double> G = MatX<double>::Zero(n - 1, 2);
      if (m > 0) G(m - 1, 0) = 1.0;
      if (m < n - 1) G(m, 1) = -1.0;
      coupling.G.push_back(G);
      coupling.order.push_back(m);
      if (m > 0) coupling.follower.push_back(m);
    }
    ASSERT_TRUE(coupling.can_follow());
    for (const double weight : {1.0, 0.6, coupling.best_weight()}) {
      // The same iteration, module by module, on random errors.
      VecX<double> xdd = VecX<double>::LinSpaced(2 * n, -1.0, 1.3), lambda = VecX<double>::LinSpaced(n - 1, 0.7, -0.2);
      double rate = 0.0;
      for (int k = 0; k < 400; ++k) {
        for (int m = 0; m < n; ++m) {
          const MatX<double>& D = coupling.D[static_cast<std::size_t>(m)];
          Eigen::Vector2d Q = Eigen::Vector2d::Zero();
          if (m < n - 1) Q[1] -= lambda[m];
          if (m > 0) {
            const double unmet = xdd[2 * m - 1] - (D * Q)[0];
            lambda[m - 1] = (1.0 - weight) * lambda[m - 1] + weight * unmet / D(0, 0);
            Q[0] += lambda[m - 1];
          }
          xdd.segment<2>(2 * m) = D * Q;
        }
        const double size = std::sqrt(xdd.squaredNorm() + lambda.squaredNorm());
        if (k >= 200) rate += std::log(size) / 200.0;
        xdd /= size, lambda /= size;
      }
      EXPECT_NEAR(std::exp(rate), coupling.contraction(weight), 0.02 * coupling.contraction(weight)) << n << ", " << weight;
    }
    EXPECT_LE(coupling.contraction(coupling.best_weight()), coupling.contraction(1.0));
  }
}

/// The change that a run of so many iterations ends with, as it says itself.
double change_after(int iterations, const std::string& modules) {
  const Spec spec =
      with_glue("chain_modules", fmt::format("waveform:window=1,tolerance=1e-15,most={}", iterations), {{"n", modules}});
  const std::string status = test::run_modules(spec).summary.status, words = "changed the motion by ";
  EXPECT_THAT(status, HasSubstr(words));
  return std::stod(status.substr(status.find(words) + words.size()));
}

TEST(Waveform, ContractsAsAnnouncedAndTakesAsManyIterationsAsThatAsksFor) {
  struct Case {
    const char* modules;
    int first, last;  // iterations between which it is measured
  };
  for (const auto& [modules, first, last] : {Case{"2", 10, 14}, Case{"4", 30, 60}, Case{"8", 20, 80}}) {
    Spec spec = with_glue("chain_modules", "waveform", {{"n", modules}});
    spec.settings.end = 0.005;
    const Rows rows = test::run_modules(spec);
    ASSERT_TRUE(rows.summary.completed) << modules << ": " << rows.summary.status;
    const std::string note = rows.summary.notes.back(), words = " to ";
    ASSERT_THAT(note, HasSubstr("rho = "));
    ASSERT_THAT(note, HasSubstr(words));
    const double announced = std::stod(note.substr(note.find(words) + words.size()));
    EXPECT_NEAR(std::pow(change_after(last, modules) / change_after(first, modules), 1.0 / (last - first)), announced, 0.02)
        << modules << ": " << note;
  }
}

}  // namespace
}  // namespace linkwork
