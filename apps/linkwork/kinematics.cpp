#include "linkwork/simulation/kinematics.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/interruption.h"
#include "apps/linkwork/lists.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/progress.h"
#include "apps/linkwork/result_folder.h"
#include "apps/linkwork/run_report.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/io/page.h"
#include "linkwork/io/scene.h"
#include "linkwork/io/summary_file.h"
#include "linkwork/io/trajectory_file.h"
#include "linkwork/simulation/design_fit.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kKinematicsFooter =
    R"(Positions, velocities and accelerations follow from the closures alone; masses, forces, start velocities and 'fixed' do not
matter. Every motion must be driven ([[closure]] with type = "drive", or others that depend on t). Start positions choose among the
positions that close the loops. Redundant constraints are allowed; those that contradict one another are named, and so are
motions that no drive determines, and singular positions on the way.

Writes the files of 'linkwork run'. trajectory.csv has the same columns without lambda, force, torque, effort, load and power,
since no forces are computed.

Examples:
  linkwork kinematics four_bar_driven
  linkwork kinematics four_bar_driven --set r1=6 --set r4=9 --end 0.2 --every 0.002)";

struct KinematicsOptions {
  ModelArgument model;
  std::optional<std::string> end, every, out;
  bool no_report = false;
  bool quiet = false;
};

void print_motion(const Model& model, const Summary& summary) {
  print("{}: {}, {}, all driven\n", model.name, counted(static_cast<long>(model.bodies.size()) - 1, "body"),
        counted(static_cast<long>(model.joints.size()), "joint"));
  print_line(summary.completed ? "moved" : "stopped",
             fmt::format("{:.9g} s in {}, {:.3g} s of wall time", summary.simulated_seconds, counted(summary.steps, "position"),
                         summary.wall_seconds));
  print_line("constraints",
             fmt::format("{}, rank {}; largest error {:.2g} in position, {:.2g} in velocity", counted(model.row_count(), "row"),
                         summary.rank, summary.position_error_max, summary.velocity_error_max));
  for (const std::string& note : summary.notes) print_line("note", note);
  for (const std::string& warning : summary.warnings) print_line("warning", highlighted(warning, stdout));
}

int move(const KinematicsOptions& options) {
  Spec spec = options.model.read();
  if (options.end) spec.settings.end = parse_positive(*options.end, "--end");
  if (options.every) spec.settings.output_every = parse_positive(*options.every, "--every");
  const Model model = fitted_model(spec);
  Simulation motion = kinematic_motion(model);

  const ResultFolder folder(options.out, model.name + "-kinematics");
  TrajectoryFile trajectory(folder / "trajectory.csv", motion.columns());
  folder.remove({"summary.json", "report.html", "trajectory.h5", "trajectory.mat"});
  std::string scene = scene_json(spec, model, motion.columns());
  write_text_file(folder / "scene.json", scene);
  ThinnedRows rows(motion.columns().size());
  Progress progress(options.quiet);
  expect_interruption();
  const Summary summary = motion.run({.row =
                                          [&](std::span<const double> row) {
                                            trajectory.write(row);
                                            rows.add(row);
                                          },
                                      .progress = [&](double t, double end) { progress.show(t, end); },
                                      .go_on = [] { return !interrupted(); }});
  progress.finish();
  trajectory.close();
  write_summary_file(folder / "summary.json", summary);
  const bool reported = !options.no_report && write_report_page(folder.path(), summary, std::move(scene), std::move(rows));

  if (!options.quiet) {
    print_motion(model, summary);
    print_results({folder.path(), "trajectory.csv", trajectory.rows(), motion.columns().size(), reported});
  }
  if (summary.completed) return kDone;
  return tell_failure(summary, folder.path(), {});
}

}  // namespace

Command kinematics_command(CLI::App& program) {
  CLI::App* const app =
      program.add_subcommand("kinematics", "Moves a model by its drives alone, whatever its masses and forces.");
  const auto options = std::make_shared<KinematicsOptions>();
  options->model.add_to(*app);
  app->add_option("--end", options->end, "time at which the motion ends, s")->option_text("T");
  app->add_option("--every", options->every, "time between two rows of output, s")->option_text("DT");
  app->add_option("--out", options->out, "folder for the results; default out/<model name>-kinematics")->option_text("DIR");
  app->add_flag("--no-report", options->no_report, "write no report.html");
  app->add_flag("--quiet", options->quiet, "print nothing but errors");
  app->footer(kKinematicsFooter);
  return {app, [options] { return move(*options); }};
}

}  // namespace linkwork::cli
