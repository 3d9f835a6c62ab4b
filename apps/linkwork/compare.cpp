#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/comparison_plan.h"
#include "apps/linkwork/comparison_table.h"
#include "apps/linkwork/lists.h"
#include "apps/linkwork/methods.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/progress.h"
#include "apps/linkwork/result_folder.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/io/comparison_file.h"
#include "linkwork/io/page.h"
#include "linkwork/model/input_error.h"
#include "linkwork/modules/settings_check.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;
using Text = std::optional<std::string>;

constexpr const char* kCompareFooter =
    R"(Runs every combination of the lists. A list that is not given has one entry, what the model itself chooses; without any list of
methods, all formulations are compared. 'all' stands for everything that 'linkwork list' shows. Options of a method follow it as in
baumgarte:alpha=5,beta=5, and several values of an option are separated by slashes: baumgarte:alpha=1/10/100. Without --steps, 4,
2 and 1 times the model's step are taken; without --tolerances 1e-4, 1e-6 and 1e-8.

Each run is measured against a tight solution, whose own error is estimated by a second one: the largest difference of a joint
coordinate (rad or m, angles within half a turn) at the times compared. Besides: the largest violation of the constraints, the
drift of energy relative to the energy exchanged, and the cost. The best of each column is marked by a star. A combination that
cannot run is listed with the reason.

Writes compare.html (plots of error against cost, and the table, to open in a browser), compare.csv and compare.json.
Exit codes: 0 at least one combination ran; 1 none did, or there is no reference; 2 bad input.

Examples:
  linkwork compare four_bar --end 2
  linkwork compare four_bar --end 2 --integrators rk2,rk4,dopri45 --steps 4e-3,2e-3,1e-3 --tolerances 1e-5,1e-7,1e-9
  linkwork compare four_bar --end 2 --formulations all --stabilizations none,baumgarte:alpha=5/50,beta=5/50,projection
  linkwork compare n_four_bar --vary n=5,10,20 --end 1 --formulations schur,lagrange --steps 1e-3)";

struct CompareOptions : ComparisonTexts {
  ModelArgument model;
  std::vector<std::string> vary;
  Text out;
  bool quiet = false;
};

/// The model once for every combination of the values of --vary.
std::vector<Problem> read_problems(const CompareOptions& options) {
  std::vector<std::pair<std::string, ModelArgument>> cases{{"", options.model}};
  for (const std::string& text : options.vary) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw InputError({"--vary", 0, 0}, fmt::format("'{}' varies nothing", text),
                       "name=value,value,..., as in --vary torque=0,6");
    const std::string name = text.substr(0, equals);
    std::vector<std::pair<std::string, ModelArgument>> varied;
    for (const auto& [label, argument] : cases)
      for (const std::string& value : split_list(text.substr(equals + 1), "--vary")) {
        varied.emplace_back(fmt::format("{}{}{}={}", label, label.empty() ? "" : " ", name, value), argument);
        varied.back().second.set.push_back(fmt::format("{}={}", name, value));
      }
    cases = std::move(varied);
  }
  std::vector<Problem> problems;
  for (const auto& [label, argument] : cases) {
    problems.push_back({label, argument.read()});
    Settings& settings = problems.back().spec.settings;
    if (options.end) settings.end = parse_positive(*options.end, "--end");
    check_settings(settings);
  }
  return problems;
}

void write_results(const fs::path& folder, const Comparison& comparison, bool quiet) {
  const std::string json = comparison_json(comparison);
  write_text_file(folder / "compare.csv", comparison_csv(comparison));
  write_text_file(folder / "compare.json", json);
  const bool has_page = !compare_template().empty();
  if (has_page) write_text_file(folder / "compare.html", page_html(compare_template(), json));
  if (quiet) return;
  print_line("results", (folder / "compare.csv").string());
  print_line("", (folder / "compare.json").string());
  print_line("", has_page ? (folder / "compare.html").string() + " (open it in a browser)"
                          : "no compare.html: this program was built without the pages");
}

int compare_model(const CompareOptions& options) {
  const std::vector<Problem> problems = read_problems(options);
  const ComparisonPlan plan = make_plan(options, problems.front().spec.settings);
  const ResultFolder folder(options.out, problems.front().spec.name + "-compare");
  folder.remove({"compare.csv", "compare.json", "compare.html"});
  Progress progress(options.quiet);
  const Comparison comparison =
      compare(problems, plan, [&](const ComparisonProgress& at) { progress.show_part(at.done, at.what); });
  progress.finish();
  if (!options.quiet) print_comparison(comparison);
  write_results(folder.path(), comparison, options.quiet);
  if (!comparison.any_ran()) complain("{}: no combination ran", comparison.model);
  if (!comparison.has_references()) complain("{}: there is no reference to compare with", comparison.model);
  return comparison.any_ran() && comparison.has_references() ? kDone : kFailed;
}

}  // namespace

Command compare_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("compare", "Puts methods side by side on a model: error, drift and cost.");
  const auto options = std::make_shared<CompareOptions>();
  options->model.add_to(*app);
  const auto add = [&](const char* name, Text& text, const char* value, const std::string& help) {
    app->add_option(name, text, help)->option_text(value);
  };
  app->add_option("--vary", options->vary,
                  "values of a parameter of the model, each a case with a reference of its own; repeatable")
      ->allow_extra_args(false)
      ->option_text("NAME=VALUE,...");
  add("--formulations", options->formulations, "F,...", "all, or of: " + names(formulation_choices()));
  add("--stabilizations", options->stabilizations, "S,...", "all, or of: " + names(stabilization_choices()));
  add("--integrators", options->integrators, "I,...", "all, or of: " + names(integrator_choices()));
  add("--coordinates", options->coordinates, "C,...", "all, or of: " + names(coordinate_choices()));
  add("--steps", options->steps, "H,...", "step sizes for integrators with fixed steps, s");
  add("--tolerances", options->tolerances, "R[:A],...", "relative, and if wanted absolute, tolerances for adaptive integrators");
  add("--end", options->end, "T", "time at which the simulations end, s");
  add("--every", options->every, "DT",
      "time between comparisons; default about a hundredth of the whole, at ends of all fixed steps");
  add("--reference", options->reference, "I",
      "integrator of the reference; default dopri45, or rk4 where that is not good enough");
  add("--reference-rtol", options->reference_rtol, "R", "its relative tolerance; default 1e-12, and atol a hundredth of it");
  add("--budget", options->budget, "SECONDS", "wall time one run may take, and the reference ten times that; default 60");
  add("--out", options->out, "DIR", "folder for the results; default out/<model name>-compare");
  app->add_flag("--quiet", options->quiet, "print nothing but errors");
  app->footer(kCompareFooter);
  return {app, [options] { return compare_model(*options); }};
}

}  // namespace linkwork::cli
