#include <fmt/format.h>

#include <algorithm>
#include <cmath>
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
#include "linkwork/modules/assembly_run.h"
#include "linkwork/modules/assembly_start.h"
#include "linkwork/modules/one_piece.h"
#include "linkwork/simulation/simulation.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/thread_team.h"

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

/// How many rows of a run of modules are compared with the system in one piece.
constexpr double kComparedRows = 50.0;

struct RunOptions {
  ModelArgument model;
  SettingsOptions settings;
  std::optional<std::string> out;
  bool no_report = false;
  bool quiet = false;
};

/// The files of a run, and what goes into them.
class Results {
 public:
  Results(const RunOptions& options, const Spec& spec, const Model& model, const std::vector<std::string>& columns)
      : options_(options),
        model_(model),
        columns_(columns.size()),
        folder_(make_result_folder(options.out, model.name, {"summary.json", "report.html"})),
        trajectory_(folder_ / "trajectory.csv", columns),
        scene_(scene_json(spec, model, columns)),
        rows_(columns.size()),
        progress_(options.quiet) {
    write_text_file(folder_ / "scene.json", scene_);
  }

  void write(std::span<const double> row) {
    trajectory_.write(row);
    rows_.add(row);
  }
  void show(double t, double end) { progress_.show(t, end); }

  /// Writes what is left to write, and tells how it went.
  int finish(Summary summary) {
    progress_.finish();
    if (options_.settings.tolerates_in_vain(model_))
      summary.notes.emplace_back("--rtol and --atol have no effect with an integrator of fixed steps");
    trajectory_.close();
    write_summary_file(folder_ / "summary.json", summary);
    const bool reported = !options_.no_report && write_report_page(folder_, summary, std::move(scene_), std::move(rows_));
    if (!options_.quiet) {
      print_run(model_, summary, {folder_, trajectory_.rows(), columns_, reported});
      if (!reported && !options_.no_report) print_line("", "no report.html: this program was built without the report page");
    }
    if (summary.completed) return kDone;
    std::fflush(stdout);
    fmt::print(stderr, "linkwork: {}: {}\nlinkwork: what was computed until then is in {}\n", model_.name, summary.status,
               folder_.string());
    return kFailed;
  }

 private:
  const RunOptions& options_;
  const Model& model_;
  std::size_t columns_;
  fs::path folder_;
  TrajectoryFile trajectory_;
  std::string scene_;
  ThinnedRows rows_;
  Progress progress_;
};

int run_as_one(const RunOptions& options, const Spec& spec) {
  const Model model = build_model(spec);
  Simulation simulation(model);
  Results results(options, spec, model, simulation.columns());
  return results.finish(simulation.run({.row = [&](std::span<const double> row) { results.write(row); },
                                        .progress = [&](double t, double end) { results.show(t, end); }}));
}

/// What rank 0 does beside its share of the modules: it has the model in one piece to write the results, and to compare with.
int run_modules(const RunOptions& options, const Spec& spec, const Model* model, const AssemblyPlan& plan, const Choice& glue,
                int threads, Transport& transport) {
  AssemblyRun assembly(plan, glue, transport);
  if (transport.rank() != 0) {
    return assembly.run().completed ? kDone : kFailed;
  }
  Results results(options, spec, *model, assembly.columns());
  OnePiece one_piece(*model, assembly.columns());
  const double rows = std::ceil(spec.settings.end / spec.settings.output_every);
  const long stride = std::max(1L, static_cast<long>(rows / kComparedRows));
  double difference = 0.0;
  long row_count = 0;
  Summary summary = assembly.run({.row =
                                      [&](std::span<const double> row) {
                                        if (row_count++ % stride == 0)
                                          difference = std::max(difference, one_piece.difference(row));
                                        results.write(row);
                                      },
                                  .progress = [&](double t, double end) { results.show(t, end); }});
  summary.modules->pretty = difference;
  if (threads > 1) summary.threads = threads, summary.ranks = 1;
  return results.finish(std::move(summary));
}

int run_apart(const RunOptions& options, const Spec& spec, const Choice& glue, Transport& world) {
  AssemblyPlan plan = plan_assembly(spec);
  const int threads = options.settings.thread_count();
  if (threads > 1 && world.size() > 1)
    throw InputError({"--threads", 0, 0}, "mpirun has started several processes", "either threads or processes");
  std::unique_ptr<const Model> model;
  start_together(plan, spec, world, model);
  if (world.size() > 1 || threads == 1) return run_modules(options, spec, model.get(), plan, glue, 1, world);
  int code = kDone;
  ThreadTeam team(threads);
  team.run([&](Transport& transport) {
    const int own = run_modules(options, spec, model.get(), plan, glue, threads, transport);
    if (transport.rank() == 0) code = own;
  });
  return code;
}

int run_on(const RunOptions& options, Transport& world) {
  Spec spec = options.model.read();
  options.settings.apply_to(spec.settings);
  const Choice glue = chosen_glue(spec);
  if (glue.name != "none") return run_apart(options, spec, glue, world);
  if (options.settings.thread_count() > 1)
    throw InputError({"--threads", 0, 0}, "the model is solved as one, which threads do not share",
                     spec.modules.empty() ? "a model made of modules" : "a glue other than none");
  return world.rank() == 0 ? run_as_one(options, spec) : kDone;
}

int run(const RunOptions& options) {
  MpiWorld world;
  try {
    return run_on(options, world.transport());
  } catch (const InputError& error) {
    if (world.transport().size() == 1) throw;
    if (world.transport().rank() == 0) fmt::print(stderr, "linkwork: {}\n", error.what());  // all ranks have found the same
    return kBadInput;
  }
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
