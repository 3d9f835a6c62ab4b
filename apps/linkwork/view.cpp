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
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/view_server.h"
#include "linkwork/io/report.h"
#include "linkwork/model/input_error.h"

namespace linkwork::cli {
namespace {

constexpr const char* kFooter =
    R"(The page is the run's report; while the run is still going, it follows. Ctrl-C ends the server.

Examples:
  linkwork run four_bar --end 1000 --step 1e-4 --quiet &
  linkwork view out/four-bar)";

struct ViewOptions {
  std::string folder;
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
  read_running(options.folder);  // complains now if it is not a run's folder
  const auto ready = [&](const std::string& address) {
    print("{}\n", address);
    std::fflush(stdout);
    if (!options.no_browser) open_browser(address);
  };
  serve_run(options.folder, options.port, ready);
  return kDone;
}

}  // namespace

Command view_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("view", "Shows a run in the browser, also while it is going.");
  const auto options = std::make_shared<ViewOptions>();
  app->add_option("DIR", options->folder, "folder that 'linkwork run' writes its results into")->required()->type_name("");
  app->add_option("--port", options->port, "port on 127.0.0.1; default any free one")
      ->option_text("N")
      ->check(CLI::Range(0, 65535));
  app->add_flag("--no-browser", options->no_browser, "only print the address");
  app->footer(kFooter);
  return {app, [options] { return view(*options); }};
}

}  // namespace linkwork::cli
