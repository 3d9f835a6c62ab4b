#include <array>

#include "apps/linkwork/comparison_plan.h"
#include "apps/linkwork/methods.h"
#include "linkwork/fmu/fmu_export.h"
#include "linkwork/front/mechanism_parts.h"
#include "linkwork/front/model_origin.h"
#include "linkwork/io/analysis_file.h"
#include "linkwork/io/check_file.h"
#include "linkwork/io/comparison_file.h"
#include "linkwork/modules/settings_check.h"
#include "linkwork/version.h"
#include "python/src/bindings.h"
#include "studies/catalog.h"
#include "studies/free_cores.h"
#include "studies/study_file.h"

namespace linkwork::python {

namespace {

/// Computes a JSON text without the lock, and reads it.
template <class Compute>
py::object found(Compute compute) {
  std::string json;
  {
    const py::gil_scoped_release unlocked;
    json = compute();
  }
  return parsed(json);
}

std::string checked(const Mechanism& model) {
  check_settings(model.spec().settings);
  return check_json(check(*model.model()), *model.model());
}

py::tuple inverse_motion_of(const Mechanism& model, const std::vector<std::string>& actuators, const std::string& motion,
                            const py::dict& given) {
  const RunOptions options = run_options(given);
  Interruption interruption;
  InverseMotion inverse;
  {
    const py::gil_scoped_release unlocked;
    inverse = linkwork::inverse(model, actuators, motion, options, [&] { return interruption.go_on(); });
  }
  interruption.raise();
  const auto rows = static_cast<py::ssize_t>(inverse.rows.size()), columns = static_cast<py::ssize_t>(inverse.columns.size());
  py::array_t<double> values({rows, columns});
  double* to = values.mutable_data();
  for (const std::vector<double>& row : inverse.rows) to = std::copy(row.begin(), row.end(), to);
  return py::make_tuple(parsed(inverse_json(inverse)), inverse.columns, values);
}

py::object influences(const Mechanism& model, const std::vector<std::string>& measures,
                      const std::vector<std::string>& parameters, const std::vector<std::string>& starts,
                      const std::string& method, const py::dict& given) {
  const RunOptions options = run_options(given);
  Interruption interruption;
  py::object answer = found([&] {
    return sensitivity_json(
        sensitivity(model, {measures, parameters, starts, method}, options, [&] { return interruption.go_on(); }));
  });
  interruption.raise();
  return answer;
}

// --- comparisons

using ComparisonText = std::pair<const char*, cli::ComparisonTexts::Text cli::ComparisonTexts::*>;
constexpr std::array kComparisonTexts{ComparisonText{"end", &cli::ComparisonTexts::end},
                                      ComparisonText{"every", &cli::ComparisonTexts::every},
                                      ComparisonText{"coordinates", &cli::ComparisonTexts::coordinates},
                                      ComparisonText{"formulations", &cli::ComparisonTexts::formulations},
                                      ComparisonText{"stabilizations", &cli::ComparisonTexts::stabilizations},
                                      ComparisonText{"integrators", &cli::ComparisonTexts::integrators},
                                      ComparisonText{"steps", &cli::ComparisonTexts::steps},
                                      ComparisonText{"tolerances", &cli::ComparisonTexts::tolerances},
                                      ComparisonText{"reference", &cli::ComparisonTexts::reference},
                                      ComparisonText{"reference_rtol", &cli::ComparisonTexts::reference_rtol},
                                      ComparisonText{"budget", &cli::ComparisonTexts::budget}};

/// Models with their labels, and texts as on the command line.
py::object compared(const std::vector<std::pair<std::string, Mechanism>>& models,
                    const std::map<std::string, std::string>& given) {
  cli::ComparisonTexts texts;
  for (const auto& [name, member] : kComparisonTexts)
    if (const auto text = given.find(name); text != given.end()) texts.*member = text->second;
  Interruption interruption;
  return found([&] {
    std::vector<Problem> problems;
    for (const auto& [label, model] : models) {
      problems.push_back({label, model.spec()});
      if (texts.end) apply({.end = std::stod(*texts.end)}, problems.back().spec.settings);
    }
    const ComparisonPlan plan = cli::make_plan(texts, problems.front().spec.settings);
    const Comparison comparison = compare(problems, plan, [&](const ComparisonProgress&) {
      if (!interruption.go_on()) interruption.raise();
    });
    return comparison_json(comparison);
  });
}

// --- studies and methods

py::object study(const std::string& name, bool quick, const std::string& models, const py::object& progress) {
  std::vector<std::string> names;
  for (const studies::Study& each : studies::all_studies()) {
    names.push_back(each.info.name);
    if (each.info.name != name) continue;
    studies::StudyContext context;
    context.quick = quick;
    context.models = models;
    context.progress = [&](const std::string& text) {
      with_python([&] {
        if (PyErr_CheckSignals() != 0) throw py::error_already_set();
        if (!progress.is_none()) progress(text);
      });
    };
    return found([&] {
      const studies::Stopwatch stopwatch;
      const studies::StudyResult result = each.run(context);
      return studies::study_json(each.info, result, {quick, stopwatch.seconds(), LINKWORK_VERSION});
    });
  }
  throw unknown_name({}, "study", name, names);
}

py::dict methods() {
  py::dict all;
  const auto add = [&](const char* axis, const std::vector<CatalogInfo>& choices) {
    py::dict summaries;
    for (const CatalogInfo& choice : choices) summaries[py::str(choice.name)] = choice.summary;
    all[axis] = summaries;
  };
  add("coordinates", cli::coordinate_choices());
  add("formulations", cli::formulation_choices());
  add("stabilizations", cli::stabilization_choices());
  add("integrators", cli::integrator_choices());
  add("glues", cli::glue_choices());
  py::dict papers;
  for (const studies::Study& each : studies::all_studies()) papers[py::str(each.info.name)] = each.info.summary;
  all["studies"] = papers;
  return all;
}

}  // namespace

void bind_analyses(py::module_& module) {
  module.def("set_fmu_binary", [](const std::string& file) { set_fmu_binary(file); });
  module.def("export_fmu", [](const Mechanism& model, const std::string& file, int fmi, const std::string& types) {
    FmuOptions options{.fmi = fmi};
    set_types(options, types);
    ExportedFmu exported;
    {
      const py::gil_scoped_release unlocked;
      exported = export_fmu(model, file, options);
    }
    py::dict answer;
    answer["inputs"] = exported.inputs;
    answer["outputs"] = exported.outputs;
    answer["parameters"] = exported.parameters;
    answer["tunable"] = exported.tunable;
    answer["states"] = exported.states;
    answer["notes"] = exported.notes;
    return answer;
  });
  module.def("check", [](const Mechanism& model) { return found([&] { return checked(model); }); });
  module.def("equilibrium", [](const Mechanism& model) { return found([&] { return equilibrium_json(equilibrium(model)); }); });
  module.def("linearize", [](const Mechanism& model, const std::string& at) {
    return found([&] { return linearization_json(linearize(model, at)); });
  });
  module.def("modes", [](const Mechanism& model, const std::string& at, int count) {
    return found([&] { return modes_json(modes(model, at, count)); });
  });
  module.def("inverse", inverse_motion_of);
  module.def("sensitivity", influences);
  module.def("compare", compared);
  module.def("study", study);
  module.def("methods", methods);
}

}  // namespace linkwork::python
