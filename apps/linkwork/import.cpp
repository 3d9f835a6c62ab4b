#include <fmt/format.h>

#include <filesystem>
#include <memory>
#include <string>

#include "apps/linkwork/commands.h"
#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/terminal.h"
#include "linkwork/import/robot_file.h"
#include "linkwork/io/durable_file.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kImportFooter =
    R"(Reads URDF (with its loops: URDF+, <constraint>, <loop_joint>, <mimic>, a YAML file), SDF and MJCF, and writes the same mechanism as
a model file, which can be edited and runs to the same results. Every other command takes such files, too.

Examples:
  linkwork import robot.urdf -o robot.toml
  linkwork import robot.urdf --fixed-base --loops loops.yaml -o robot.toml
  linkwork run robot.urdf)";

struct ImportingOptions {
  ModelArgument model;
  std::string out;
};

int import_file(const ImportingOptions& options) {
  const fs::path file = options.model.model;
  if (!is_robot_file(file))
    throw InputError({file.string(), 0, 0}, "is no robot file by its name", "a file that ends in .urdf, .sdf or .xml");
  const ImportedRobot robot = import_robot(read_text_file(file), file.string(), options.model.import_options());
  read_model_document(robot.document);  // complains of what a model cannot have, at its place in the file
  const std::string text = model_text(robot, file.filename().string(), fs::path(options.out).parent_path());
  if (options.out.empty()) {
    print("{}", text);
    return kDone;
  }
  check_durable_file(options.out);
  write_durable_file(options.out, text);
  for (const std::string& note : robot.notes) print("  {}\n", note);
  print("wrote {0}; now: linkwork check {0}\n", options.out);
  return kDone;
}

}  // namespace

Command import_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("import", "Writes a robot file (URDF, SDF, MJCF) as a model file.");
  const auto options = std::make_shared<ImportingOptions>();
  app->add_option("FILE", options->model.model, "a .urdf, .sdf or .xml file")->required()->type_name("");
  app->add_option("-o,--out", options->out, "model file to write; default: to the terminal")->option_text("FILE");
  options->model.add_import_options(*app);
  app->footer(kImportFooter);
  return {app, [options] { return import_file(*options); }};
}

}  // namespace linkwork::cli
