#include "studies/module_run.h"

#include <algorithm>
#include <stdexcept>

#include "linkwork/io/model_file.h"
#include "linkwork/modules/assembly_run.h"
#include "linkwork/modules/assembly_start.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/thread_team.h"

namespace linkwork::studies {

std::vector<double> ModuleRun::operator[](const std::string& column) const {
  const auto found = std::ranges::find(columns, column);
  if (found == columns.end()) throw std::logic_error("no column " + column);
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row[static_cast<std::size_t>(found - columns.begin())]);
  return values;
}

Spec ready_model(const StudyContext& context, const std::string& name, double end) {
  Spec spec = read_model_file(context.models / (name + ".toml"));
  spec.settings.end = end;
  return spec;
}

ModuleRun run_modules(const Spec& spec, int threads) {
  ModuleRun result;
  const auto keep = [&](std::span<const double> row) { result.rows.emplace_back(row.begin(), row.end()); };
  std::vector<std::string> notes;
  const Choice glue = chosen_glue(spec, notes);
  if (glue.name == "none") {
    const Model model = build_model(spec);
    Simulation simulation(model);
    result.columns = simulation.columns();
    Observer observer;
    observer.row = keep;
    result.summary = simulation.run(observer);
    return result;
  }
  AssemblyPlan plan = plan_assembly(spec);
  InProcess alone;
  std::unique_ptr<const Model> model;
  start_together(plan, spec, alone, model);
  ThreadTeam team(threads);
  team.run([&](Transport& transport) {
    AssemblyRun run(plan, glue, transport);
    AssemblyObserver observer;
    if (transport.rank() == 0) observer.row = keep;
    const Summary summary = run.run(observer);
    if (transport.rank() != 0) return;
    result.columns = run.columns();
    result.summary = summary;
  });
  return result;
}

}  // namespace linkwork::studies
