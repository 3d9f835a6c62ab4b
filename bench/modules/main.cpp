// How runs of modules spread over threads and MPI ranks: a long chain of modules with inner loops. Alone it measures threads and
// prints where distribution loses; under mpirun it measures ranks. Every measurement is a line of JSON in a file; 'fit' reads
// them, fits a cost model and predicts.
//
//   linkwork_bench_modules measure RESULTS [--quick]
//   linkwork_bench_modules fit RESULTS
//
// What modules cost on one rank, where nothing is gained by them: their run against that of the same model in one piece, and a
// model put together from modules against one written in one file. STEPS of one run alone are for those who count instructions.
//
//   linkwork_bench_modules price [--quick]
//   linkwork_bench_modules steps MODEL GLUE STEPS

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>

#include "linkwork/io/model_file.h"
#include "linkwork/modules/assembly_start.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/one_tree.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/thread_team.h"

namespace linkwork::bench {
namespace {

using Json = nlohmann::json;

struct Size {
  int modules, cells, steps;
  int bodies() const { return 3 * cells + 1; }
};

Spec chain(const Size& size) {
  ReadOptions options;
  options.set = {{"n", std::to_string(size.modules)}, {"cells", std::to_string(size.cells)}};
  Spec spec = read_model_file(LINKWORK_SOURCE_DIR "/models/chain_modules.toml", options);
  spec.settings.step = 1e-4;
  spec.settings.end = spec.settings.output_every = 1e-4 * size.steps;
  spec.settings.glue = {"hierarchical", {}, {}};
  return spec;
}

/// One run on the ranks of a transport; complete on rank 0.
Json measured(const Size& size, const AssemblyPlan& plan, Transport& transport, const char* kind) {
  auto system = std::make_unique<AssemblySystem>(plan, plan.settings.glue, transport);
  Workshop& workshop = system->workshop();
  workshop.transport().count_busy_seconds();
  Simulation run(std::move(system));
  transport.wait_for_all();
  const auto before = std::chrono::steady_clock::now();
  const double busy_before = busy_seconds() - workshop.transport().traffic().busy_seconds;
  const Summary summary = run.run();
  const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
  const MeteredTransport::Traffic traffic = workshop.transport().traffic();
  // What a rank computes, by the processor's clock: other work on the machine does not count, nor does waiting.
  std::vector<double> work(static_cast<std::size_t>(transport.size()), 0.0);
  std::vector<int> ends;
  for (int r = 0; r < transport.size(); ++r) ends.push_back(r + 1);
  work[static_cast<std::size_t>(transport.rank())] = busy_seconds() - busy_before - traffic.busy_seconds;
  transport.gather(work, ends);
  const auto steps = static_cast<double>(summary.steps);
  return {{"kind", kind},
          {"ranks", transport.size()},
          {"modules", size.modules},
          {"bodies", size.bodies()},
          {"status", summary.status},
          {"wall_us", 1e6 * wall / steps},
          {"busiest_us", 1e6 * *std::ranges::max_element(work) / steps},
          {"glue_share", summary.modules->inexpensive},
          {"messages", summary.modules->messages_per_step},
          {"bytes", summary.modules->bytes_per_step}};
}

/// Shortest of some exchanges of this many numbers per rank, in microseconds.
Json exchange(int numbers, Transport& transport, const char* kind) {
  std::vector<double> data(static_cast<std::size_t>(numbers * transport.size()), 1.0);
  std::vector<int> ends;
  for (int r = 0; r < transport.size(); ++r) ends.push_back(numbers * (r + 1));
  double shortest = 1e9;
  for (int k = 0; k < 300; ++k) {
    const auto before = std::chrono::steady_clock::now();
    transport.gather(data, ends);
    shortest = std::min(shortest, 1e6 * std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count());
  }
  return {{"kind", kind}, {"exchange", numbers}, {"ranks", transport.size()}, {"us", shortest}};
}

std::vector<Size> sizes(bool quick) {
  if (quick) return {{2, 1, 50}, {64, 17, 10}};
  return {{2, 1, 400},  {2, 5, 400},  {2, 17, 200}, {8, 1, 400}, {8, 5, 200},
          {8, 17, 100}, {64, 1, 100}, {64, 5, 60},  {64, 17, 40}};
}

class Results {
 public:
  explicit Results(const std::string& file) : stream_(file, std::ios::app) {}
  void add(const Json& json) {
    stream_ << json << std::endl;
    if (json.contains("exchange")) {
      fmt::print("{:8} {} ranks, {} numbers each: {:.2f} us\n", json["kind"].get<std::string>(), json["ranks"].get<int>(),
                 json["exchange"].get<int>(), json["us"].get<double>());
      return;
    }
    fmt::print(
        "{:8} {} ranks, {:3} modules of {:2} bodies: {:9.1f} us per step, busiest rank computes {:9.1f} us; glue/modules "
        "{:.3f}\n",
        json["kind"].get<std::string>(), json["ranks"].get<int>(), json["modules"].get<int>(), json["bodies"].get<int>(),
        json["wall_us"].get<double>(), json["busiest_us"].get<double>(), json["glue_share"].get<double>());
  }

 private:
  std::ofstream stream_;
};

int measure(const std::string& file, bool quick) {
  MpiWorld world;
  const bool first = world.transport().rank() == 0;
  Results results(first ? file : "/dev/null");
  const auto start = [](const Size& size, Transport& transport) {
    const Spec spec = chain(size);
    AssemblyPlan plan = plan_assembly(spec);
    start_together(plan, spec, transport);
    return plan;
  };
  for (const Size& size : sizes(quick)) {
    const AssemblyPlan plan = start(size, world.transport());
    if (under_mpirun()) {
      const Json json = measured(size, plan, world.transport(), "mpi");
      if (first) results.add(json);
      continue;
    }
    for (const int threads : {1, 2, 1, 2, 1, 2}) {  // in turn: the machine may be busy with other things at times
      Json json;
      ThreadTeam team(threads);
      team.run([&](Transport& transport) {
        const Json own = measured(size, plan, transport, "threads");
        if (transport.rank() == 0) json = own;
      });
      results.add(json);
    }
  }
  for (const int numbers : {8, 200, 20000}) {
    if (under_mpirun()) {
      const Json json = exchange(numbers, world.transport(), "mpi");
      if (first) results.add(json);
      continue;
    }
    Json json;
    ThreadTeam team(2);
    team.run([&](Transport& transport) {
      const Json own = exchange(numbers, transport, "threads");
      if (transport.rank() == 0) json = own;
    });
    results.add(json);
  }
  return 0;
}

/// time = work/p + groups' cost + latency depth + bytes/bandwidth: a rank's share of the modules, of the groups that lie on it,
/// the p - 1 groups that span ranks and are solved by all, and the exchanges, which go through depth = log2 p rounds.
struct CostModel {
  double work = 0.0;                           // us per step, all modules
  double group = 0.0;                          // us per step for each group
  double latency = 0.0;                        // us for each exchange and round
  double per_byte = 0.0;                       // us
  double messages = 0.0, bytes_of_rank = 0.0;  // a step
  double modules = 0.0;

  double at(double p) const {
    const double used = std::min(p, modules);
    const double exchanges = p > 1.0 ? messages * latency * std::ceil(std::log2(p)) + bytes_of_rank * p * per_byte : 0.0;
    return work / used + group * ((modules - used) / used + used - 1.0) + exchanges;
  }
};

int fit(const std::string& file) {
  std::ifstream stream(file);
  std::vector<Json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(Json::parse(line));
  // The shortest times of several measurements.
  const auto run = [&](const std::string& kind, int ranks, int modules, int bodies) {
    std::optional<Json> best;
    for (const Json& line : lines) {
      if (line["kind"] != kind || line["ranks"] != ranks || !line.contains("modules") || line["modules"] != modules ||
          line["bodies"] != bodies)
        continue;
      if (!best) best = line;
      for (const char* const time : {"wall_us", "busiest_us", "glue_share"})
        if (line[time] < (*best)[time]) (*best)[time] = line[time];
    }
    return best;
  };
  const auto exchange_us = [&](const std::string& kind, int numbers) {
    double us = 0.0;
    for (const Json& line : lines)
      if (line["kind"] == kind && line.contains("exchange") && line["exchange"] == numbers && line["ranks"] == 2)
        us = us > 0.0 ? std::min(us, line["us"].get<double>()) : line["us"].get<double>();
    return us;
  };
  for (const std::string kind : {"threads", "mpi"}) {
    fmt::print("\n{}: two against one\n", kind);
    for (const Size& size : sizes(false)) {
      const std::optional<Json> one = run(kind, 1, size.modules, size.bodies()), two = run(kind, 2, size.modules, size.bodies());
      if (!one || !two) continue;
      const double wall = (*one)["wall_us"].get<double>() / (*two)["wall_us"].get<double>();
      const double busy = (*one)["busiest_us"].get<double>() / (*two)["busiest_us"].get<double>();
      fmt::print(
          "  {:3} modules of {:2} bodies: {:.2f} times as fast by the clock on the wall{}; by computation alone {:.2f}; "
          "glue/modules {:.3f}\n",
          size.modules, size.bodies(), wall, wall < 1.0 ? " (distribution loses)" : "", busy, (*one)["glue_share"].get<double>());
    }
    const std::optional<Json> one = run(kind, 1, 64, 52), two = run(kind, 2, 64, 52);
    if (!one || !two) continue;
    CostModel model;
    const double all = (*one)["busiest_us"].get<double>(), share = (*one)["glue_share"].get<double>();
    model.modules = 64.0;
    model.work = all / (1.0 + share);
    model.group = (all - model.work) / (model.modules - 1.0);
    model.messages = (*two)["messages"].get<double>();
    model.bytes_of_rank = (*two)["bytes"].get<double>() / 2.0;
    model.latency = exchange_us(kind, 8);
    model.per_byte = std::max(0.0, exchange_us(kind, 20000) - model.latency) / (2.0 * 8.0 * 20000.0);
    fmt::print(
        "  cost of a step, 64 modules of 52 bodies: {:.0f} us / p for modules, {:.1f} us a group (64/p - 1 of a rank's own, p - "
        "1 that span "
        "ranks), {:.1f} exchanges of {:.2f} us log2(p), {:.0f} bytes p at {:.0f} MB/s; measured with 2: {:.0f} us\n",
        model.work, model.group, model.messages, model.latency, model.bytes_of_rank,
        model.per_byte > 0.0 ? 1.0 / model.per_byte : 0.0, (*two)["busiest_us"].get<double>());
    for (const int p : {2, 8, 64, 1024})
      fmt::print("  {:5} ranks: {:9.1f} us per step, {:6.2f} times one rank{}\n", p, model.at(p), model.at(1) / model.at(p),
                 p > 64 ? " (more ranks than modules: the rest would wait)" : "");
    int best = 1;
    for (int p = 1; p <= 64; ++p)
      if (model.at(p) < model.at(best)) best = p;
    fmt::print("  best with {} ranks\n", best);
  }
  return 0;
}

/// A model and how it is solved.
struct Contestant {
  std::string model, glue;
};

struct Ready {
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Simulation> simulation;
};

/// As 'linkwork run' has it.
Ready ready(const Contestant& contestant) {
  const bool is_chain = contestant.model == "chain_modules";
  ReadOptions options;
  if (is_chain) options.set = {{"n", "64"}, {"cells", "17"}};
  Spec spec = read_model_file(LINKWORK_SOURCE_DIR "/models/" + contestant.model + ".toml", options);
  spec.settings.step = is_chain ? 1e-4 : 1e-3;
  spec.settings.end = spec.settings.output_every = 1e6 * spec.settings.step;
  spec.settings.glue = {contestant.glue, {}, {}};
  Ready run;
  if (contestant.glue == "none") {
    const auto model = std::make_shared<const Model>(build_model(spec));
    run.simulation = std::make_unique<Simulation>(model, in_one_tree(spec, *model));
  } else {
    LiveRun live = make_live_run(spec);
    run = {std::move(live.transport), std::move(live.simulation)};
  }
  for (int k = 0; k < 3; ++k) run.simulation->step();
  return run;
}

[[gnu::noinline]] void take_steps(Simulation& simulation, int steps) {
  for (int k = 0; k < steps; ++k)
    if (!simulation.step()) throw std::runtime_error(simulation.summary().status);
}

/// In turns, so that what else the machine does strikes both; the shortest time counts.
int price(bool quick) {
  struct Pair {
    std::string_view name;
    Contestant costs, of;
    int steps;
    double goal;
  };
  const std::vector<Pair> pairs{
      {"chain, 64 modules of 52 bodies", {"chain_modules", "hierarchical"}, {"chain_modules", "none"}, 20, 1.25},
      {"rover, 7 modules", {"rover_modules", "hierarchical"}, {"rover_modules", "none"}, 500, 1.6},
      {"four-bar, 2 modules", {"four_bar_modules", "hierarchical"}, {"four_bar_modules", "none"}, 4000, 2.5},
      {"rover of modules in one piece, and of one file", {"rover_modules", "none"}, {"rover", "none"}, 1000, 1.1}};
  const int rounds = quick ? 5 : 15;
  for (const Pair& pair : pairs) {
    std::array<Ready, 2> runs{ready(pair.costs), ready(pair.of)};
    std::array<double, 2> us{1e99, 1e99};
    for (int round = 0; round < rounds; ++round)
      for (std::size_t k = 0; k < runs.size(); ++k) {
        const auto before = std::chrono::steady_clock::now();
        take_steps(*runs[k].simulation, pair.steps);
        const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
        us[k] = std::min(us[k], 1e6 * seconds / pair.steps);
      }
    fmt::print("{:48} {:9.2f} us per step instead of {:9.2f}: {:.2f} (goal {})\n", pair.name, us[0], us[1], us[0] / us[1],
               pair.goal);
  }
  return 0;
}

}  // namespace
}  // namespace linkwork::bench

int main(int argc, char** argv) {
  const std::string_view command = argc > 2 ? argv[1] : "";
  const bool quick = argc > 3 && std::string_view(argv[3]) == "--quick";
  if (command == "measure") return linkwork::bench::measure(argv[2], quick);
  if (command == "fit") return linkwork::bench::fit(argv[2]);
  if (argc > 1 && std::string_view(argv[1]) == "price")
    return linkwork::bench::price(argc > 2 && std::string_view(argv[2]) == "--quick");
  if (argc == 5 && command == "steps") {
    linkwork::bench::take_steps(*linkwork::bench::ready({argv[2], argv[3]}).simulation, std::stoi(argv[4]));
    return 0;
  }
  std::fprintf(
      stderr,
      "usage: linkwork_bench_modules measure RESULTS [--quick], fit RESULTS, price [--quick], or steps MODEL GLUE STEPS\n");
  return 2;
}
