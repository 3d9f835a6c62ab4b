#include "linkwork/modules/model_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "linkwork/dynamics/diagnosis.h"
#include "linkwork/modules/assembly_start.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/modules/one_piece.h"
#include "linkwork/modules/remote/remote_assembly.h"
#include "linkwork/simulation/assembly.h"
#include "linkwork/simulation/design_fit.h"
#include "linkwork/simulation/one_tree.h"
#include "linkwork/transport/hybrid.h"
#include "linkwork/transport/thread_team.h"

namespace linkwork {

namespace {

Summary run_in_one_piece(const Spec& spec, Transport& world, const ModelRunOptions& options, const Prepare& prepare) {
  if (options.threads > 1)
    throw InputError({"--threads", 0, 0}, "the model is solved in one piece, by one thread",
                     spec.modules.empty() ? "a model made of modules" : "a glue other than none");
  if (world.rank() != 0) return {};
  const Spec design = fitted_design(spec);
  const auto model = std::make_shared<const Model>(build_model(design));
  Simulation simulation(model, in_one_tree(design, *model));
  if (options.from != nullptr) simulation.restore(*options.from);
  InProcess alone;  // the other ranks have nothing to do, and do not answer
  return simulation.run(prepare({simulation, model, nullptr, alone}));
}

/// The first rank compares what it sees with the model in one piece.
void compare(PieceComparison& comparison, Observer& observer) {
  observer.object = [&comparison, others = observer.object](std::span<const double> row) {
    std::string objection = comparison.object_to(row);
    return objection.empty() && others ? others(row) : objection;
  };
  if (observer.checkpoint)
    observer.checkpoint = [&comparison, save = observer.checkpoint](SavedRun saved) {
      saved.summary.modules->pretty = comparison.largest();
      save(saved);
      comparison.begin_anew();
    };
}

Choice glue_for(const Spec& spec, const OwnModules& modules, std::vector<std::string>& notes) {
  Choice glue = chosen_glue(spec, notes);
  if (glue.name == "none") refuse_remote_modules(spec);
  if (glue.name == "none" && !modules.empty())
    throw InputError(spec.settings.glue.place,
                     fmt::format("the module '{}' of a program cannot be part of one piece{}", modules.begin()->first,
                                 notes.empty() ? "" : "; " + notes.front()),
                     "a glue, and a model whose modules can be solved apart");
  return glue;
}

/// Its modules placed at a consistent start. Rounded designs are fitted as in one piece.
AssemblyPlan plan_with(const Spec& given, const OwnModules& modules, Transport& transport) {
  const Spec spec = remote_modules(given) != nullptr ? given : fitted_design(given);
  AssemblyPlan plan = plan_assembly(spec, modules.empty());  // modules of programs have the ports that the file tells of
  for (ModulePlan& module : plan.modules)
    if (const auto own = modules.find(module.name); own != modules.end())
      module.make = [make = own->second](const std::vector<double>&) { return make(); };
  if (!plan.starts_at_ports) start_together(plan, spec, transport);
  return plan;
}

Summary run_on_rank(const AssemblyPlan& plan, const Choice& glue, Transport& transport, const SavedRun* from,
                    const Prepare& prepare) {
  const std::shared_ptr<const Model>& model = plan.starts_at_ports ? plan.drawn : plan.whole;
  auto made = std::make_unique<AssemblySystem>(plan, glue, transport);
  AssemblySystem& system = *made;
  Simulation simulation(std::move(made));
  if (from != nullptr) simulation.restore(*from);
  Observer observer = prepare({simulation, model, &system, transport});
  if (transport.rank() != 0) return simulation.run(observer);
  if (plan.starts_at_ports) {
    Summary summary = simulation.run(observer);
    summary.modules->pretty = std::numeric_limits<double>::quiet_NaN();  // nobody has the whole to compare with
    return summary;
  }
  PieceComparison comparison(*model, system.columns(), system.is_exact(), [&system] { return system.whole(); });
  if (from != nullptr) comparison.resume(from->summary.modules->pretty, from->outputs);
  compare(comparison, observer);
  Summary summary = simulation.run(observer);
  summary.modules->pretty = comparison.largest();
  // Modules see their own constraints only; which reactions are not unique is a matter of the whole.
  if (!summary.redundant.empty()) {
    AssemblyReport report;
    summary.not_unique = diagnose(*model, assemble(*model, report)).undetermined;
  }
  return summary;
}

}  // namespace

Summary run_model(const Spec& spec, Transport& world, const ModelRunOptions& options, const Prepare& prepare) {
  std::vector<std::string> notes;
  const Choice glue = glue_for(spec, options.modules, notes);
  if (options.from != nullptr && options.from->summary.modules.has_value() != (glue.name != "none"))
    throw InputError({}, "what was saved is a run that was solved in another way", "the version that has written it");
  if (glue.name == "none") {
    Summary summary = run_in_one_piece(spec, world, options, prepare);
    summary.notes.insert(summary.notes.begin(), notes.begin(), notes.end());
    return summary;
  }
  AssemblyPlan plan = plan_with(spec, options.modules, world);
  if (plan.starts_at_ports && options.threads > 1 && world.size() > 1)
    throw InputError({"--threads", 0, 0}, "mpirun has started several processes, and modules are on other hosts",
                     "either threads or processes");
  if (plan.starts_at_ports) use_remote_modules(plan, spec, world, options.dial);
  // More threads than modules would only wait.
  const int threads = std::min(options.threads, std::max(1, plan.module_count() / world.size()));
  if (threads == 1) return run_on_rank(plan, glue, world, options.from, prepare);
  if (world.size() > 1) world.admit_threads();
  Summary summary;
  ThreadTeam team(threads);
  team.run([&](Transport& of_threads) {
    HybridTransport hybrid(world, of_threads);
    Transport& transport = world.size() > 1 ? hybrid : of_threads;
    Summary own = run_on_rank(plan, glue, transport, options.from, prepare);
    if (of_threads.rank() == 0) summary = std::move(own);
  });
  summary.threads = threads;
  summary.ranks = world.size();
  return summary;
}

LiveRun make_live_run(const Spec& spec, const OwnModules& modules) {
  LiveRun live;
  const Choice glue = glue_for(spec, modules, live.notes);
  if (glue.name == "none") {
    live.model = std::make_shared<const Model>(fitted_model(spec));
    live.simulation = std::make_unique<Simulation>(live.model);
    return live;
  }
  live.is_one_piece = false;
  live.transport = std::make_unique<InProcess>();
  AssemblyPlan plan = plan_with(spec, modules, *live.transport);
  if (plan.starts_at_ports) use_remote_modules(plan, spec, *live.transport);
  live.model = plan.starts_at_ports ? plan.drawn : plan.whole;
  live.simulation = std::make_unique<Simulation>(std::make_unique<AssemblySystem>(std::move(plan), glue, *live.transport));
  return live;
}

std::vector<double> KeptRun::operator[](const std::string& column) const {
  const auto found = std::ranges::find(columns, column);
  if (found == columns.end()) throw std::out_of_range("no column " + column);
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row[static_cast<std::size_t>(found - columns.begin())]);
  return values;
}

KeptRun run_model(const Spec& spec, int threads) {
  KeptRun kept;
  InProcess alone;
  kept.summary = run_model(spec, alone, {.threads = threads}, [&](const ReadyRun& ready) {
    if (ready.transport.rank() != 0) return Observer{};
    kept.columns = ready.simulation.columns();
    return Observer{.row = [&](std::span<const double> row) { kept.rows.emplace_back(row.begin(), row.end()); }};
  });
  return kept;
}

}  // namespace linkwork
