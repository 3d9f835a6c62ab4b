#include "linkwork/simulation/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/formulations/catalog.h"
#include "linkwork/integrators/catalog.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork {
namespace {

/// Every row's closure, in the order of the rows.
std::vector<CheckReport::Closure> closures_of(const Model& model) {
  std::vector<CheckReport::Closure> closures;
  for (const FrameClosure& closure : model.frame_closures) {
    const std::string_view type = closure.kind != nullptr ? closure.kind->name : closure.joint_kind->name;
    closures.push_back({closure.name, std::string(type), closure.row_count, true, static_cast<bool>(closure.joint), {}});
  }
  for (const CoordinateClosure& closure : model.coordinate_closures)
    closures.push_back({closure.name, "relation of coordinates", 1, false, false, {}});
  return closures;
}

/// Rank, redundant rows by closure, and whether the constraints can be met at all.
void find_rank(const Model& model, const State& state, CheckReport& report) {
  report.diagnosis = diagnose(model, state);
  report.rank = report.diagnosis.rank;
  std::size_t row = 0;
  for (CheckReport::Closure& closure : report.closures)
    for (int i = 0; i < closure.rows; ++i, ++row)
      if (report.diagnosis.rows[row].kind != RowDiagnosis::Kind::kIndependent) closure.redundant.push_back(model.rows[row].name);
}

void check_limits(const Model& model, const System& system, CheckReport& report) {
  for (const Joint& joint : model.joints) {
    if (!joint.limits) continue;
    const auto [low, high] = *joint.limits;
    std::array<double, 7> q{};
    std::array<double, 6> v{}, a{};
    system.joint_motion(joint, {}, q, v, a);
    const auto end = q.begin() + joint.kind->nq();
    const auto worst = std::find_if(q.begin(), end, [low = low, high = high](double x) { return x < low || x > high; });
    if (worst != end)
      report.warnings.push_back(
          fmt::format("joint '{}' starts at {:.6g}, outside [{:.6g}, {:.6g}]", joint.name, *worst, low, high));
  }
}

}  // namespace

int CheckReport::loops() const { return static_cast<int>(std::ranges::count(closures, true, &Closure::closes_loop)); }

std::vector<std::string> CheckReport::redundant() const {
  std::vector<std::string> names;
  for (const Closure& closure : closures) names.insert(names.end(), closure.redundant.begin(), closure.redundant.end());
  return names;
}

CheckReport check(const Model& model) {
  Simulation simulation(model);
  System system(model);
  AssemblyReport assembly;
  const State tree_start = assemble(model, assembly);  // in coordinates of the tree, whatever is run
  system.update(tree_start);
  const auto& integrator = chosen_entry(integrators(), model.settings.integrator, "integrator");
  const AutoFormulation automatic = choose_formulation(system, integrator.traits.takes);
  const bool is_auto = model.settings.formulation.name == "auto";

  CheckReport report;
  report.bodies = static_cast<int>(model.bodies.size()) - 1;
  report.joints = static_cast<int>(model.joints.size());
  report.coordinates = model.tree.nv;
  report.rows = model.row_count();
  report.closures = closures_of(model);
  report.assembly = simulation.assembly();
  report.warnings = model.warnings;
  check_limits(model, system, report);
  report.formulation = is_auto ? automatic.choice.name : model.settings.formulation.name;
  report.formulation_reason = is_auto ? "auto: " + automatic.reason : "as the model asks";
  report.in_coordinates = simulation.coordinates();
  report.costs = predict_costs(model, tree_start);
  report.free_body_cost = predict_free_body_cost(model);
  find_rank(model, tree_start, report);
  report.dof = report.coordinates - report.rank;
  Derivative rates;
  State start = simulation.state();
  report.trouble = simulation.equations().evaluate(start, rates).trouble;
  const std::string contradiction = describe_contradiction(model, report.diagnosis);
  if (simulation.is_exact() && report.trouble.empty())
    report.trouble = contradiction;
  else if (!contradiction.empty())
    report.warnings.push_back(contradiction);
  return report;
}

}  // namespace linkwork
