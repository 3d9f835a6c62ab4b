// One run of a chain of modules on the ranks of a simulated cluster: what a step takes, in the cluster's time, what it sends, and
// how much memory a rank has. Prints a line of JSON. Every rank makes only its own modules, and none has the whole.
//
//   linkwork_bench_scale MODULES CELLS STEPS [TREE [SLOWNESS ...]]
//
// 3 CELLS + 1 bodies in a module; the glue's option 'tree', -1: its default; a line for processors like this one, or for each of
// the given ones, which take so many times as long.

#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "bench/scale/rehearsal.h"
#include "linkwork/dynamics/integrator.h"
#include "linkwork/io/model_file.h"
#include "linkwork/modules/assembly_start.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/rank_tree.h"

namespace linkwork::bench {
namespace {

constexpr double kStep = 1e-4;  // s

/// models/chain_modules.toml with three modules: a first one, one from the middle, and a last one.
AssemblyPlan short_chain(int cells, double tree) {
  ReadOptions options;
  options.set = {{"n", "3"}, {"cells", std::to_string(cells)}};
  Spec spec = read_model_file(LINKWORK_SOURCE_DIR "/models/chain_modules.toml", options);
  spec.settings.step = kStep;
  spec.settings.end = spec.settings.output_every = 1e3;
  spec.settings.columns = {"energy"};
  spec.settings.glue = {"hierarchical", {{"tree", tree}}, {}};
  InProcess alone;
  AssemblyPlan plan = plan_assembly(spec);
  start_together(plan, spec, alone);
  plan.whole = nullptr;
  return plan;
}

/// The same with as many modules as wanted, three at least, made when they are asked for.
class Chain final : public AssemblySource {
 public:
  Chain(std::shared_ptr<const AssemblyPlan> base, int modules) : base_(std::move(base)), modules_(modules) {}

  int module_count() const override { return modules_; }

  AssemblyOutline outline() const override {
    AssemblyOutline outline;
    for (int m = 0; m < modules_; ++m) {
      const ModulePlan& like = base_->modules[like_of(m)];
      outline.weights.push_back(like.weight);
      outline.port_counts.push_back(like.port_count);
      outline.nest.modules.push_back(m);
      if (m > 0) outline.connections.push_back(ends_of(m - 1));
    }
    return outline;
  }

  ModulePlan module(int number) const override {
    const std::size_t like = like_of(number);
    const double x = number * base_->modules[1].start[0];  // each begins further on by a module's length
    ModulePlan module = {.name = fmt::format("segment{}", number + 1), .weight = base_->modules[like].weight, .make = {}};
    module.port_count = base_->modules[like].port_count;
    module.make = [base = base_, like, x](const std::vector<double>&) {
      std::vector<double> start = base->modules[like].start;
      start[0] = x;
      return base->modules[like].make(start);
    };
    return module;
  }

  Connection connection(int number) const override {  // the hook to the ground is the first module's own
    Connection connection = base_->connections[number == 0 ? 0 : 1];
    connection.name = fmt::format("hinge{}", number + 2);
    connection.a = ends_of(number)[0];
    connection.b = ends_of(number)[1];
    return connection;
  }

 private:
  std::size_t like_of(int module) const { return module == 0 ? 0 : module == modules_ - 1 ? 2 : 1; }
  std::array<PortRef, 2> ends_of(int connection) const {
    return {PortRef{connection, base_->connections[connection == 0 ? 0 : 1].a.port},
            PortRef{connection + 1, base_->connections[like_of(connection + 1) - 1].b.port}};
  }

  std::shared_ptr<const AssemblyPlan> base_;
  int modules_;
};

AssemblyPlan chain(int modules, int cells, double tree) {
  const auto base = std::make_shared<const AssemblyPlan>(short_chain(cells, tree));
  AssemblyPlan plan;
  plan.name = base->name;
  plan.settings = base->settings;
  plan.length = base->length * modules / 3;
  plan.settings.constraint_tolerance *= plan.length / base->length;
  plan.source = std::make_shared<Chain>(base, modules);
  return plan;
}

/// Of the process; <malloc.h>, which knows of the heap alone, does not go with SimGrid's headers.
double megabytes_in_use() {
  std::ifstream file("/proc/self/statm");
  double size = 0.0, resident = 0.0;
  file >> size >> resident;
  return 1e-6 * resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// Of the cluster: SimGrid gives its own clock to programs that ask the system.
double seconds() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The time that a step takes, in seconds of the cluster: of the first rank, which waits for the others in every step.
std::vector<double> timed_steps(RehearsedTransport& transport, Simulation& simulation, int steps, double slowness) {
  std::vector<double> times;
  for (int k = 0; k < steps; ++k) {
    transport.wait_for_all();
    const double start = seconds();
    if (!transport.perform(slowness, [&] { return simulation.step(); })) return {};
    times.push_back(seconds() - start);
  }
  std::ranges::sort(times);
  return times;
}

int run(int modules, int cells, int steps, double tree, const std::vector<double>& slownesses) {
  constexpr int kFewRanks = 64, kRehearsals = 12, kMoreRehearsals = 40;
  const double empty = megabytes_in_use();  // the simulator, and the program
  MpiWorld world;
  RehearsedTransport transport(world.transport());
  const auto begun = std::chrono::steady_clock::now();  // of this machine
  AssemblyPlan plan = chain(modules, cells, tree);
  const Choice glue = plan.settings.glue;
  Simulation simulation(std::make_unique<AssemblySystem>(std::move(plan), glue, transport));
  const double planned = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  if (!simulation.step()) return 1;

  AssemblySystem& system = dynamic_cast<AssemblySystem&>(simulation.system());
  Workshop& workshop = system.workshop();
  DifferentialEquation& equations = system.equations();
  const std::unique_ptr<Integrator> integrator = system.make_integrator();
  Moment from = system.begin(), to = from;
  VecX<double> rates, next_rates;
  if (!equations.evaluate(from, rates).ok()) return 1;
  transport.rehearse(transport.size() > kFewRanks ? kRehearsals : kMoreRehearsals, [&] {
    integrator->step(equations, from, rates, kStep, to);
    equations.evaluate(to, next_rates);
  });

  for (const double slowness : slownesses) {
    const MeteredTransport::Traffic before = workshop.transport().traffic();
    const std::vector<double> times = timed_steps(transport, simulation, steps, slowness);
    if (times.empty()) return 1;
    const MeteredTransport::Traffic& after = workshop.transport().traffic();
    std::array<double, 2> most{static_cast<double>(after.messages - before.messages) / steps,
                               (after.bytes - before.bytes) / steps};
    combine(transport, most, [](std::span<double> into, std::span<const double> given) {
      for (std::size_t i = 0; i < into.size(); ++i) into[i] = std::max(into[i], given[i]);
    });
    if (transport.rank() != 0) continue;
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const nlohmann::json json = {{"ranks", transport.size()},
                                 {"modules", modules},
                                 {"bodies", modules * (3 * cells + 1)},
                                 {"steps", steps},
                                 {"slowness", slowness},
                                 {"scheme", workshop.groups().scheme == Scheme::kTree ? "tree" : "one exchange"},
                                 {"us_per_step", 1e6 * times[times.size() / 2]},
                                 {"us_per_step_least", 1e6 * times.front()},
                                 {"messages", most[0]},
                                 {"bytes", most[1]},
                                 {"memory_mb_per_rank", (megabytes_in_use() - empty) / transport.size()},
                                 {"peak_mb", 1e-3 * static_cast<double>(usage.ru_maxrss)},
                                 {"planning_s", planned / transport.size()}};  // simulated ranks plan one after the other
    std::printf("%s\n", json.dump().c_str());
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace linkwork::bench

int main(int argc, char** argv) {
  if (argc < 4 || std::atoi(argv[1]) < 3) {
    std::fputs("usage: linkwork_bench_scale MODULES CELLS STEPS [TREE [SLOWNESS ...]], with three modules or more\n", stderr);
    return 2;
  }
  std::vector<double> slownesses;
  for (int i = 5; i < argc; ++i) slownesses.push_back(std::atof(argv[i]));
  if (slownesses.empty()) slownesses.push_back(1.0);
  return linkwork::bench::run(std::atoi(argv[1]), std::atoi(argv[2]), std::atoi(argv[3]), argc > 4 ? std::atof(argv[4]) : -1.0,
                              slownesses);
}
