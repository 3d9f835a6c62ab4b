#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/lists.h"
#include "apps/linkwork/live_model.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/view_server.h"
#include "linkwork/io/report.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kViewFooter =
    R"(Of a run, the page is its report; while the run is still going, it follows. Of a model, the page has a slider for each of its
parameters and inputs, and runs it anew as they move; with --realtime it runs by the clock, and inputs act at once. Ctrl-C ends the
server.

Examples:
  linkwork run four_bar --end 1000 --step 1e-4 --quiet &
  linkwork view out/four-bar
  linkwork view four_bar --end 3
  linkwork view pid_arm --realtime)";

struct ViewOptions {
  ModelArgument model;  // or the folder of a run
  SettingsOptions settings;
  std::optional<std::string> realtime;
  int port = 0;
  bool no_browser = false;
};

/// Asks the desktop to show the address, if there is one. The user may also open it by hand, so failures do not matter.
void open_browser(const std::string& address) {
  const bool has_desktop = std::getenv("DISPLAY") != nullptr || std::getenv("WAYLAND_DISPLAY") != nullptr;
  if (!has_desktop) return;
  std::string program = "xdg-open", argument = address;
  char* const arguments[] = {program.data(), argument.data(), nullptr};
  pid_t child = 0;
  // What this program ignores, another may rely on.
  sigset_t ignored;
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGPIPE);
  sigaddset(&ignored, SIGXFSZ);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setsigdefault(&attributes, &ignored);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  ::posix_spawnp(&child, program.c_str(), nullptr, &attributes, arguments, environ);
  ::posix_spawnattr_destroy(&attributes);
}

int view(const ViewOptions& options) {
  if (report_template().empty())
    throw InputError({}, "this program was built without the report page", "a build with node and npm (LINKWORK_WEB=ON)");
  std::error_code ignored;
  const fs::path folder = options.model.model;
  const bool is_run = fs::is_directory(folder, ignored);
  const auto ready = [&](const std::string& address) {
    print("{}\n", address);
    std::fflush(stdout);
    if (!options.no_browser) open_browser(address);
  };
  if (is_run) {
    read_running(folder);  // complains now if it is not a run's folder
    if (options.realtime) throw InputError({"--realtime", 0, 0}, "a run that is written down has no pace", "a model");
    serve([&](std::string_view target) { return run_answer(folder, target); }, options.port, ready);
  }
  std::optional<double> pace;
  if (options.realtime) pace = options.realtime->empty() ? 1.0 : parse_positive(*options.realtime, "--realtime");
  LiveModel model(options.model, options.settings, pace);
  serve([&](std::string_view target) { return model.answer(target); }, options.port, ready);
}

}  // namespace

Command view_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("view", "Shows a run, or a model with sliders, in the browser.");
  const auto options = std::make_shared<ViewOptions>();
  options->model.add_to(*app);
  app->get_option("MODEL")->description(
      "folder that 'linkwork run' writes its results into; or a model: a file, or the name of a ready one");
  options->settings.add_to(*app);
  app->add_option("--realtime", options->realtime, "the model runs by the clock, or FACTOR times as fast, and inputs act at once")
      ->expected(0, 1)
      ->option_text("[FACTOR]");
  app->add_option("--port", options->port, "port on 127.0.0.1; default any free one")
      ->option_text("N")
      ->check(CLI::Range(0, 65535));
  app->add_flag("--no-browser", options->no_browser, "only print the address");
  app->footer(kViewFooter);
  return {app, [options] { return view(*options); }};
}

}  // namespace linkwork::cli
