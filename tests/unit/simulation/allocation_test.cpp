#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>

#include "linkwork/modules/assembly_system.h"
#include "linkwork/simulation/simulation.h"
#include "tests/support/random_block.h"

// Counts every allocation of the program, Eigen's included. Sanitizers bring their own allocator.
#ifndef LINKWORK_SANITIZED

namespace {
std::atomic<long> allocations{0};
}

extern "C" {
void* __libc_malloc(std::size_t size);
void* malloc(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  return __libc_malloc(size);
}
}

namespace linkwork {
namespace {

struct Case {
  std::string model;
  std::string formulation;
  std::string stabilization;
  std::string integrator;
};

/// From the second step on.
void expect_no_allocations(const Spec& spec, const std::string& what) {
  const Model model = build_model(spec);
  Simulation simulation(model);
  long at_first = -1, last = 0;
  int steps = 0;
  Observer observer;
  observer.progress = [&](double, double) {
    last = allocations.load();
    if (++steps == 2) at_first = last;
  };
  const Summary summary = simulation.run(observer);
  ASSERT_TRUE(summary.completed) << what << ": " << summary.status;
  ASSERT_GT(steps, 5) << what;
  EXPECT_EQ(last, at_first) << what;
}

TEST(Allocation, NoneInAnyStepAfterTheFirst) {
  for (const Case& c : {Case{"four_bar", "schur", "projection", "rk4"},
                        Case{"four_bar", "lagrange", "baumgarte", "rk2"},
                        Case{"stewart", "schur", "projection", "dopri45"},
                        Case{"bricard", "schur", "none", "semi-implicit-euler"},
                        Case{"gear_train", "schur", "projection", "ode5"},
                        Case{"bricard", "nullspace-qr", "none", "rk2"},
                        Case{"bricard", "nullspace-svd", "none", "rk2"},
                        Case{"bricard", "udwadia-kalaba", "none", "rk2"},
                        Case{"bricard", "gigsp", "none", "rk2"},
                        Case{"bricard", "augmented-lagrangian", "none", "rk2"},
                        Case{"bricard", "proximal", "none", "rk2"},
                        Case{"stewart", "compliance", "none", "rk4"},
                        Case{"bricard", "park", "acceleration", "rk4"},
                        Case{"five_bar_redundant", "schur", "velocity", "rk4"},
                        Case{"bricard", "projection", "none", "rk4"},
                        Case{"slider_crank", "projection", "none", "ode8"},
                        Case{"four_bar", "index3", "none", "generalized-alpha"},
                        Case{"bricard", "ggl", "none", "newmark"},
                        Case{"stewart", "index3", "none", "hht"},
                        Case{"snakeboard", "schur", "projection", "rk4"},
                        Case{"upright_disc", "schur", "post", "rk4"},
                        Case{"stick_slip_disc", "schur", "projection", "rk4"},
                        Case{"slip_to_roll", "gigsp", "projection", "rk4"}}) {
    Spec spec = test::library_spec(c.model);
    spec.settings.formulation = {c.formulation, {}, {}};
    spec.settings.stabilization = {c.stabilization, {}, {}};
    spec.settings.integrator = {c.integrator, {}, {}};
    spec.settings.end = 0.05;
    expect_no_allocations(spec, fmt::format("{} with {}, {}, {}", c.model, c.formulation, c.stabilization, c.integrator));
  }
}

/// Contacts that slide, or hold, and share their loads in many ways.
TEST(Allocation, NoneInAnyStepWithRedundantContacts) {
  test::RandomNumbers r(1);
  for (const double share : {0.5, 1.5})
    for (const int feet : {4, 7}) {
      test::Block block = test::Block::random(r, feet);
      block.mu = share * std::tan(block.slope);
      expect_no_allocations(block.spec(0.04, 1e-3), fmt::format("{} feet, friction {} of what holds", feet, share));
    }
}

TEST(Allocation, NoneInEvaluationsOfSignals) {
  const Model model = test::model_of(R"toml(
[[body]]
name = "arm"
solid = { shape = "rod", to = [1, 0, 0], mass = 2 }
[[joint]]
name = "arm"
type = "revolute"
parent = { body = "ground" }
child = { body = "arm" }
[[table]]
name = "f"
x = [-1, 0, 1]
y = [3, 0, -2]
[[input]]
name = "u"
value = "sin(t)"
[[sensor]]
name = "tip"
type = "point"
body = "arm"
at = [1, 0, 0]
[[sensor]]
name = "gap"
type = "distance"
a = { body = "ground", at = [2, 2, 0] }
b = { body = "arm", at = [1, 0, 0] }
[[sensor]]
name = "sum"
type = "expression"
expression = "p.tip.x + dv.gap"
[[state]]
name = "lag"
rate = "s.sum - z.lag"
[[force]]
type = "torque"
joint = "arm"
value = "f(v.arm) + u.u + s.sum + z.lag"
[[force]]
type = "spring"
a = { body = "ground", at = [2, 2, 0] }
b = { body = "arm", at = [1, 0, 0] }
law = "3*d^2 + dv"
)toml");
  State state = test::start_state(model);
  System system(model);
  double rate = 0.0;
  const auto evaluate = [&] {
    system.update(state);
    system.update_forces();
    system.state_rates(std::span(&rate, 1));
    system.set_input(0, 2.0);
  };
  evaluate();
  const long before = allocations.load();
  for (int k = 0; k < 10; ++k) evaluate();
  EXPECT_EQ(allocations.load(), before);
  EXPECT_NE(rate, 0.0);
}

TEST(Allocation, NoneInAnyStepOfModulesAfterTheFirst) {
  for (const std::string glue : {"hierarchical", "compliance"})
    for (const std::string integrator : {"rk4", "dopri45"}) {
      Spec spec = test::library_spec("rover_modules");
      spec.settings.integrator = {integrator, {}, {}};
      spec.settings.end = 0.2;
      spec.settings.output_every = 1.0;
      AssemblyPlan plan = plan_assembly(spec);
      InProcess alone;
      Simulation run(std::make_unique<AssemblySystem>(plan, Choice{glue, {}, {}}, alone));
      long at_first = -1, last = 0;
      int steps = 0;
      Observer observer;
      observer.progress = [&](double t, double end) {
        if (t < end) last = allocations.load();  // a row is written at the end
        if (++steps == 2) at_first = last;
      };
      const Summary summary = run.run(observer);
      ASSERT_TRUE(summary.completed) << glue << ": " << summary.status;
      ASSERT_GT(steps, 5) << glue << ", " << integrator;
      EXPECT_EQ(last, at_first) << glue << ", " << integrator;
    }
}

}  // namespace
}  // namespace linkwork

#endif
