#include "linkwork/fmu/fmu_export.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "linkwork/fmi/zip_archive.h"
#include "linkwork/fmu/exported_model.h"
#include "linkwork/io/durable_file.h"
#include "linkwork/io/input_file.h"
#include "linkwork/model/spec.h"

namespace linkwork {

namespace {

namespace fs = std::filesystem;
using Role = FmuVariable::Role;

fs::path given_binary;

}  // namespace

void set_fmu_binary(const fs::path& file) { given_binary = file; }

fs::path fmu_binary() {
  if (const char* const given = std::getenv("LINKWORK_FMU_BINARY"); given != nullptr && *given != '\0') return given;
  return given_binary;
}

void set_types(FmuOptions& options, const std::string& types) {
  options.co_simulation = options.model_exchange = false;
  std::istringstream list(types);
  for (std::string type; std::getline(list, type, ',');) {
    if (type == "cs")
      options.co_simulation = true;
    else if (type == "me")
      options.model_exchange = true;
    else
      throw InputError({"--type", 0, 0}, fmt::format("'{}' is no type of FMU", type),
                       "cs (co-simulation), me (model exchange), or cs,me");
  }
  if (!options.co_simulation && !options.model_exchange)
    throw InputError({"--type", 0, 0}, "the list is empty", "cs (co-simulation), me (model exchange), or cs,me");
}

ExportedFmu export_fmu(const Mechanism& mechanism, const fs::path& file, const FmuOptions& options) {
  if (options.fmi != 2 && options.fmi != 3)
    throw InputError({"--fmi", 0, 0}, fmt::format("FMI {} is not known", options.fmi), "2 or 3");
  for (const BlockSpec& block : mechanism.spec().blocks)
    throw InputError(block.place, fmt::format("the FMU '{}' of the model cannot be part of an FMU", block.name),
                     "a model without FMUs");
  const fs::path binary = options.binary.empty() ? fmu_binary() : options.binary;
  std::error_code ignored;
  if (binary.empty() || !fs::is_regular_file(binary, ignored))
    throw InputError({binary.string(), 0, 0}, "the shared object that FMUs are made of is not there",
                     "a whole installation, or its path in LINKWORK_FMU_BINARY");
  const PackedModel model = packed(mechanism);
  const FmuInterface interface = fmu_interface(model);
  const std::string folder = options.fmi == 2 ? "binaries/linux64/" : "binaries/x86_64-linux/";
  std::vector<ZippedFile> files{{"modelDescription.xml", model_description(interface, options)}};
  files.push_back(
      {folder + model_identifier(interface.name) + ".so", read_input_file(binary, "a shared object", std::size_t{1} << 30U)});
  // An FMU is given away: the licences of what its shared object contains go along.
  if (const fs::path licenses = fs::path(binary).replace_extension(".licenses.txt"); fs::is_regular_file(licenses, ignored))
    files.push_back({"documentation/licenses/licenses.txt", read_input_file(licenses, "a text", std::size_t{1} << 26U)});
  for (const auto& [name, contents] : resource_files(model, interface)) files.push_back({"resources/" + name, contents});
  check_durable_file(file);
  write_durable_file(file, zipped(files));

  ExportedFmu exported{.file = file, .states = interface.count(Role::kState)};
  for (const FmuVariable& v : interface.variables) {
    if (v.role == Role::kInput) exported.inputs.push_back(v.name);
    if (v.role == Role::kOutput) exported.outputs.push_back(v.name);
    if (v.role == Role::kParameter) exported.parameters.push_back(v.name);
    if (v.role == Role::kParameter && v.tunable) exported.tunable.push_back(v.name);
  }
  if (exported.outputs.empty()) exported.notes.emplace_back("the model has no [[sensor]], so the FMU has no outputs");
  return exported;
}

}  // namespace linkwork
