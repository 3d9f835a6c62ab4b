#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "linkwork/integrators/tableau.h"
#include "linkwork/io/model_file.h"
#include "linkwork/modules/glues/compliance_stability.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using test::Rows;
using testing::AnyOf;
using testing::HasSubstr;

const std::vector<std::string> kConnections{"pin",       "point",     "distance",      "point-on-line", "point-on-plane",
                                            "revolute",  "prismatic", "screw",         "cylindrical",   "universal",
                                            "spherical", "planar",    "translational", "weld"};

/// An arm, and a body that moves by itself, joined in some way: sizes by chance, masses over some decades, frames turned anyhow.
Spec arm_with_load(const std::string& type, unsigned seed, double decades) {
  std::mt19937 random(seed);
  const auto between = [&](double low, double high) { return low + 0.5 * (high - low) * (1.0 + test::uniform(random)); };
  const auto direction = [&] {
    const VecX<double> v = test::uniform_vector(random, 3).normalized();
    return fmt::format("[{}, {}, {}]", v[0], v[1], v[2]);
  };
  const auto box = [&](double length, double mass) {
    return fmt::format("solid = {{ shape = \"box\", center = [{}, 0, 0], size = [{}, {}, {}], mass = {} }}\n", 0.5 * length,
                       length, between(0.05, 0.3) * length, between(0.05, 0.3) * length, mass);
  };
  const double upper = between(0.1, 1.0), fore = between(0.1, 1.0), load = between(0.1, 1.0);
  const auto mass = [&] { return std::pow(10.0, between(-0.5 * decades, 0.5 * decades)); };
  const auto body = [&](const char* name, double length) {
    return fmt::format("[[body]]\nname = \"{}\"\n{}", name, box(length, mass()));
  };
  const auto hinge = [&](const char* name, const std::string& parent, const char* child) {
    return fmt::format(
        "[[joint]]\nname = \"{}\"\ntype = \"revolute\"\naxis = {}\nparent = {{ {} }}\nchild = {{ body = \"{}\" }}\nvelocity = "
        "{}\ndamping = {}\n",
        name, direction(), parent, child, between(-1.0, 1.0), std::pow(10.0, between(-6.0, 0.0)));
  };
  const auto port = [&](const char* name, const char* of, double length) {
    return fmt::format("[[port]]\nname = \"{}\"\nbody = \"{}\"\nat = [{}, {}, {}]\n", name, of, length, between(-0.1, 0.1),
                       between(-0.1, 0.1));
  };
  const std::string arm_file =
      "linkwork = 1\n" + body("upper", upper) + body("fore", fore) + hinge("shoulder", "body = \"ground\"", "upper") +
      hinge("elbow", fmt::format("body = \"upper\", at = [{}, 0, 0]", upper), "fore") + port("hand", "fore", fore);
  const std::string load_file =
      "linkwork = 1\n" + body("box", load) +
      fmt::format(
          "[[joint]]\nname = \"float\"\ntype = \"free\"\nparent = {{ body = \"ground\" }}\nchild = {{ body = \"box\" }}\n"
          "position = [{}, 0, 0, 1, 0, 0, 0]\n",
          upper + fore) +
      port("knob", "box", 0.2 * load);
  const std::string more = type == "screw"      ? "pitch = 0.1\n"
                           : type == "distance" ? "length = 0.3\n"
                           : type == "point" || type == "spherical" || type == "weld" || type == "translational" ? ""
                           : type == "universal" ? "axis = [0, 0, 1]\n"
                                                 : "axis = " + direction() + "\n";
  ReadOptions options;
  options.load = [&](const std::filesystem::path& file) { return file.filename() == "arm.toml" ? arm_file : load_file; };
  return read_model_text(
      fmt::format("linkwork = 1\n[settings]\ngravity = [0, 0, -9.81]\nend = 2\nstep = 1e-3\noutput_every = 0.1\n"
                  "glue = \"compliance\"\n[[module]]\nname = \"arm\"\nfile = \"arm.toml\"\n[[module]]\nname = "
                  "\"load\"\nfile = \"load.toml\"\n[[connection]]\nname = \"c\"\na = \"arm.hand\"\nb = "
                  "\"load.knob\"\ntype = \"{}\"\n{}",
                  type, more),
      "arm_with_load.toml", options);
}

/// How many chances each type gets; more, to attack.
int chances() {
  const char* const wanted = std::getenv("LINKWORK_CHANCES");
  return wanted != nullptr ? std::atoi(wanted) : 2;
}

class ComplianceOf : public testing::TestWithParam<std::string> {};

/// Whatever modules weigh: springs that nobody gave stay stable with every method. Where the loads would tear joints open, the
/// run says before the start which step it takes, and that one does.
TEST_P(ComplianceOf, RunsAtItsDefaultsOrSaysAtWhichStepItWould) {
  int compared = 0;
  for (int seed = 0; seed < chances(); ++seed)
    for (const char* const integrator : {"rk4", "euler", "dopri45"}) {
      Spec spec = arm_with_load(GetParam(), static_cast<unsigned>(seed), 6.0);
      spec.settings.integrator = {integrator, {}, {}};
      Spec exact = spec;
      exact.settings.glue = {"hierarchical", {}, {}};
      const Summary reference = test::run_modules(exact).summary;
      if (!reference.completed || reference.energy_drift > 0.1) continue;  // the motion itself is too fast for the step
      ++compared;
      Rows rows = test::run_modules(spec);
      if (!rows.summary.completed) {
        ASSERT_THAT(rows.summary.status, AnyOf(HasSubstr("would not hold the joints"), HasSubstr("would not be stable")))
            << seed << ", " << integrator;
        EXPECT_TRUE(rows.rows.empty());
        const std::string words = "--step ";
        spec.settings.step = std::stod(rows.summary.status.substr(rows.summary.status.find(words) + words.size()));
        spec.settings.end = std::min(spec.settings.end, 2000 * spec.settings.step);
        rows = test::run_modules(spec);
      }
      EXPECT_TRUE(rows.summary.completed) << seed << ", " << integrator << ": " << rows.summary.status;
    }
  EXPECT_GT(compared, 0);
}

/// A light hand on a strong damper: what the load held back moves by itself where only a spring holds it.
TEST(Compliance, SaysAtWhichStepItFollowsModulesThatAreFastAlone) {
  ReadOptions options;
  options.load = [&](const std::filesystem::path& file) {
    const bool hand = file.filename() == "hand.toml";
    return std::string("linkwork = 1\n[[body]]\nname = \"b\"\nmass = ") +
           (hand ? "0.1\ninertia = [1e-4, 1e-4, 1e-4]\n" : "10\ninertia = [1, 1, 1]\n") +
           "[[joint]]\nname = \"j\"\ntype = \"revolute\"\nparent = { body = \"ground\" }\nchild = { body = \"b\" }\n" +
           (hand ? "damping = 1\n" : "velocity = 1\n") + "[[port]]\nname = \"p\"\nbody = \"b\"\n";
  };
  Spec spec = read_model_text(
      "linkwork = 1\n[settings]\nend = 1\nglue = \"compliance\"\n[[module]]\nname = \"hand\"\nfile = "
      "\"hand.toml\"\n[[module]]\nname = "
      "\"load\"\nfile = \"load.toml\"\n[[connection]]\nname = \"grip\"\ntype = \"weld\"\na = \"hand.p\"\nb = \"load.p\"\n",
      "grip.toml", options);
  spec.settings.step = 1e-3;
  const Rows refused = test::run_modules(spec);
  EXPECT_THAT(refused.summary.status, HasSubstr("the modules move too fast for steps of 0.001 s; give --step "));
  EXPECT_TRUE(refused.rows.empty());
  spec.settings.step = std::stod(refused.summary.status.substr(refused.summary.status.find("--step ") + 7));
  EXPECT_GE(spec.settings.step, 1e-4);  // 1 N m s/rad on 1e-4 kg m2: rates of 1e4 per second
  const Rows rows = test::run_modules(spec);
  EXPECT_TRUE(rows.summary.completed) << rows.summary.status;
  EXPECT_NEAR(rows.last("v.load.j"), std::exp(-1.0), 1e-3);  // together: 1 N m s/rad on 1 kg m2
}

/// With twice as many steps the springs are four times as stiff, and joints open by a quarter as much.
TEST_P(ComplianceOf, HoldsJointsAsCloselyAsTheStepAllows) {
  double before = 0.0;
  for (const double step : {1e-3, 5e-4, 2.5e-4}) {
    Spec spec = arm_with_load(GetParam(), 4, 0.5);
    spec.settings.end = 0.3;
    spec.settings.step = step;
    const Rows rows = test::run_modules(spec);
    ASSERT_TRUE(rows.summary.completed) << rows.summary.status;
    const double open = rows.summary.modules->sticky;
    EXPECT_LT(open, 5e3 * step * step) << step;
    if (before > 0.0) {
      EXPECT_NEAR(before / open, 4.0, 1.0) << step;
    }
    before = open;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryConnection, ComplianceOf, testing::ValuesIn(kConnections), [](const auto& of) {
  std::string name = of.param;
  std::erase(name, '-');
  return name;
});

TEST(Compliance, SaysBeforeTheStartWhichStepOrStiffnessWouldBeStable) {
  Spec spec = test::library_spec("ring_modules");
  spec.settings.glue = parse_choice("compliance:stiffness=1e8", {});
  spec.settings.end = 0.5;
  const Rows rows = test::run_modules(spec);
  EXPECT_FALSE(rows.summary.completed);
  EXPECT_THAT(rows.summary.status, HasSubstr("would not be stable"));
  EXPECT_THAT(rows.summary.status, HasSubstr("--step"));
  EXPECT_TRUE(rows.rows.empty());
}

/// What it recommends does run, and twice that does not: y'' = -W (K y + C y').
TEST(Compliance, FindsTheLongestStableStep) {
  for (const Tableau& method : tableaus()) {
    VirtualSprings springs{
        MatX<double>::Constant(1, 1, 4.0), VecX<double>::Constant(1, 1e6), VecX<double>::Constant(1, 60.0), 1.0, {0}};
    const double step = springs.longest_step(method);
    if (step < 1e-6) continue;  // the method of Euler follows no undamped swing
    const auto grows = [&](double h) {
      Eigen::Vector2d y(1.0, 0.0);
      for (int k = 0; k < 20000; ++k) {
        std::vector<Eigen::Vector2d> rates;
        for (std::size_t s = 0; s < method.b.size(); ++s) {
          Eigen::Vector2d at = y;
          for (std::size_t j = 0; j < s; ++j) at += h * method.a[s][j] * rates[j];
          rates.emplace_back(at[1], -4.0 * (1e6 * at[0] + 60.0 * at[1]));
        }
        for (std::size_t s = 0; s < method.b.size(); ++s) y += h * method.b[s] * rates[s];
      }
      return !(std::abs(y[0]) < 1e3);
    };
    EXPECT_FALSE(grows(0.99 * step)) << method.name;
    EXPECT_TRUE(grows(2.0 * step)) << method.name;
  }
}

TEST(Compliance, KnowsHowFarLoadsOpenJoints) {
  MatX<double> W(3, 3);
  W << 2.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 0.0;  // the third row moves for no force
  const VirtualSprings springs{W, VecX<double>{{100.0, 400.0, 50.0}}, VecX<double>::Zero(3), 1.0, {1, 1, 1}};
  const VecX<double> phi = springs.deflection(VecX<double>{{3.0, -2.0, 0.0}});
  EXPECT_LT((W * springs.stiffness.cwiseProduct(phi) - VecX<double>{{3.0, -2.0, 0.0}}).norm(), 1e-12);
  EXPECT_EQ(phi[2], 0.0);
}

/// Dampers in proportion to springs damp the slower ones less; all are followed up to the reach, and not far beyond.
TEST(Compliance, KnowsHowFarMethodsReach) {
  for (const Tableau& method : tableaus()) {
    const double z = reach(method, 0.5);
    EXPECT_GT(z, 0.5) << method.name;
    const auto is_stable = [&](double frequency, double most) {
      return VirtualSprings{MatX<double>::Constant(1, 1, 2.0),
                            VecX<double>::Constant(1, 0.5 * frequency * frequency),
                            VecX<double>::Constant(1, 0.5 * frequency * frequency / most),
                            1.0,
                            {0}}
          .is_stable(method, 1.0);
    };
    for (const double part : {0.01, 0.1, 0.3, 0.7, 1.0}) EXPECT_TRUE(is_stable(part * z, z)) << method.name << ", " << part;
    bool beyond = true;
    for (double part = 0.05; part <= 1.0; part += 0.05) beyond = beyond && is_stable(part * 1.1 * z, 1.1 * z);
    EXPECT_FALSE(beyond) << method.name << ", " << z;
  }
}

}  // namespace
}  // namespace linkwork
