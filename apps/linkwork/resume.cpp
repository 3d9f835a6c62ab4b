#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/run_options.h"
#include "linkwork/io/model_file.h"
#include "linkwork/transport/mpi_world.h"
#include "linkwork/transport/text.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFooter =
    R"(Goes on from the last checkpoint of a run that was begun with --checkpoint and interrupted, with the model and settings of then.
It writes into the same folder, and goes on saving checkpoints in FILE. Trajectory and summary end up as those of a run that was
not interrupted, bit by bit; the number of threads, or of processes under mpirun, may be another one.

Examples:
  linkwork run four_bar --end 100 --checkpoint four_bar.ckpt --checkpoint-every 10
  linkwork resume four_bar.ckpt)";

struct ResumeOptions {
  std::string file;
  RunOptions run;
};

std::string read_checkpoint(const std::string& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored))
    throw InputError({file, 0, 0}, "there is no such file",
                     "the file of --checkpoint; if the run ended before it was there, run it again");
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw InputError({file, 0, 0}, "cannot be read", "a file that can be read");
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

/// Rank 0 reads, all get it, or its trouble: a checkpoint must be the same one for all.
Checkpoint shared_checkpoint(const std::string& file, Transport& world) {
  if (world.size() == 1) return parse_checkpoint(read_checkpoint(file), file);
  std::string text, trouble;
  if (world.rank() == 0) {
    try {
      text = read_checkpoint(file);
    } catch (const InputError& error) {
      trouble = error.what();
    }
  }
  trouble = gather_texts(world, trouble).front();
  if (!trouble.empty()) throw InputError({}, trouble);
  return parse_checkpoint(gather_texts(world, text).front(), file);
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

int resume(const ResumeOptions& options) {
  MpiWorld world;
  const bool speaks = world.transport().rank() == 0;
  try {
    const Checkpoint checkpoint = shared_checkpoint(options.file, world.transport());
    check_model(checkpoint);
    RunOptions run = options.run;
    run.model.model = checkpoint.request.model;
    run.model.set = checkpoint.request.set;
    run.settings.set_texts(checkpoint.request.settings);
    run.checkpoint = fs::absolute(options.file).string();
    if (!run.out) run.out = checkpoint.request.out;
    run.no_report = run.no_report || checkpoint.request.no_report;
    if (speaks && checkpoint.program != LINKWORK_VERSION)
      fmt::print(stderr, "linkwork: {} was written by version {}: the results may differ in their last digits\n", options.file,
                 checkpoint.program);
    if (speaks && !run.quiet) {
      fmt::print("resumed at t = {:.9g} s\n", checkpoint.time());
      std::fflush(stdout);
    }
    return perform_run(run, &checkpoint, world.transport());
  } catch (const InputError& error) {
    if (world.transport().size() == 1) throw;
    if (speaks) fmt::print(stderr, "linkwork: {}\n", error.what());  // all ranks have found the same
    return kBadInput;
  }
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
  add_common_options(*app, options->run);
  app->footer(kFooter);
  return {app, [options] { return resume(*options); }};
}

}  // namespace linkwork::cli
