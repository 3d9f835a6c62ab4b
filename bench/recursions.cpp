#include <benchmark/benchmark.h>

#include <chrono>
#include <string>

#include "linkwork/dynamics/acceleration_derivatives.h"
#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/io/model_file.h"
#include "linkwork/model/model.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/stabilizations/catalog.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/kinematics.h"

namespace linkwork {
namespace {

Model library_model(const std::string& name, const std::string& parameter = "", long value = 0) {
  ReadOptions options;
  if (!parameter.empty()) options.set.emplace_back(parameter, std::to_string(value));
  return build_model(read_model_file(std::string(LINKWORK_SOURCE_DIR) + "/models/" + name + ".toml", options));
}

/// Forward dynamics of an open chain of n revolute links: time per call and per body.
void chain_aba(benchmark::State& bench) {
  const Model model = library_model("chain", "n", bench.range(0));
  AssemblyReport report;
  const State state = assemble(model, report);
  TreeWork<double> work(model.tree);
  VecX<double> vdot(model.tree.nv);
  for (auto _ : bench) {
    update_motion(model.tree, state.q.data(), state.v.data(), work);
    forward_dynamics(model.tree, work, vdot);
    benchmark::DoNotOptimize(vdot.data());
  }
  bench.counters["per_body"] = benchmark::Counter(static_cast<double>(bench.range(0)),
                                                  benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK(chain_aba)->RangeMultiplier(10)->Range(10, 10000);

/// One constrained evaluation through the public interface: forces, constraint terms, accelerations, multipliers.
void evaluation(benchmark::State& bench, const std::string& name, const std::string& formulation, long n) {
  const Model model = n > 0 ? library_model(name, "n", n) : library_model(name);
  EquationsOfMotion equations(model, make_chosen(formulations(), {formulation, {}, {}}, "formulation", model),
                              make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
  AssemblyReport report;
  State state = assemble(model, report);
  Derivative rates;
  for (auto _ : bench) {
    if (Status status = equations.evaluate(state, rates); !status.ok()) bench.SkipWithError(status.trouble.c_str());
    benchmark::DoNotOptimize(rates.vdot.data());
  }
}
BENCHMARK_CAPTURE(evaluation, four_bar_schur, "four_bar", "schur", 0);
BENCHMARK_CAPTURE(evaluation, four_bar_lagrange, "four_bar", "lagrange", 0);
BENCHMARK_CAPTURE(evaluation, n_four_bar_4_schur, "n_four_bar", "schur", 4);
BENCHMARK_CAPTURE(evaluation, n_four_bar_16_schur, "n_four_bar", "schur", 16);
BENCHMARK_CAPTURE(evaluation, n_four_bar_40_schur, "n_four_bar", "schur", 40);
BENCHMARK_CAPTURE(evaluation, n_four_bar_100_schur, "n_four_bar", "schur", 100);
BENCHMARK_CAPTURE(evaluation, stewart_schur, "stewart", "schur", 0);
BENCHMARK_CAPTURE(evaluation, bricard_schur, "bricard", "schur", 0);

/// All derivatives of accelerations and multipliers; `evaluations`: how many evaluations take as long.
void derivatives(benchmark::State& bench, const std::string& name) {
  using Clock = std::chrono::steady_clock;
  const Model model = library_model(name);
  EquationsOfMotion equations(model, make_chosen(formulations(), {"schur", {}, {}}, "formulation", model),
                              make_chosen(stabilizations(), {"none", {}, {}}, "stabilization", model));
  AssemblyReport report;
  State state = assemble(model, report);
  Derivative rates;
  AccelerationDerivatives exact(model);
  Clock::duration evaluating{}, deriving{};
  for (auto _ : bench) {
    const auto begin = Clock::now();
    Status status = equations.evaluate(state, rates);
    const auto evaluated = Clock::now();
    equations.complete();
    if (status.ok()) status = exact.compute(equations.system(), equations.solution());
    if (!status.ok()) bench.SkipWithError(status.trouble.c_str());
    benchmark::DoNotOptimize(exact.vdot().data());
    deriving += Clock::now() - evaluated, evaluating += evaluated - begin;
  }
  bench.counters["evaluations"] = static_cast<double>(deriving.count()) / static_cast<double>(evaluating.count());
}
BENCHMARK_CAPTURE(derivatives, four_bar, "four_bar");
BENCHMARK_CAPTURE(derivatives, stewart, "stewart");
BENCHMARK_CAPTURE(derivatives, rover, "rover");

/// The whole default run of the main example, output kept in memory.
void four_bar_run(benchmark::State& bench) {
  const Model model = library_model("four_bar");
  for (auto _ : bench) {
    Simulation simulation(model);
    benchmark::DoNotOptimize(simulation.run().steps);
  }
}
BENCHMARK(four_bar_run)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace linkwork
