#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/rank_agreement.h"
#include "apps/linkwork/run_options.h"
#include "apps/linkwork/terminal.h"
#include "linkwork/io/model_file.h"
#include "linkwork/transport/text.h"
#include "linkwork/version.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kResumeFooter =
    R"(Goes on from the last checkpoint of an interrupted run that was begun with --checkpoint, with the model and settings that it had.
It names its folder first: the same one, or that of --out if the folder was moved. What the run had written must still be there.
It goes on saving checkpoints in FILE. Trajectory and summary get the same bits as without the interruption, on any number of threads,
or of processes under mpirun.

Examples:
  linkwork run four_bar --end 100 --checkpoint four_bar.ckpt --checkpoint-every 10
  linkwork resume four_bar.ckpt)";

struct ResumeOptions {
  std::string file;
  RunOptions run;
};

/// Rank 0 reads, all get it, or its trouble: a checkpoint must be the same one for all.
Checkpoint shared_checkpoint(const std::string& file, Transport& world) {
  std::string text;
  together(world, [&](Inputs&) {
    if (world.rank() == 0) text = read_checkpoint_file(file);
  });
  text = said_by_first(world, text);
  return parse_checkpoint(text, file);
}

/// Files of the model that are still there must be as they were.
void check_model(const Checkpoint& checkpoint) {
  for (const Checkpoint::ModelText& kept : checkpoint.files) {
    std::error_code ignored;
    if (fs::exists(kept.file, ignored) && read_text_file(kept.file) != kept.text)
      throw InputError({kept.file, 0, 0}, "has changed since the run began",
                       "the file as it was, or a new run of the changed model");
  }
}

int resume(const ResumeOptions& options, Transport& world) {
  const Checkpoint checkpoint = shared_checkpoint(options.file, world);
  together(world, [&](Inputs&) {
    if (world.rank() == 0) check_model(checkpoint);
  });
  RunOptions run = options.run;
  run.model.model = checkpoint.request.model;
  run.model.set = checkpoint.request.set;
  run.model.set_import_texts(checkpoint.request.import);
  run.settings.set_texts(checkpoint.request.settings);
  run.checkpoint = fs::absolute(options.file).string();
  if (!run.out) run.out = checkpoint.request.out;
  run.no_report = run.no_report || checkpoint.request.no_report;
  if (world.rank() == 0 && checkpoint.program != LINKWORK_VERSION)
    complain("{} was written by version {}: the results may differ in their last digits", options.file, checkpoint.program);
  if (world.rank() == 0 && !run.quiet) {
    print("resumed at t = {:.9g} s, in {}\n", checkpoint.run.t, *run.out);
    std::fflush(stdout);
  }
  return perform_run(run, &checkpoint, world);
}

}  // namespace

Command resume_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("resume", "Goes on with a run that was interrupted.");
  const auto options = std::make_shared<ResumeOptions>();
  app->add_option("FILE", options->file, "a checkpoint, as 'linkwork run --checkpoint FILE' writes it")
      ->required()
      ->type_name("");
  app->add_option("--threads", options->run.settings.threads, "threads that share the modules of a model; default 1")
      ->option_text("N");
  add_fmu_option(*app);
  add_common_options(*app, options->run);
  app->footer(kResumeFooter);
  return {app, [options] { return on_ranks("resume", [&](Transport& world) { return resume(*options, world); }); }};
}

}  // namespace linkwork::cli
