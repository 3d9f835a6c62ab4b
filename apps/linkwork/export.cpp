#include "apps/linkwork/export.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "apps/linkwork/model_argument.h"
#include "apps/linkwork/terminal.h"
#include "linkwork/fmu/fmu_export.h"

namespace linkwork::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExportFooter =
    R"(Writes the model as an FMU, a file that other programs simulate: inputs are its [[input]], outputs its [[sensor]], parameters its
[parameters]. It contains the model with all its files, and a shared object for this platform that needs nothing installed.

Examples:
  linkwork export fmu four_bar -o four_bar.fmu
  linkwork export fmu my_arm.toml -o my_arm.fmu --fmi 3 --type me)";

struct ExportOptions {
  ModelArgument model;
  std::string what, out, types = "cs,me";
  int fmi = 2;
};

/// Beside an installed program, or where it was built.
fs::path binary() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& file : {program.parent_path() / LINKWORK_INSTALLED_FMU, fs::path(LINKWORK_BUILT_FMU)})
    if (fs::is_regular_file(file, ignored)) return file.lexically_normal();
  return {};
}

int export_model(const ExportOptions& options) {
  if (options.what != "fmu") throw unknown_name({}, "format", options.what, {"fmu"});
  FmuOptions how{.fmi = options.fmi};
  set_types(how, options.types);
  if (fmu_binary().empty()) set_fmu_binary(binary());
  Parameters parameters;
  for (const std::string& text : options.model.set) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
      throw InputError({"--set", 0, 0}, fmt::format("'{}' sets nothing", text), "name=value, as in --set torque=0");
    parameters.emplace_back(text.substr(0, equals), text.substr(equals + 1));
  }
  const Mechanism mechanism = load(options.model.file(), parameters, options.model.import_options());
  const std::string out = options.out.empty() ? model_identifier(mechanism.name()) + ".fmu" : options.out;
  const ExportedFmu exported = export_fmu(mechanism, out, how);
  const auto tell = [](const char* what, const std::vector<std::string>& names) {
    if (!names.empty()) print("  {}: {}\n", what, fmt::format("{}", fmt::join(names, ", ")));
  };
  tell("inputs", exported.inputs);
  tell("outputs", exported.outputs);
  tell("parameters", exported.parameters);
  tell("of them tunable", exported.tunable);
  if (how.model_exchange) print("  states: {}\n", exported.states);
  for (const std::string& note : exported.notes) print("  note: {}\n", note);
  print("wrote {} (FMI {}.0, {})\n", out, options.fmi, options.types);
  return kDone;
}

}  // namespace

Command export_command(CLI::App& program) {
  CLI::App* const app = program.add_subcommand("export", "Writes a model as an FMU, for other programs to simulate.");
  const auto options = std::make_shared<ExportOptions>();
  app->add_option("FORMAT", options->what, "fmu")->required()->type_name("");
  options->model.add_to(*app);
  app->add_option("-o,--out", options->out, "file to write; default: the model's name with .fmu")->option_text("FILE");
  app->add_option("--fmi", options->fmi, "version of FMI; default 2")->option_text("2|3");
  app->add_option("--type", options->types, "co-simulation, model exchange, or both; default cs,me")->option_text("cs,me");
  app->footer(kExportFooter);
  return {app, [options] { return export_model(*options); }};
}

}  // namespace linkwork::cli
