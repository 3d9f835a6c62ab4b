#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/progress.h"
#include "apps/linkwork/result_folder.h"
#include "apps/linkwork/run_report.h"
#include "apps/linkwork/settings_options.h"
#include "apps/linkwork/text.h"
#include "linkwork/io/report.h"
#include "linkwork/io/scene.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/io/trajectory_file.h"
#include "linkwork/simulation/simulation.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(Writes report.html (animation, plots and summary, to open in a browser), trajectory.csv (positions, velocities, accelerations,
reactions, energies, errors), summary.json and scene.json (what 'linkwork report' and 'linkwork view' need to draw the mechanism).
Methods may carry options, as in baumgarte:alpha=5,beta=5; 'linkwork list' shows them.

Examples:
  linkwork run four_bar
  linkwork run four_bar --set torque=0 --end 2 --integrator dopri45 --rtol 1e-10
  linkwork run my_linkage.toml --stabilization baumgarte:alpha=5,beta=5 --out results)";

struct RunOptions {
  ModelArgument model;
  SettingsOptions settings;
  std::optional<std::string> out;
  bool no_report = false;
  bool quiet = false;
};

int run(const RunOptions& options) {
  Spec spec = options.model.read();
  options.settings.apply_to(spec.settings);
  const Model model = build_model(spec);
  Simulation simulation(model);

  const fs::path folder = make_result_folder(options.out, model.name, {"summary.json", "report.html"});
  TrajectoryFile trajectory(folder / "trajectory.csv", simulation.columns());
  std::string scene = scene_json(spec, model, simulation.columns());
  write_text_file(folder / "scene.json", scene);
  ThinnedRows rows(simulation.columns().size());
  Progress progress(options.quiet);
  Summary summary = simulation.run({.row =
                                        [&](std::span<const double> row) {
                                          trajectory.write(row);
                                          rows.add(row);
                                        },
                                    .progress = [&](double t, double end) { progress.show(t, end); }});
  progress.finish();
  if (options.settings.tolerates_in_vain(model))
    summary.notes.emplace_back("--rtol and --atol have no effect with an integrator of fixed steps");
  trajectory.close();
  write_summary_file(folder / "summary.json", summary);
  const bool reported = !options.no_report && write_report_page(folder, summary, std::move(scene), std::move(rows));

  if (!options.quiet) {
    print_run(model, summary, {folder, trajectory.rows(), simulation.columns().size(), reported});
    if (!reported && !options.no_report) print_line("", "no report.html: this program was built without the report page");
  }
  if (summary.completed) return kDone;
  std::fflush(stdout);
  fmt::print(stderr, "linkwork: {}: {}\nlinkwork: what was computed until then is in {}\n", model.name, summary.status,
             folder.string());
  return kFailed;
}

}  // namespace

Command run_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("run", "Simulates a model and writes its motion.");
  const auto options = std::make_shared<RunOptions>();
  options->model.add_to(*app);
  options->settings.add_to(*app);
  app->add_option("--out", options->out, "folder for the results; default out/<model name>")->option_text("DIR");
  app->add_flag("--no-report", options->no_report, "write no report.html");
  app->add_flag("--quiet", options->quiet, "print nothing but errors");
  app->footer(kFooter);
  return {app, [options] { return run(*options); }};
}

}  // namespace linkwork::cli
