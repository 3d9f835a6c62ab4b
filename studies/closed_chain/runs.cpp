#include "studies/closed_chain/runs.h"

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/equations_of_motion.h"
#include "linkwork/io/model_file.h"
#include "linkwork/model/input_error.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/metered.h"

namespace linkwork::studies::closed_chain {
namespace {

Spec model_spec(const StudyContext& context, const Mechanism& mechanism, double end, double every) {
  ReadOptions options;
  options.set = mechanism.set;
  Spec spec = read_model_file(context.models / (mechanism.model + ".toml"), options);
  spec.settings.end = end;
  spec.settings.output_every = every;
  return spec;
}

void summarize_errors(Run& run) {
  const std::vector<double> errors = column(run, "error.position");
  if (errors.empty()) return;
  run.mean_error = 0.0;
  for (double error : errors) run.mean_error += error / static_cast<double>(errors.size());
}

Run recorded(const Spec& spec) {
  Run run;
  try {
    const Model model = build_model(spec);
    Simulation simulation(model);
    run.columns = simulation.columns();
    run.coordinates = simulation.equations().model().tree.nv;
    run.constraints = simulation.equations().model().row_count();
    Observer observer;
    observer.row = [&](std::span<const double> row) { run.rows.emplace_back(row.begin(), row.end()); };
    const double begin = busy_seconds();
    const Summary summary = simulation.run(observer);
    run.seconds = busy_seconds() - begin;
    run.completed = summary.completed;
    if (!summary.completed) run.trouble = summary.status;
    if (summary.coordinates != spec.settings.coordinates.name)  // another method's result must not pass for this one's
      return {.trouble = "it ran in the coordinates " + summary.coordinates};
    if (!run.completed) run.seconds = std::numeric_limits<double>::quiet_NaN();
    run.largest_error = summary.position_error_max;
    if (summary.coordinates == "CE") {  // what is left of the tree when its loops are embedded
      run.coordinates = summary.dof;
      run.constraints = 0;
    }
    summarize_errors(run);
  } catch (const InputError& error) {
    run.trouble = error.what();
  }
  return run;
}

std::size_t index(const Run& run, const std::string& name) {
  const auto at = std::ranges::find(run.columns, name);
  if (at == run.columns.end()) throw std::logic_error("no column " + name);
  return static_cast<std::size_t>(at - run.columns.begin());
}

}  // namespace

const std::array<Method, 8>& methods() {
  static const std::array<Method, 8> all{{{"CE (analytic)", "CE", "none"},
                                          {"CE (numeric)", "CE:analytic=0", "none"},
                                          {"TA, no error control", "TA", "none", "schur:early=0"},
                                          {"TA, Baumgarte", "TA", "baumgarte", "schur:early=0"},
                                          {"TA, projection", "TA", "projection", "schur:early=0"},
                                          {"FA, no error control", "FA", "none", "schur:early=0"},
                                          {"FA, Baumgarte", "FA", "baumgarte", "schur:early=0"},
                                          {"FA, projection", "FA", "projection", "schur:early=0"}}};
  return all;
}

Method with_early_elimination(Method method) {
  if (method.formulation != "auto") method.formulation = "schur";
  return method;
}

Run run(const StudyContext& context, const Mechanism& mechanism, const Method& method, const Span& span) {
  Spec spec = model_spec(context, mechanism, span.end, span.every);
  spec.settings.step = span.step;
  spec.settings.integrator = {"rk4", {}, {}};
  spec.settings.coordinates = parse_choice(method.coordinates, {});
  spec.settings.stabilization = parse_choice(method.stabilization, {});
  spec.settings.formulation = parse_choice(method.formulation, {});
  return recorded(spec);
}

Run reference_run(const StudyContext& context, const Mechanism& mechanism, double end, double every) {
  Spec spec = model_spec(context, mechanism, end, every);
  spec.settings.integrator = {"dopri45", {}, {}};
  spec.settings.rtol = 1e-12;
  spec.settings.atol = 1e-13;
  spec.settings.coordinates = {"TA", {}, {}};
  spec.settings.stabilization = {"projection", {}, {}};
  return recorded(spec);
}

std::vector<double> column(const Run& run, const std::string& name) {
  if (run.rows.empty()) return {};
  const std::size_t k = index(run, name);
  std::vector<double> values;
  for (const auto& row : run.rows) values.push_back(row[k]);
  return values;
}

std::vector<std::string> position_columns(const Run& run) {
  std::vector<std::string> names;
  std::ranges::copy_if(run.columns, std::back_inserter(names), [](const std::string& name) { return name.starts_with("q."); });
  return names;
}

std::string listed(const std::map<std::string, std::vector<std::string>>& troubles) {
  std::string text;
  for (const auto& [trouble, names] : troubles) {
    if (!text.empty()) text += "; ";
    for (std::size_t k = 0; k < names.size(); ++k) text += (k > 0 ? ", " : "") + names[k];
    text += ": " + trouble;
  }
  return text;
}

double point_distance(const Run& run, const Run& reference, const std::vector<std::string>& points) {
  double sum = 0.0;
  std::size_t count = 0;
  for (const std::string& point : points)
    for (const char* axis : {".x", ".y", ".z"}) {
      const std::vector<double> a = column(run, "p." + point + axis), b = column(reference, "p." + point + axis);
      count = std::min(a.size(), b.size());
      for (std::size_t k = 0; k < count; ++k) sum += (a[k] - b[k]) * (a[k] - b[k]);
    }
  return std::sqrt(sum / static_cast<double>(count * points.size()));
}

double largest_difference(const Run& run, const Run& reference, const std::string& name) {
  const std::vector<double> a = column(run, name), b = column(reference, name);
  double largest = 0.0;
  for (std::size_t k = 0; k < std::min(a.size(), b.size()); ++k) largest = std::max(largest, std::abs(a[k] - b[k]));
  return largest;
}

}  // namespace linkwork::studies::closed_chain
