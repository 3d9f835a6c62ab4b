#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/interruption.h"
#include "apps/linkwork/lists.h"
#include "apps/linkwork/picture_options.h"
#include "apps/linkwork/progress.h"
#include "apps/linkwork/terminal.h"
#include "apps/linkwork/text.h"

namespace linkwork::cli {
namespace {

constexpr const char* kAnimateFooter =
    R"(Draws every picture itself, without a browser. GIF files need nothing more; MP4 and WebM files are made by the program ffmpeg
(Debian: apt install ffmpeg).

Examples:
  linkwork run four_bar --end 3
  linkwork animate out/four-bar -o four_bar.gif
  linkwork animate out/four-bar --speed 0.25 --to 1 --size 1280x720 -o slow.mp4)";

struct AnimateCommand {
  std::string folder;
  PictureTexts picture;
  std::optional<std::string> rate, speed, from, to;
  bool quiet = false;
};

int animate(const AnimateCommand& options) {
  FilmOptions film;
  film.picture = options.picture.read();
  if (options.rate) film.rate = parse_positive(*options.rate, "--rate");
  if (options.speed) film.speed = parse_positive(*options.speed, "--speed");
  if (options.from) film.from = parse_time(*options.from, "--from");
  if (options.to) film.to = parse_time(*options.to, "--to");
  Progress progress(options.quiet);
  expect_interruption();
  film.go_on = [&](double part) {
    progress.show_part(part, "drawing");
    return !interrupted();
  };
  const FilmSummary made = save_film(read_run(options.folder), options.picture.out, film);
  progress.finish();
  if (interrupted()) return exit_code_after_interruption();
  if (!options.quiet) print("{}: {}, {:.3g} s\n", options.picture.out, counted(made.pictures, "picture"), made.seconds);
  return kDone;
}

}  // namespace

Command animate_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("animate", "Makes a film of a run: GIF, MP4 or WebM.");
  const auto options = std::make_shared<AnimateCommand>();
  app->add_option("DIR", options->folder, "folder that 'linkwork run' has written its results into")->required()->type_name("");
  options->picture.add_to(*app, "the film: .gif, .mp4 or .webm");
  app->add_option("--rate", options->rate, "pictures per second; default 25")->option_text("N");
  app->add_option("--speed", options->speed, "simulated seconds per second; default 1")->option_text("X");
  app->add_option("--from", options->from, "first time, s; default the start of the run")->option_text("T");
  app->add_option("--to", options->to, "last time, s; default the end of the run")->option_text("T");
  app->add_flag("--quiet", options->quiet, "print nothing but errors");
  app->footer(kAnimateFooter);
  return {app, [options] { return animate(*options); }};
}

}  // namespace linkwork::cli
