#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/interruption.h"
#include "apps/linkwork/lists.h"
#include "apps/linkwork/rank_agreement.h"
#include "apps/linkwork/rank_watch.h"
#include "apps/linkwork/results.h"
#include "apps/linkwork/run_options.h"
#include "apps/linkwork/text.h"
#include "linkwork/front/chosen_start.h"
#include "linkwork/io/model_file.h"
#include "linkwork/modules/assembly_system.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/design_fit.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/text.h"
#include "linkwork/version.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kRunFooter =
    R"(Writes report.html (animation, plots and summary, to open in a browser), trajectory.csv (positions, velocities, accelerations,
reactions, efforts and powers of forces, energies, errors; --columns chooses, --format hdf5 or mat writes trajectory.h5 or
trajectory.mat in its place), summary.json and scene.json (what 'linkwork report' and 'linkwork view' need to draw the mechanism).
Methods may carry options, as in baumgarte:alpha=5,beta=5; 'linkwork list' shows them.
With --checkpoint, 'linkwork resume FILE' goes on with a run that was interrupted, and ends with the same results. FILE is made, or an
older checkpoint replaced; anything else in its place is refused. Ctrl-C (SIGINT), SIGTERM and SIGHUP end a run after the step it is at,
with a checkpoint if it has any, a summary of status "interrupted", and exit code 130, 143 or 129; a second one ends it at once.

Examples:
  linkwork run four_bar
  linkwork run four_bar --set torque=0 --end 2 --integrator dopri45 --rtol 1e-10
  linkwork run four_bar --columns q,energy,power.*
  linkwork run four_bar --start-from out/four-bar@2 --out out/later
  linkwork run measured_car --start-at equilibrium
  linkwork run my_linkage.toml --stabilization baumgarte:alpha=5,beta=5 --out results
  linkwork run four_bar --end 100 --checkpoint four_bar.ckpt --checkpoint-every 10)";

/// Checkpoints of a run, if the interval is not given.
constexpr double kCheckpoints = 10.0;

/// A run to be done: options, model, and the checkpoint that it goes on from, if any.
struct Job {
  const RunOptions& options;
  const Checkpoint* from;
  Spec spec;
  StartState start;  // of --start-from
  std::optional<CheckpointPlan> checkpoints;
};

/// Guards against slips of the exponent, as for steps and rows.
void check_interval(double every, double end) {
  constexpr double kMost = 1e9;
  if (!(end / every <= kMost))
    throw InputError({"--checkpoint-every", 0, 0},
                     fmt::format("{} s saved every {} s are more than {:.0e} checkpoints", end, every, kMost),
                     "a larger interval");
}

/// All that makes a difference to a run, but for the files of its model.
std::string options_text(const RunOptions& options) {
  std::string text;
  for (const std::string& set : options.model.set) text += fmt::format("--set {}\n", set);
  for (const std::string& import : options.model.import_texts()) text += fmt::format("--{}\n", import);
  for (const auto& [option, value] : options.settings.texts()) text += fmt::format("{} {}\n", option, value);
  for (const auto& [name, given] : {std::pair{"--threads", &options.settings.threads},
                                    {"--realtime", &options.realtime},
                                    {"--rank-timeout", &options.rank_timeout},
                                    {"--start-from", &options.start_from},
                                    {"--start-at", &options.start_at},
                                    {"--checkpoint-every", &options.checkpoint_every}})
    if (*given) text += fmt::format("{} {}\n", name, **given);
  return text + (options.checkpoint ? "--checkpoint\n" : "");
}

/// Reads the model; with checkpoints, the texts of its files are kept for them. A run that goes on reads no files: its checkpoint
/// has them all.
Job read_job(const RunOptions& options, const Checkpoint* from, Inputs& inputs) {
  inputs.add("the options", options_text(options));
  Job job{options, from, {}, {}, {}};
  if (options.checkpoint_every && !options.checkpoint)
    throw InputError({"--checkpoint-every", 0, 0}, "there is no file to write to", "--checkpoint FILE");
  if (options.checkpoint && options.checkpoint->empty()) throw InputError({"--checkpoint", 0, 0}, "the name is empty", "a file");
  fs::path model;
  if (from != nullptr) {
    model = from->request.model;
    job.checkpoints = {*options.checkpoint, *from};
  } else {
    model = options.checkpoint ? options.model.file() : options.model.path();
    if (options.checkpoint) job.checkpoints.emplace().file = fs::absolute(*options.checkpoint);
  }
  std::vector<Checkpoint::ModelText> files;
  const auto known = [](const std::vector<Checkpoint::ModelText>& texts, const fs::path& file) {
    return std::ranges::find(texts, file.string(), &Checkpoint::ModelText::file);
  };
  job.spec = options.model.read(model, [&](const fs::path& file) {
    std::string text;
    if (from == nullptr)
      text = read_text_file(file);
    else if (const auto kept = known(from->files, file); kept != from->files.end())
      text = kept->text;
    else
      throw InputError({file.string(), 0, 0}, "is not in the checkpoint", "a checkpoint with all files of its model");
    inputs.add(fmt::format("the file {}", file.filename().string()), text);
    if (known(files, file) == files.end()) files.push_back({file.string(), text});
    return text;
  });
  options.settings.apply_to(job.spec.settings);
  job.start = from != nullptr ? from->request.start : chosen_start(options.start_from, options.start_at, job.spec);
  for (const auto& [column, value] : job.start.values)
    inputs.add(fmt::format("the start of {}", column), fmt::format("{}", value));
  if (job.start.is_given()) begin_with(job.start, job.spec);
  if (!job.checkpoints) return job;
  Checkpoint::Request& request = job.checkpoints->contents.request;
  if (from == nullptr) {
    job.checkpoints->contents.program = LINKWORK_VERSION;
    job.checkpoints->contents.files = std::move(files);
    request = {model.string(), options.model.set,           options.settings.texts(), "", options.no_report, 0.0,
               job.start,      options.model.import_texts()};
    request.every = options.checkpoint_every ? parse_positive(*options.checkpoint_every, "--checkpoint-every")
                                             : job.spec.settings.end / kCheckpoints;
  }
  check_interval(request.every, job.spec.settings.end);
  return job;
}

/// Which modules each rank has, in words. All ranks call it.
std::vector<std::string> work_of_ranks(Workshop& workshop) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> names;
  for (const WorkingModule& module : workshop.modules()) names.push_back(module.name);
  const std::size_t all = names.size();
  names.resize(std::min(all, kMost));
  return gather_texts(workshop.transport(), all == 0 ? "no modules"
                                                     : fmt::format("the module{} {}{}", all > 1 ? "s" : "", listed(names),
                                                                   all > kMost ? fmt::format(" and {} more", all - kMost) : ""));
}

std::string advice_after_death(const Job& job) {
  return job.checkpoints ? fmt::format("'linkwork resume {}' goes on from the last checkpoint", job.checkpoints->file.string())
                         : "With --checkpoint a run can be resumed";
}

/// What the ranks of a run do beside computing: the first one writes the results, and may find that it cannot.
class Writing {
 public:
  explicit Writing(const Job& job) : job_(job) {}

  Observer prepare(const ReadyRun& ready) {
    if (const std::optional<double> pace = job_.options.pace())
      check_pace(*pace, job_.spec.settings, ready.simulation.has_fixed_steps());
    together(ready.transport, [&](Inputs&) {
      if (ready.transport.rank() == 0)
        results_ = std::make_unique<Results>(job_.options, job_.spec, ready.model, ready.simulation, job_.checkpoints, job_.from);
    });
    // Not before it is clear that there will be a run: a rank that refuses it has not died.
    const bool is_process = job_.options.settings.thread_count() == 1 || under_mpirun();
    if (ready.modules != nullptr) {
      const std::vector<std::string> work = work_of_ranks(ready.modules->workshop());
      if (is_process) watch_ranks(ready.transport, work, advice_after_death(job_));
      if (const auto& seconds = job_.options.rank_timeout)
        watch_silence(ready.transport, parse_positive(*seconds, "--rank-timeout"), work, advice_after_death(job_));
    }
    Observer observer{.go_on = [] { return !interrupted(); }};
    if (job_.checkpoints) {
      observer.checkpoint = [](const SavedRun&) {};
      observer.checkpoint_every = job_.checkpoints->contents.request.every;
    }
    if (ready.transport.rank() != 0) return observer;
    observer.row = [this](std::span<const double> row) { results_->write(row); };
    if (!job_.options.no_report) observer.whole_row = [this](std::span<const double> row) { results_->keep_for_report(row); };
    observer.progress = [this](double t, double end) { results_->show(t, end); };
    if (job_.checkpoints) observer.checkpoint = [this](const SavedRun& saved) { results_->save(saved); };
    results_->start(job_.from != nullptr ? job_.from->run.t : 0.0);
    return observer;
  }

  /// Ranks that write nothing only tell how it went.
  int finish(Summary summary) {
    if (job_.start.is_given()) summary.notes.insert(summary.notes.begin(), "the start is the state of " + job_.start.from);
    if (results_) return results_->finish(std::move(summary));
    if (summary.status == kInterrupted) return exit_code_after_interruption();
    return summary.completed || summary.model.empty() ? kDone : kFailed;
  }

 private:
  const Job& job_;
  std::unique_ptr<Results> results_;
};

}  // namespace

std::optional<double> RunOptions::pace() const {
  if (!realtime) return {};
  return realtime->empty() ? 1.0 : parse_positive(*realtime, "--realtime");
}

int perform_run(const RunOptions& options, const Checkpoint* from, Transport& world) {
  expect_interruption();
  std::optional<Job> read;
  together(world, [&](Inputs& inputs) {
    read.emplace(read_job(options, from, inputs));
    options.pace();
    if (options.rank_timeout) parse_positive(*options.rank_timeout, "--rank-timeout");
  });
  const Job& job = *read;
  Writing writing(job);
  const ModelRunOptions how{options.settings.thread_count(), from != nullptr ? &from->run : nullptr};
  return writing.finish(run_model(job.spec, world, how, [&](const ReadyRun& ready) { return writing.prepare(ready); }));
}

void add_common_options(CLI::App& app, RunOptions& options) {
  app.add_option("--out", options.out, "folder for the results; default out/<model name>")->option_text("DIR");
  app.add_option("--realtime", options.realtime,
                 "go no faster than the clock, or FACTOR times as fast, and report how well it kept pace; fixed steps only")
      ->expected(0, 1)
      ->option_text("[FACTOR]");
  app.add_option("--rank-timeout", options.rank_timeout,
                 "under mpirun: end the run if a rank does not answer for so long, s, and say which; default: wait for ever")
      ->option_text("T");
  app.add_flag("--no-report", options.no_report, "write no report.html");
  app.add_flag("--quiet", options.quiet, "print nothing but errors");
}

Command run_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("run", "Simulates a model and writes its motion.");
  const auto options = std::make_shared<RunOptions>();
  options->model.add_to(*app);
  options->settings.add_to(*app);
  app->add_option("--checkpoint", options->checkpoint, "file to save the run in as it goes, for 'linkwork resume'")
      ->option_text("FILE");
  app->add_option("--checkpoint-every", options->checkpoint_every,
                  "simulated time between two checkpoints, s; default a tenth of the whole")
      ->option_text("T");
  app->add_option("--start-at", options->start_at, "equilibrium: begin at rest where 'linkwork equilibrium' finds it")
      ->option_text("WHERE");
  app->add_option("--start-from", options->start_from,
                  "begin with the state of another run of a model with the same joints: its last row, or that nearest to t")
      ->option_text("DIR[@t]");
  add_common_options(*app, *options);
  app->footer(kRunFooter);
  return {app, [options] { return on_ranks("run", [&](Transport& world) { return perform_run(*options, nullptr, world); }); }};
}

}  // namespace linkwork::cli
