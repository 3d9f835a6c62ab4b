#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/picture_options.h"
#include "apps/linkwork/terminal.h"
#include "linkwork/io/scene.h"
#include "linkwork/modules/model_run.h"
#include "linkwork/simulation/moving_system.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPictureFooter =
    R"(Draws the mechanism as the report page does, without a browser. MODEL may also be the folder of a run: then its rows are drawn, with
the paths of its sensors.

Examples:
  linkwork picture four_bar -o four_bar.svg
  linkwork picture stewart --at 0.5 --size 1280x960 -o stewart.png
  linkwork picture out/four-bar --at 2 -o later.png)";

struct PictureCommand {
  ModelArgument model;
  PictureTexts picture;
  std::optional<std::string> at;
};

/// A run of one row: the model's start, or where its motion has got to.
ReportRun moment_of(const ModelArgument& argument, double t) {
  const Spec spec = argument.read();
  LiveRun live = make_live_run(spec);
  Simulation& simulation = *live.simulation;
  if (t > 0.0 && !simulation.advance_to(t) && simulation.t() < t && !simulation.ended_by_event())
    throw InputError({"--at", 0, 0}, fmt::format("the run does not get there: {}", simulation.summary().status));
  const std::vector<std::string>& columns = simulation.system().columns();
  ThinnedRows rows(columns.size());
  rows.add(simulation.row());
  return {live.model->name, scene_json(spec, *live.model, columns), "", std::move(rows)};
}

int draw(const PictureCommand& options) {
  const PictureOptions picture = options.picture.read();
  const std::optional<double> at = options.at ? std::optional(parse_time(*options.at, "--at")) : std::nullopt;
  std::error_code ignored;
  const bool is_run = fs::is_directory(options.model.model, ignored);
  save_picture(is_run ? read_run(options.model.model) : moment_of(options.model, at.value_or(0.0)), options.picture.out, picture,
               at);
  print("{}\n", options.picture.out);
  return kDone;
}

}  // namespace

Command picture_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("picture", "Draws a mechanism into an SVG or PNG file.");
  const auto options = std::make_shared<PictureCommand>();
  options->model.add_to(*app);
  options->picture.add_to(*app, "the picture, .svg or .png");
  app->add_option("--at", options->at, "time, s; default the start")->option_text("T");
  app->footer(kPictureFooter);
  return {app, [options] { return draw(*options); }};
}

}  // namespace linkwork::cli
