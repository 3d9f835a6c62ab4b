#include "tests/support/assemblies.h"

#include <algorithm>
#include <cmath>

#include "linkwork/modules/assembly_system.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/thread_team.h"
#include "tests/support/mechanisms.h"

namespace linkwork::test {

std::vector<double> Rows::of(const std::string& column) const {
  const auto at = static_cast<std::size_t>(std::ranges::find(columns, column) - columns.begin());
  std::vector<double> values;
  for (const auto& row : rows) values.push_back(row.at(at));
  return values;
}

double Rows::last(const std::string& column) const { return of(column).back(); }

Rows run_in_one_piece(const Spec& given) {
  Spec spec = given;
  if (spec.settings.coordinates.name == "auto") spec.settings.coordinates = {"TA", {}, {}};  // those of modules
  Simulation simulation(build_model(spec));
  Rows result{simulation.columns(), {}, {}};
  Observer observer;
  observer.row = [&](std::span<const double> row) { result.rows.emplace_back(row.begin(), row.end()); };
  result.summary = simulation.run(observer);
  return result;
}

AssemblyPlan started_plan(const Spec& spec) {
  AssemblyPlan plan = plan_assembly(spec);
  InProcess alone;
  start_together(plan, spec, alone);
  return plan;
}

Rows run_plan(const AssemblyPlan& plan, const Choice& glue, int threads) {
  Rows result;
  ThreadTeam team(threads);
  team.run([&](Transport& transport) {
    Simulation run(std::make_unique<AssemblySystem>(plan, glue, transport));
    Observer observer;
    if (transport.rank() == 0)
      observer.row = [&](std::span<const double> row) { result.rows.emplace_back(row.begin(), row.end()); };
    const Summary summary = run.run(observer);
    if (transport.rank() != 0) return;
    result.columns = run.columns();
    result.summary = summary;
  });
  return result;
}

Rows run_modules(const Spec& spec, int threads) {
  std::vector<std::string> notes;
  return run_plan(started_plan(spec), chosen_glue(spec, notes), threads);
}

std::pair<double, std::string> largest_difference(const Rows& a, const Rows& b) {
  std::map<std::string, std::size_t> place;
  for (std::size_t c = 0; c < b.columns.size(); ++c) place[b.columns[c]] = c;
  double largest = a.rows.size() == b.rows.size() ? 0.0 : std::numeric_limits<double>::infinity();
  std::string where = largest == 0.0 ? "" : "number of rows";
  for (std::size_t c = 0; c < a.columns.size(); ++c) {
    if (!a.columns[c].starts_with("q.") && !a.columns[c].starts_with("v.")) continue;
    const auto found = place.find(a.columns[c]);
    if (found == place.end()) return {std::numeric_limits<double>::infinity(), a.columns[c] + " is missing"};
    for (std::size_t r = 0; r < std::min(a.rows.size(), b.rows.size()); ++r) {
      const double difference = std::abs(a.rows[r][c] - b.rows[r][found->second]);
      if (difference > largest || std::isnan(difference)) largest = difference, where = a.columns[c];
    }
  }
  return {largest, where};
}

std::vector<std::string> library_assemblies() {
  std::vector<std::string> names;
  for (const std::string& name : library_models())
    if (!library_spec(name).modules.empty()) names.push_back(name);
  return names;
}

}  // namespace linkwork::test
