#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/ensemble_options.h"
#include "apps/linkwork/interruption.h"
#include "apps/linkwork/lists.h"
#include "apps/linkwork/progress.h"
#include "apps/linkwork/rank_agreement.h"
#include "apps/linkwork/result_folder.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"
#include "linkwork/ensemble/sweep_files.h"
#include "linkwork/transport/mailbox.h"

namespace linkwork::cli {
namespace {

constexpr const char* kSweepFooter =
    R"text(Each run is the model with other values of its parameters. --grid takes COUNT values from FROM to TO; several grids make all
combinations. --sample draws --runs values of a distribution: normal(mean,deviation), uniform(low,high), lognormal(mean,deviation) of
the logarithm; with grids, the same samples at each of their points. The same seed gives the same values on any machine.

A measure is max, min, mean, rms, final or integral of a column or of an expression of columns, first(CONDITION), or an expression of
these. Means and integrals are over time.

Writes sweep.csv (a row per run: number, parameters, status, measures, constraint error, energy drift), sweep.json (what the rows say
together), sweep.html (a page to explore them), with --keep also kept.csv, and with --trajectories runs/NUMBER with the files of each
run, which 'linkwork report' takes. Files have the same bytes for any number of threads and of ranks of mpirun. A run that fails is a
row with its reason. A sweep that was stopped or killed goes on with the same command; --restart begins anew.

Examples:
  linkwork sweep four_bar --grid torque=0:8:9 --measure "swing=max(q.phi)-min(q.phi)" --end 2
  linkwork sweep four_bar --sample "torque=normal(6,0.5)" --sample "l1=uniform(0.9,1.1)" --runs 200 --sampling sobol --measure "final(q.theta)" --keep q --end 1
  mpirun -n 4 linkwork sweep rover --sample "sprung=normal(2400,100)" --runs 1000 --measure "max(energy.kinetic)" --end 1)text";

struct SweepOptions {
  EnsembleOptions common;
  std::vector<std::string> grids, samples, measures;
  std::optional<std::string> sampling, runs, seed, keep;
  bool trajectories = false, no_lanes = false, restart = false;

  SweepRequest request() const {
    SweepRequest made;
    made.grids = grids, made.samples = samples, made.measures = measures;
    made.sampling = sampling.value_or("random");
    if (runs) {
      made.runs = whole_number(*runs, "--runs");
      if (made.runs < 1) throw InputError({"--runs", 0, 0}, fmt::format("the value is '{}'", *runs), "1 or more");
    }
    if (seed) made.seed = static_cast<std::uint64_t>(whole_number(*seed, "--seed"));
    if (keep) made.keep = split_list(*keep, "--keep");
    made.trajectories = trajectories;
    made.lanes = !no_lanes;
    made.threads = common.threads();
    return made;
  }
  std::string text() const {
    return fmt::format("{}\n{}\n{}\n{}\n{} {} {} {} {} {} {}", common.text(), fmt::join(grids, "\n"), fmt::join(samples, "\n"),
                       fmt::join(measures, "\n"), sampling.value_or(""), runs.value_or(""), seed.value_or(""), keep.value_or(""),
                       trajectories, no_lanes, restart);
  }
};

std::string failures_in_words(long failed) { return failed > 0 ? fmt::format(", {} failed", failed) : ""; }

/// The first rank: writes what comes.
class SweepWriting {
 public:
  SweepWriting(const SweepOptions& options, const Sweep& sweep)
      : options_(options),
        sweep_(sweep),
        folder_(options.common.out, sweep.model().spec().name + "-sweep"),
        files_(sweep, folder_.path(), options.common.text(), options.common.command(), options.restart),
        progress_(options.common.quiet) {
    if (files_.done() > 0 && !options.common.quiet)
      print("goes on after run {} of {} in {}\n", files_.done(), sweep.runs(), folder_.path().string());
  }

  long first() const { return files_.done(); }
  void take(const SweepRow& row) {
    if (!row.run.done && first_trouble_.empty()) first_trouble_ = row.run.status;
    files_.write(row);
    progress_.show_part(static_cast<double>(files_.done()) / static_cast<double>(sweep_.runs()),
                        fmt::format("{} of {} runs{}", files_.done(), sweep_.runs(), failures_in_words(files_.failed())));
  }
  int interrupted() {
    progress_.finish();
    files_.flush();
    complain("interrupted after {} of {} runs; the same command goes on", files_.done(), sweep_.runs());
    return exit_code_after_interruption();
  }
  int finish() {
    progress_.finish();
    const bool has_page = files_.finish();
    const long failed = files_.failed();
    if (!options_.common.quiet) {
      print("{}: {}{}\n", sweep_.model().spec().name, counted(sweep_.runs(), "run"), failures_in_words(failed));
      for (const auto& [name, text] : files_.findings()) print_line(name, text);
      print_line("results", (folder_ / "sweep.csv").string());
      if (has_page) print_line("", (folder_ / "sweep.html").string() + " (open it in a browser)");
    }
    if (failed < sweep_.runs()) return kDone;
    complain("all runs failed{}", first_trouble_.empty() ? "" : ", the first with: " + first_trouble_);
    return kFailed;
  }

 private:
  const SweepOptions& options_;
  const Sweep& sweep_;
  ResultFolder folder_;
  SweepFiles files_;
  Progress progress_;
  std::string first_trouble_;
};

int perform_sweep(const SweepOptions& options, Transport& world) {
  expect_interruption();
  std::optional<Sweep> sweep;
  together(world, [&](Inputs& inputs) {
    inputs.add("the options", options.text());
    EnsembleModel model = options.common.model();
    inputs.add("the model's files", std::to_string(model.fingerprint()));
    sweep.emplace(std::move(model), options.request());
  });
  std::unique_ptr<SweepWriting> writing;
  together(world, [&](Inputs&) {
    if (world.rank() == 0) writing = std::make_unique<SweepWriting>(options, *sweep);
  });
  const std::unique_ptr<Mailbox> ranks = open_mailbox();
  const bool whole = sweep->run(
      writing ? writing->first() : 0, [&](const SweepRow& row) { writing->take(row); }, [] { return !interrupted(); },
      ranks.get());
  if (!writing) return interrupted() ? exit_code_after_interruption() : static_cast<int>(kDone);
  return whole ? writing->finish() : writing->interrupted();
}

}  // namespace

Command sweep_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("sweep", "Runs a model many times with other parameters.");
  const auto options = std::make_shared<SweepOptions>();
  const auto many = [&](const char* name, std::vector<std::string>& texts, const char* value, const char* help) {
    app->add_option(name, texts, help)->allow_extra_args(false)->option_text(value);
  };
  many("--grid", options->grids, "NAME=FROM:TO:COUNT", "values of a parameter, evenly spaced; several: all combinations");
  many("--sample", options->samples, "NAME=normal(m,s)",
       "a distribution of a parameter: normal, uniform or lognormal; repeatable");
  app->add_option("--runs", options->runs, "number of samples")->option_text("N");
  app->add_option("--sampling", options->sampling,
                  "random, sobol (evenly spread) or latin (each layer of each parameter once); default random")
      ->option_text("HOW");
  app->add_option("--seed", options->seed, "another seed gives other samples; default 1")->option_text("S");
  many("--measure", options->measures, "MEASURE", "a number that is read off each run, \"tip=max(s.tip)\"; repeatable");
  app->add_option("--keep", options->keep,
                  "columns of every run to keep, for kept.csv and the page: as --columns of 'linkwork run'")
      ->option_text("COLUMNS");
  app->add_flag("--trajectories", options->trajectories, "keep every run whole, in runs/NUMBER");
  app->add_flag("--no-lanes", options->no_lanes,
                "compute run by run, with the same bits as 'linkwork run', not several at a time");
  app->add_flag("--restart", options->restart, "begin anew even if there is an unfinished sweep to go on with");
  options->common.add_to(*app, "sweep");
  app->footer(kSweepFooter);
  return {app, [options] { return on_ranks("sweep", [&](Transport& world) { return perform_sweep(*options, world); }); }};
}

}  // namespace linkwork::cli
