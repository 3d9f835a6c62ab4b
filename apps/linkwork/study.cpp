#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/study_options.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

constexpr const char* kStudyFooter =
    R"(A study computes again what a paper shows and says of each of its claims whether it holds. It writes
  study.json   claims with what was published and what was measured, tables, figures
  study.html   the same to look at, in one file that needs no network
The exit code is 0 whether the claims hold or not.

Examples:
  linkwork list studies
  linkwork study generalized-inverse
  linkwork study generalized-inverse --quick --out out/quick)";

}  // namespace

CLI::App* StudyOptions::add_to(CLI::App& program) {
  CLI::App& app = *program.add_subcommand("study", "Reproduces a paper: its figures, tables and claims.");
  app.add_option("NAME", name, "which one: see 'linkwork list studies'")->required()->type_name("");
  app.add_option("-o,--out", out, "folder for the results; default out/NAME")->option_text("DIR");
  app.add_flag("--quick", quick, "smaller sizes and shorter runs");
  app.add_flag("--quiet", quiet, "print nothing but errors");
  app.footer(kStudyFooter);
  return &app;
}

std::vector<std::string> StudyOptions::arguments() const {
  std::vector<std::string> all{"study", name};
  if (!out.empty()) all.push_back("--out=" + out);
  if (quick) all.push_back("--quick");
  if (quiet) all.push_back("--quiet");
  return all;
}

void become_studies_program(std::vector<std::string> arguments) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe").replace_filename("linkwork-studies");
  arguments.insert(arguments.begin(), program.string());
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  std::fflush(nullptr);
  execv(program.c_str(), argv.data());
  if (errno == ENOENT)
    throw InputError({}, fmt::format("the studies are a program of their own, and there is no {}", program.string()),
                     "'./dev build', which builds it");
  throw InputError({}, fmt::format("{} cannot be started: {}", program.string(), std::strerror(errno)));
}

Command study_command(CLI::App& program) {
  const auto options = std::make_shared<StudyOptions>();
  CLI::App* const app = options->add_to(program);
  return {app, [options]() -> int { become_studies_program(options->arguments()); }};
}

}  // namespace linkwork::cli
