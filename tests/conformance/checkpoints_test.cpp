#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/io/checkpoint_file.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/modules/glues/catalog.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/thread_team.h"
#include "tests/support/assemblies.h"
#include "tests/support/mechanisms.h"

namespace linkwork {
namespace {

/// A run with the checkpoints it wrote, as they are in their files, and how many rows there were at each.
struct SavingRun {
  std::vector<std::vector<double>> rows;
  std::vector<std::pair<std::string, std::size_t>> checkpoints;
  Summary summary;

  /// All of it that is physics, as text.
  std::string story() const {
    Summary physical = summary;
    physical.wall_seconds = 0.0;
    physical.ranks = physical.threads = 1;
    if (physical.modules) {
      GlueSummary& modules = *physical.modules;
      modules.modules_of_rank.clear();
      modules.messages_per_step = modules.bytes_per_step = modules.waiting_seconds_per_step = modules.inexpensive = 0.0;
    }
    return summary_json(physical);
  }
};

bool same_bits(std::span<const std::vector<double>> a, std::span<const std::vector<double>> b) {
  if (a.size() != b.size()) return false;
  for (std::size_t r = 0; r < a.size(); ++r)
    if (a[r].size() != b[r].size() || std::memcmp(a[r].data(), b[r].data(), a[r].size() * sizeof(double)) != 0) return false;
  return true;
}

SavingRun run_one_piece(const Spec& spec, double every, const std::string& from = "") {
  const Model model = build_model(spec);
  Simulation simulation(model);
  SavingRun result;
  Observer observer;
  observer.row = [&](std::span<const double> row) { result.rows.emplace_back(row.begin(), row.end()); };
  if (every > 0.0) {
    observer.checkpoint_every = every;
    observer.checkpoint = [&](const SavedRun& saved) {
      Checkpoint checkpoint;
      checkpoint.request = {"/model.toml", {}, {}, "/out", true, 1.0};
      checkpoint.run = saved;
      result.checkpoints.emplace_back(checkpoint_text(checkpoint), result.rows.size());
    };
  }
  if (!from.empty()) simulation.restore(parse_checkpoint(from, "test").run);
  result.summary = simulation.run(observer);
  return result;
}

SavingRun run_apart(const AssemblyPlan& plan, const Choice& glue, int threads, double every, const std::string& from = "") {
  SavingRun result;
  ThreadTeam team(threads);
  team.run([&](Transport& transport) {
    Simulation run(std::make_unique<AssemblySystem>(plan, glue, transport));
    Observer observer;
    observer.checkpoint_every = every;
    if (every > 0.0) observer.checkpoint = [](const SavedRun&) {};
    if (transport.rank() == 0) {
      observer.row = [&](std::span<const double> row) { result.rows.emplace_back(row.begin(), row.end()); };
      if (every > 0.0)
        observer.checkpoint = [&](const SavedRun& saved) {
          Checkpoint checkpoint;
          checkpoint.request = {"/model.toml", {}, {}, "/out", true, 1.0};
          checkpoint.run = saved;
          result.checkpoints.emplace_back(checkpoint_text(checkpoint), result.rows.size());
        };
    }
    if (!from.empty()) run.restore(parse_checkpoint(from, "test").run);
    const Summary summary = run.run(observer);
    if (transport.rank() == 0) result.summary = summary;
  });
  return result;
}

/// From every checkpoint on: the same rows, checkpoints and summary.
template <class Resume>
void expect_same_end(const SavingRun& whole, const std::string& what, Resume resume) {
  ASSERT_GE(whole.checkpoints.size(), 2U) << what << ": " << whole.summary.status;
  for (std::size_t k = 0; k < whole.checkpoints.size(); ++k) {
    const auto& [text, rows] = whole.checkpoints[k];
    const SavingRun rest = resume(text);
    EXPECT_TRUE(same_bits(rest.rows, std::span(whole.rows).subspan(rows))) << what << ", from checkpoint " << k;
    EXPECT_EQ(rest.checkpoints.size(), whole.checkpoints.size() - k - 1) << what;
    EXPECT_EQ(rest.story(), whole.story()) << what << ", from checkpoint " << k;
  }
}

void expect_one_piece_resumes(const Spec& spec, double every, const std::string& what) {
  const SavingRun whole = run_one_piece(spec, every);
  EXPECT_TRUE(whole.summary.completed) << what << ": " << whole.summary.status;
  expect_same_end(whole, what, [&](const std::string& text) { return run_one_piece(spec, every, text); });
}

Spec four_bar_for(double seconds) {
  Spec spec = test::library_spec("four_bar");
  spec.settings.end = seconds;
  spec.settings.step = 2e-3;
  spec.settings.output_every = 7e-3;  // not at the ends of steps
  return spec;
}

TEST(Checkpoints, EveryIntegratorGoesOnWithTheSameBits) {
  for (const auto& entry : integrators()) {
    Spec spec = four_bar_for(0.4);
    spec.settings.integrator = {entry.info.name, {}, {}};
    expect_one_piece_resumes(spec, 0.09, entry.info.name);
  }
}

TEST(Checkpoints, EveryFormulationGoesOnWithTheSameBits) {
  for (const auto& entry : formulations()) {
    if (entry.traits.gives != Equations::kAcceleration) continue;  // tested with their integrators
    const bool is_slow = entry.info.name == "gauss-ga", is_stiff = !entry.traits.exact && !is_slow;
    Spec spec = four_bar_for(is_slow ? 0.01 : is_stiff ? 0.05 : 0.2);
    if (is_stiff) spec.settings.step = 1e-4;
    spec.settings.formulation = {entry.info.name, {}, {}};
    expect_one_piece_resumes(spec, 0.3 * spec.settings.end, entry.info.name);
  }
}

TEST(Checkpoints, EveryKindOfCoordinatesGoesOnWithTheSameBits) {
  for (const char* const coordinates : {"auto", "FA", "TA", "CE"})
    for (const char* const model : {"ring", "spatial_four_bar", "slider_crank"}) {
      Spec spec = test::library_spec(model);
      spec.settings.end = 0.1;
      spec.settings.coordinates = {coordinates, {}, {}};
      expect_one_piece_resumes(spec, 0.03, std::string(model) + " in " + coordinates);
    }
}

/// Turns of joints that are not in the state, modes, friction, contacts, restitution, and what happened before.
TEST(Checkpoints, EventsContactsAndFrictionGoOnWithTheSameBits) {
  std::size_t events = 0;
  for (const std::string& name : test::library_models()) {
    Spec spec = test::library_spec(name);
    const bool has_events = !spec.events.empty() || build_model(spec).has_events();
    if (!has_events && name != "four_bar" && name != "quick_return") continue;
    spec.settings.end = std::min(spec.settings.end, 2.0);
    const double every = spec.settings.end / 4.3;
    const SavingRun whole = run_one_piece(spec, every);
    events += whole.summary.events.size();
    expect_same_end(whole, name, [&](const std::string& text) { return run_one_piece(spec, every, text); });
  }
  EXPECT_GE(events, 10U);
}

/// Methods that remember nothing are not disturbed by checkpoints at all.
TEST(Checkpoints, LeaveRungeKuttaRunsAsTheyAre) {
  for (const char* const integrator : {"rk4", "dopri45", "semi-implicit-euler"}) {
    Spec spec = four_bar_for(0.5);
    spec.settings.integrator = {integrator, {}, {}};
    spec.settings.coordinates = {"TA", {}, {}};
    EXPECT_TRUE(same_bits(run_one_piece(spec, 0.08).rows, run_one_piece(spec, 0.0).rows)) << integrator;
  }
}

TEST(Checkpoints, AreTakenAtTheirTimes) {
  Spec spec = four_bar_for(0.5);
  std::vector<double> times;
  for (const auto& [text, rows] : run_one_piece(spec, 0.1).checkpoints) times.push_back(parse_checkpoint(text, "test").run.t);
  EXPECT_THAT(times, testing::Pointwise(testing::DoubleNear(1e-12), std::vector<double>{0.0, 0.1, 0.2, 0.3, 0.4}));
}

TEST(Checkpoints, OfAnotherModelAreRefused) {
  const std::string text = run_one_piece(four_bar_for(0.1), 0.05).checkpoints.front().first;
  EXPECT_THROW(run_one_piece(test::library_spec("ring"), 0.05, text), InputError);
}

TEST(Checkpoints, EveryGlueGoesOnWithTheSameBitsOnAnyNumberOfThreads) {
  for (const GlueEntry& glue : glues())
    for (const char* const name : {"four_bar_modules", "gear_train_modules", "ring_groups"}) {
      Spec spec = test::library_spec(name);
      spec.settings.end = 0.06;
      spec.settings.glue = {glue.info.name, {}, {}};
      const AssemblyPlan plan = test::started_plan(spec);
      const Choice choice{glue.info.name, {}, {}};
      const SavingRun whole = run_apart(plan, choice, 1, 0.021);  // in the middle of windows, too
      if (!whole.summary.completed) continue;                     // waveform refuses some
      const std::string what = std::string(name) + ", " + glue.info.name;
      EXPECT_TRUE(same_bits(run_apart(plan, choice, 2, 0.021).rows, whole.rows)) << what;
      int threads = 0;
      expect_same_end(whole, what,
                      [&](const std::string& text) { return run_apart(plan, choice, 1 + threads++ % 2, 0.021, text); });
    }
}

TEST(Checkpoints, AssembliesWithAdaptiveStepsGoOnWithTheSameBits) {
  Spec spec = test::library_spec("four_bar_modules");
  spec.settings.end = 0.4;
  spec.settings.output_every = 2e-3;  // many to a step: the balance of energy is known at rows only
  spec.settings.integrator = {"dopri45", {}, {}};
  const AssemblyPlan plan = test::started_plan(spec);
  for (const char* const glue : {"hierarchical", "projection", "compliance"}) {
    const Choice choice{glue, {}, {}};
    // After every step: the row of the largest energy drift is in the first one of some run that goes on.
    const SavingRun whole = run_apart(plan, choice, 2, 0.01);
    expect_same_end(whole, glue, [&](const std::string& text) { return run_apart(plan, choice, 1, 0.01, text); });
    if (std::string(glue) == "hierarchical") {
      EXPECT_TRUE(same_bits(run_apart(plan, choice, 1, 0.0).rows, whole.rows));
    }
  }
}

}  // namespace
}  // namespace linkwork
