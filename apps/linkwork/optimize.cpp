#include "linkwork/ensemble/optimize.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/ensemble_options.h"
#include "apps/linkwork/interruption.h"
#include "apps/linkwork/lists.h"
#include "apps/linkwork/progress.h"
#include "apps/linkwork/result_folder.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/io/page.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork::cli {
namespace {

constexpr const char* kOptimizeFooter =
    R"text(Begins with the values that the model has. A measure is written as for 'linkwork sweep'. For final, max, min and integral of one
position, velocity or sensor the gradient is that of 'linkwork sensitivity'; others are searched without derivatives. --method global
first searches all of the bounds.

--fit finds the parameters with which a run comes nearest to data, a file with a column t and columns of the model, by least squares;
columns of different kinds count by the spread of their data. It gives standard errors and 95 % confidence intervals.

Writes optimize.json and optimize.html, a page with the history, what was found, and how well it fits. Exit code 1: no optimum was
found, or the evaluations were used up.

Examples:
  linkwork optimize four_bar --minimize "max(v.theta)" --over l1=0.8:1.2 --over torque=4:8 --end 1
  linkwork optimize four_bar --maximize "max(q.phi)-min(q.phi)" --over l1=0.8:1.2 --end 2 --evaluations 60
  linkwork optimize pendulum --fit measured.csv --fit-columns angle=q.theta --over l=0.5:2)text";

struct OptimizeOptions {
  EnsembleOptions common;
  std::vector<std::string> over;
  std::optional<std::string> minimize, maximize, fit, fit_columns, method, evaluations, tolerance;

  OptimizeRequest request() const {
    OptimizeRequest made;
    made.over = over;
    made.minimize = minimize.value_or(""), made.maximize = maximize.value_or(""), made.fit = fit.value_or("");
    if (fit_columns) made.fit_columns = split_list(*fit_columns, "--fit-columns");
    made.method = method.value_or("auto");
    if (evaluations) {
      const long count = whole_number(*evaluations, "--evaluations");
      if (count < 1 || count > 1'000'000)
        throw InputError({"--evaluations", 0, 0}, fmt::format("is {}", count), "a number from 1 to 1000000");
      made.evaluations = static_cast<int>(count);
    }
    if (tolerance) made.tolerance = parse_positive(*tolerance, "--tolerance");
    made.threads = common.threads();
    return made;
  }
};

std::string in_words(const Optimum::Parameter& each) {
  std::string text = fmt::format("{:.9g}", each.value);
  if (std::isfinite(each.standard_error))
    text += fmt::format(" +- {:.2g} (95 %: +- {:.2g})", each.standard_error, 0.5 * (each.confidence_high - each.confidence_low));
  return text + (each.at_bound ? " (at its bound)" : "");
}

void print_optimum(const Optimum& found) {
  const char* const goal = found.goal == "fit" ? "fitted to" : found.goal == "minimize" ? "least" : "largest";
  print("{}: {} {}, {} after {}\n", found.model, goal, found.text, found.status,
        counted(static_cast<long>(found.history.size()), "run"));
  if (std::isfinite(found.value))
    print_line(found.goal == "fit" ? "rms residual" : "value",
               fmt::format("{:.9g}, at the start {:.9g}", found.value, found.start_value));
  for (const Optimum::FittedColumn& column : found.columns) print_line("rms " + column.column, fmt::format("{:.6g}", column.rms));
  for (const Optimum::Parameter& each : found.parameters) print_line(each.name, in_words(each));
  print_line("method", found.method);
  for (const std::string& note : found.notes) print_line("note", note);
}

int perform(const OptimizeOptions& options) {
  expect_interruption();
  const OptimizeRequest request = options.request();
  const EnsembleModel model = options.common.model();
  Progress progress(options.common.quiet);
  Optimum found;
  try {
    found = optimize(
        model, request, [] { return !interrupted(); },
        [&](const Optimum& so_far) {
          const auto done = static_cast<double>(so_far.history.size());
          progress.show_part(std::min(1.0, done / request.evaluations), fmt::format("{} runs", so_far.history.size()));
        });
  } catch (const SimulationError& error) {
    progress.finish();
    complain("{}", error.what());
    return kFailed;
  }
  progress.finish();
  const ResultFolder folder(options.common.out, model.spec().name + "-optimize");
  write_text_file(folder / "optimize.json", optimum_json(found));
  const bool has_page = !ensemble_template().empty();
  if (has_page)
    write_text_file(folder / "optimize.html", page_html(ensemble_template(), optimum_page_json(found, options.common.command())));
  if (!options.common.quiet) {
    print_optimum(found);
    print_line("results", (folder / "optimize.json").string());
    if (has_page) print_line("", (folder / "optimize.html").string() + " (open it in a browser)");
  }
  if (found.interrupted) return exit_code_after_interruption();
  if (found.converged) return kDone;
  complain("{}", found.status);
  return kFailed;
}

}  // namespace

Command optimize_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("optimize", "Finds the parameters that make a measure least, or fit data best.");
  const auto options = std::make_shared<OptimizeOptions>();
  app->add_option("--over", options->over, "a parameter to change, within bounds; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=LOW:HIGH");
  app->add_option("--minimize", options->minimize, "the measure to minimize, \"max(s.tip)\"")->option_text("MEASURE");
  app->add_option("--maximize", options->maximize, "the measure to maximize")->option_text("MEASURE");
  app->add_option("--fit", options->fit, "measured data to fit: comma-separated values, a column t and columns of the model")
      ->option_text("FILE.csv");
  app->add_option("--fit-columns", options->fit_columns,
                  "columns of the file to fit, DATA=COLUMN if the model has another name for it; default all")
      ->option_text("A,B=q.J");
  app->add_option("--method", options->method, "auto, gradient, bobyqa or global; default auto")->option_text("NAME");
  app->add_option("--evaluations", options->evaluations, "largest number of runs; default 500")->option_text("N");
  app->add_option("--tolerance", options->tolerance, "tolerance of the parameters, relative to their bounds; default 1e-6")
      ->option_text("R");
  options->common.add_to(*app, "optimize");
  app->footer(kOptimizeFooter);
  return {app, [options] { return perform(*options); }};
}

}  // namespace linkwork::cli
