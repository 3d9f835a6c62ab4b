// Whole steps of several instances of a mechanism, computed in the lanes of the processor's vectors and one by one, by turns in
// one program: time per step of an instance, and the ratio. Rows are made as in a sweep that asks for one column.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "linkwork/io/model_file.h"
#include "linkwork/lanes/lane_group.h"
#include "linkwork/model/model.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork::bench {
namespace {

struct Subject {
  std::string model;
  long n;  // parameter n of the model; 0: it has none
  double step;
};

using Clock = std::chrono::steady_clock;

std::vector<std::unique_ptr<Simulation>> instances(const Subject& subject, const std::string& integrator, std::size_t count) {
  ReadOptions options;
  if (subject.n > 0) options.set.emplace_back("n", std::to_string(subject.n));
  Spec spec = read_model_file(std::string(LINKWORK_SOURCE_DIR) + "/models/" + subject.model + ".toml", options);
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.integrator = {integrator, {}, {}};
  spec.settings.step = subject.step;
  spec.settings.columns = {"t"};
  std::vector<std::unique_ptr<Simulation>> made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(std::make_unique<Simulation>(build_model(spec)));
  return made;
}

template <class Act>
double seconds(Act&& act) {
  const auto start = Clock::now();
  act();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void measure(const Subject& subject, const std::string& integrator, int rounds, double round_seconds, const std::string& only,
             long fixed_steps, int lanes) {
  const auto count = static_cast<std::size_t>(lanes);
  const auto together = instances(subject, integrator, count), apart = instances(subject, integrator, count);
  const std::string name = subject.n > 0 ? fmt::format("{} {}", subject.model, subject.n) : subject.model;
  if (const std::string why = obstacle_to_lanes(*together.front()); !why.empty()) {
    fmt::print("{:<16} not in lanes: {}\n", name, why);
    return;
  }
  std::vector<Simulation*> runs;
  for (const auto& each : together) runs.push_back(each.get());
  LaneGroup group(runs, {}, lanes);
  for (std::size_t k = 0; k < count; ++k) group.begin(k, std::numeric_limits<double>::infinity());
  const auto in_lanes = [&](long steps) {
    LaneGroup::Some wanted;
    wanted.fill(true);
    for (long k = 0; k < steps; ++k) group.step(wanted);
  };
  const auto alone = [&](long steps) {
    for (const auto& each : apart)
      for (long k = 0; k < steps; ++k) each->step();
  };
  if (fixed_steps > 0) {  // for those who count instructions
    if (only != "alone") in_lanes(fixed_steps);
    if (only != "lanes") alone(fixed_steps);
    return;
  }
  long steps = 16;
  while (seconds([&] { alone(steps); }) < round_seconds) steps *= 2;
  double best_lanes = std::numeric_limits<double>::infinity(), best_alone = best_lanes;
  for (int round = 0; round < rounds; ++round) {
    best_lanes = std::min(best_lanes, seconds([&] { in_lanes(steps); }));
    best_alone = std::min(best_alone, seconds([&] { alone(steps); }));
  }
  const double per_step = 1e6 / static_cast<double>(steps * static_cast<long>(lanes));
  fmt::print("{:<16} {:>10.3f} {:>10.3f} {:>8.2f} {:>12.2g}\n", name, best_lanes * per_step, best_alone * per_step,
             best_alone / best_lanes, static_cast<double>(group.alone()) / static_cast<double>(group.alone() + group.in_lanes()));
}

}  // namespace
}  // namespace linkwork::bench

int main(int argc, char** argv) {
  using namespace linkwork::bench;
  CLI::App app("Steps of several instances in the lanes of vectors, against one by one.");
  std::string integrator = "rk4", only, model;
  int rounds = 15;
  double round_seconds = 0.02;
  long fixed_steps = 0;
  int lanes = static_cast<int>(linkwork::LaneGroup::most());
  app.add_option("--integrator", integrator, "explicit, of fixed steps; default rk4");
  app.add_option("--model", model, "only this one");
  app.add_option("--rounds", rounds, "how often each is timed, by turns; the best counts; default 15");
  app.add_option("--seconds", round_seconds, "how long a round takes one by one; default 0.02");
  app.add_option("--steps", fixed_steps, "time nothing, make so many steps: to count instructions");
  app.add_option("--only", only, "with --steps: 'lanes' or 'alone'");
  app.add_option("--lanes", lanes, "how many instances at a time; default: as many as the processor can");
  CLI11_PARSE(app, argc, argv);
  if (fixed_steps == 0)
    fmt::print("{:<16} {:>10} {:>10} {:>8} {:>12}\n", "us per step", "in lanes", "alone", "ratio", "left lanes");
  for (const Subject& subject : {Subject{"four_bar", 0, 1e-3}, Subject{"n_four_bar", 16, 1e-3}, Subject{"rover", 0, 1e-3},
                                 Subject{"chain", 8, 2e-4}, Subject{"closed_chain", 8, 2e-4}})
    if (model.empty() || model == subject.model) measure(subject, integrator, rounds, round_seconds, only, fixed_steps, lanes);
  return 0;
}
