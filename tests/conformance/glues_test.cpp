#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "linkwork/modules/assembly_system.h"
#include "linkwork/modules/glues/catalog.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

using test::Rows;

Spec assembly(const std::string& name, const std::string& glue, double end) {
  Spec spec = test::library_spec(name);
  spec.settings.end = end;
  spec.settings.glue = parse_choice(glue, {});
  return spec;
}

/// Whether a glue can join the modules: some know constraints of two frames and springs only, and nothing that comes and goes.
bool can_join(const GlueEntry& glue, const AssemblyPlan& plan) {
  return glue.traits.takes_couplings || (plan.couplings.empty() && !plan.watched);
}

TEST(Assemblies, AreAmongTheReadyModels) { EXPECT_GE(test::library_assemblies().size(), 15U); }

/// The reference for everything here: the same model in one piece, same method and step.
TEST(ExactGlues, EqualTheSystemInOnePieceOverTwoSeconds) {
  for (const std::string& name : test::library_assemblies()) {
    const Rows whole = test::run_in_one_piece(assembly(name, "none", 2.0));
    ASSERT_TRUE(whole.summary.completed) << name << ": " << whole.summary.status;
    for (const GlueEntry& glue : glues()) {
      if (!glue.traits.exact || !can_join(glue, test::started_plan(test::library_spec(name)))) continue;
      const Rows parts = test::run_modules(assembly(name, glue.info.name, 2.0));
      ASSERT_TRUE(parts.summary.completed) << name << ", " << glue.info.name << ": " << parts.summary.status;
      const auto [difference, column] = test::largest_difference(parts, whole);
      EXPECT_LE(difference, 1e-9) << name << ", " << glue.info.name << ", " << column;
      EXPECT_EQ(parts.summary.dof, whole.summary.dof) << name << ", " << glue.info.name;
      // Joints between modules are rows there; in one piece they may be coordinates.
      if (name != "moving_ground_modules") {
        EXPECT_EQ(parts.summary.rank, whole.summary.rank) << name << ", " << glue.info.name;
      }
      EXPECT_LE(parts.summary.modules->sticky, 1e-10) << name << ", " << glue.info.name;
    }
  }
}

TEST(ExactGlues, EqualTheSystemInOnePieceWithAdaptiveSteps) {
  for (const std::string name : {"four_bar_modules", "rover_modules", "gear_train_modules"})
    for (const GlueEntry& glue : glues()) {
      if (!glue.traits.exact || !glue.traits.adaptive) continue;
      Spec spec = assembly(name, glue.info.name, 0.5);
      spec.settings.integrator = {"dopri45", {}, {}};
      spec.settings.rtol = 1e-8;
      Spec whole_spec = spec;
      whole_spec.settings.glue = {"none", {}, {}};
      const Rows parts = test::run_modules(spec), whole = test::run_in_one_piece(whole_spec);
      ASSERT_TRUE(parts.summary.completed) << name << ": " << parts.summary.status;
      EXPECT_EQ(parts.summary.steps, whole.summary.steps) << name << ", " << glue.info.name;
      EXPECT_LE(test::largest_difference(parts, whole).first, 1e-9) << name << ", " << glue.info.name;
    }
}

bool same_bits(const Rows& a, const Rows& b) {
  if (a.columns != b.columns || a.rows.size() != b.rows.size()) return false;
  for (std::size_t r = 0; r < a.rows.size(); ++r)
    if (std::memcmp(a.rows[r].data(), b.rows[r].data(), a.rows[r].size() * sizeof(double)) != 0) return false;
  return true;
}

TEST(Glues, GiveTheSameBitsOnAnyNumberOfThreads) {
  for (const std::string& name : test::library_assemblies())
    for (const GlueEntry& glue : glues()) {
      const Spec spec = assembly(name, glue.info.name, 0.03);
      const AssemblyPlan plan = test::started_plan(spec);
      if (!can_join(glue, plan)) continue;
      const Choice choice{glue.info.name, {}, {}};
      const Rows one = test::run_plan(plan, choice, 1);
      const bool refused = one.summary.status.find("would not be stable") != std::string::npos;
      EXPECT_EQ(one.rows.empty(), refused) << name << ", " << glue.info.name << ": " << one.summary.status;
      for (const int threads : {2, 4}) {
        const Rows several = test::run_plan(plan, choice, threads);
        EXPECT_TRUE(same_bits(several, one)) << name << ", " << glue.info.name << " on " << threads;
      }
    }
}

TEST(Glues, SayWhatTheyAskOfModules) {
  for (const GlueEntry& glue : glues()) {
    EXPECT_FALSE(glue.info.reference.empty()) << glue.info.name;
    EXPECT_FALSE(glue.traits.exposes.empty()) << glue.info.name;
  }
}

TEST(ComplianceGlue, EqualsTheFormulationOfThatNameInOnePiece) {
  Spec spec = assembly("four_bar_modules", "compliance:stiffness=1e4", 1.0);
  spec.settings.stabilization = {"none", {}, {}};
  Spec whole = spec;
  whole.settings.glue = {"none", {}, {}};
  whole.settings.formulation = parse_choice("compliance:stiffness=1e4", {});
  const Rows parts = test::run_modules(spec);
  EXPECT_LE(test::largest_difference(parts, test::run_in_one_piece(whole)).first, 1e-9);
  EXPECT_GT(parts.summary.modules->sticky, 1e-6);  // springs give way
}

/// [Khan2006] section 7.3, fixed steps of 1 ms: the projection holds the pin near 1e-12 m whatever sigma is; springs of 1e6 N/m
/// let it go by up to 1e-3 m, softer ones by more. Under the torque the crank speeds up without end, and the error of any method
/// of fixed step with it; so it is 1.5 s there, and 10 s without the torque. (Springs of 1e6 N/m need 0.1 ms, as the paper says;
/// they have no dampers.)
TEST(FourBarInTwoModules, HasTheConstraintErrorsOfThePaper) {
  const auto joint_error = [](const std::string& glue, const char* torque, double end, double step) {
    Spec spec = test::library_spec("four_bar_modules", {{"torque", torque}});
    spec.settings.end = end;
    spec.settings.step = step;
    spec.settings.glue = parse_choice(glue, {});
    spec.settings.integrator = {"ode5", {}, {}};
    spec.settings.stabilization = {"none", {}, {}};
    const Rows run = test::run_modules(spec);
    EXPECT_TRUE(run.summary.completed) << glue << ": " << run.summary.status;
    return run.summary.modules->sticky;
  };
  for (const char* sigma : {"10", "60"}) {
    EXPECT_LT(joint_error(std::string("projection:sigma=") + sigma, "6", 1.5, 1e-3), 1e-11) << sigma;
    EXPECT_LT(joint_error(std::string("projection:sigma=") + sigma, "0", 10.0, 1e-3), 1e-11) << sigma;
  }
  double before = 1.0;
  for (const char* stiffness : {"1e3", "1e4", "1e5", "1e6"}) {
    const double error = joint_error(std::string("compliance:damping=0,stiffness=") + stiffness, "6", 1.5, 1e-4);
    EXPECT_LT(error, 0.6 * before) << stiffness;
    before = error;
  }
  EXPECT_LT(before, 1e-3);
  EXPECT_GT(before, 1e-6);
}

/// [Tseng2001] section 3.3: steps of 0.4 s.
TEST(GluingGlue, TakesLongStepsOnTheParallelFourBar) {
  for (const char* beta : {"0.25", "0.16666666666666666"}) {
    Spec spec = assembly("parallel_four_bar_modules", std::string("gluing:beta=") + beta, 10.0);
    spec.settings.step = spec.settings.output_every = 0.4;
    const Rows run = test::run_modules(spec);
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_LE(run.summary.modules->most_iterations, 3);
    for (std::size_t r = 0; r < run.rows.size(); ++r) {
      const double t = run.of("t")[r], exact = 2.0 * std::acos(-1.0) - t * t / 27.0;
      EXPECT_NEAR(run.of("v.left.q1")[r], exact, 0.01 * exact) << t;
    }
  }
}

TEST(GluingGlue, IsOfSecondOrderOnTheFourBarWithFewIterations) {
  const double exact = 2.8281720120366263;  // tests/oracles/four_bar_khan.json, theta at 1 s
  double before = 0.0;
  for (const double step : {0.01, 0.005, 0.0025}) {
    Spec spec = assembly("four_bar_modules", "gluing", 1.0);
    spec.settings.step = step;
    const Rows run = test::run_modules(spec);
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_LE(run.summary.modules->most_iterations, 4) << step;
    const double error = std::abs(run.last("q.left.theta") - exact);
    if (before > 0.0) {
      EXPECT_NEAR(before / error, 4.0, 0.6) << step;
    }
    before = error;
  }
}

TEST(WaveformGlue, ComesToTheRungeKuttaSolutionOfTheWhole) {
  const Rows whole = test::run_in_one_piece(assembly("gear_train_modules", "none", 1.0));
  int jacobi = 0;
  for (const char* glue : {"waveform", "waveform:seidel=1", "waveform:window=7"}) {
    const Rows run = test::run_modules(assembly("gear_train_modules", glue, 1.0));
    ASSERT_TRUE(run.summary.completed) << run.summary.status;
    EXPECT_LE(test::largest_difference(run, whole).first, 1e-9) << glue;
    EXPECT_GT(run.summary.modules->most_iterations, 1) << glue;
    if (jacobi == 0) jacobi = run.summary.modules->most_iterations;
    EXPECT_LE(run.summary.modules->most_iterations, jacobi) << glue;  // the newest waves, or shorter windows, need no more
  }
}

TEST(WaveformGlue, TakesWholeWindowsHoweverManyStepsAreLeft) {
  const auto after_a_window = [](double end) {
    const Spec spec = assembly("gear_train_modules", "waveform:window=5,tolerance=1e-4", end);
    InProcess alone;
    Simulation run(std::make_unique<AssemblySystem>(test::started_plan(spec), spec.settings.glue, alone));
    for (int k = 0; k < 5; ++k) EXPECT_TRUE(run.step()) << run.summary().status;
    return run.row();
  };
  EXPECT_EQ(after_a_window(1e10), after_a_window(10.0));  // an int does not count the former
}

std::string remarks_of(const Rows& run) {
  std::string all = run.summary.status;
  for (const std::string& note : run.summary.notes) all += "\n" + note;
  return all;
}

/// Two masses on a line, joined rigidly; b follows a. rho = m_B / m_A.
Spec two_masses(double first, double second, const std::string& glue) {
  ReadOptions options;
  options.load = [&](const std::filesystem::path& file) {
    const double mass = file.stem() == "a" ? first : second;
    return "linkwork = 1\n[[body]]\nname = \"m\"\nmass = " + std::to_string(mass) +
           "\ninertia = [1, 1, 1]\n[[joint]]\nname = \"x\"\ntype = \"prismatic\"\nparent = { body = \"ground\" }\nchild = { body "
           "= \"m\" }\n"
           "axis = [1, 0, 0]\n[[port]]\nname = \"p\"\nbody = \"m\"\n[[force]]\ntype = \"force\"\njoint = \"x\"\nvalue = "
           "\"sin(3*t)\"\n";
  };
  Spec spec = read_model_text(
      "linkwork = 1\n[[module]]\nname = \"a\"\nfile = \"a.toml\"\n[[module]]\nname = \"b\"\nfile = \"b.toml\"\n"
      "[[connection]]\nname = \"rod\"\ntype = \"point-on-plane\"\naxis = [1, 0, 0]\na = \"a.p\"\nb = \"b.p\"\n",
      "masses.toml", options);
  spec.settings.end = 0.1;
  spec.settings.glue = parse_choice(glue, {});
  return spec;
}

TEST(WaveformGlue, ComputesRhoAcrossConstraintsAndRelaxesOrRefuses) {
  // The error goes from one mass to the other by m_B/m_A: the lighter follower converges.
  const Rows light = test::run_modules(two_masses(2.0, 1.0, "waveform"));
  EXPECT_TRUE(light.summary.completed) << light.summary.status;
  EXPECT_NE(remarks_of(light).find("rho = 0.5"), std::string::npos) << remarks_of(light);
  const Rows heavy = test::run_modules(two_masses(1.0, 3.0, "waveform"));
  EXPECT_TRUE(heavy.summary.completed) << heavy.summary.status;
  EXPECT_NE(remarks_of(heavy).find("rho = 3 across the joints between modules, relaxed by 0.25 to "), std::string::npos)
      << remarks_of(heavy);
  const Rows exact = test::run_modules(two_masses(1.0, 3.0, "hierarchical"));
  EXPECT_LE(test::largest_difference(heavy, exact).first, 1e-9);
  const Rows refused = test::run_modules(two_masses(1.0, 3.0, "waveform:relax=0"));
  EXPECT_FALSE(refused.summary.completed);
  EXPECT_NE(refused.summary.status.find("multiplied by rho = 3"), std::string::npos) << refused.summary.status;
  const Rows hopeless = test::run_modules(two_masses(1.0, 300.0, "waveform"));
  EXPECT_FALSE(hopeless.summary.completed);
  EXPECT_NE(hopeless.summary.status.find("would not converge"), std::string::npos) << hopeless.summary.status;
}

}  // namespace
}  // namespace linkwork
