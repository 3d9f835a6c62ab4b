#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "linkwork/front/mechanism.h"

namespace linkwork {

struct FmuInterface;

struct FmuOptions {
  int fmi = 2;  // or 3
  bool co_simulation = true, model_exchange = true;
  /// The shared object that every exported FMU contains; empty: fmu_binary().
  std::filesystem::path binary = {};
};

/// Throws InputError for what FMI does not know: "cs", "me", "cs,me".
void set_types(FmuOptions& options, const std::string& types);

/// What was exported, for the user.
struct ExportedFmu {
  std::filesystem::path file;
  std::vector<std::string> inputs = {}, outputs = {}, parameters = {}, tunable = {};  // names
  std::size_t states = 0;
  std::vector<std::string> notes = {};
};

/// Writes a mechanism as an FMU for this platform: its description, the binary, and the model with all its files. Throws
/// InputError.
ExportedFmu export_fmu(const Mechanism& mechanism, const std::filesystem::path& file, const FmuOptions& options = {});

/// Where the binary is: as set_fmu_binary() or LINKWORK_FMU_BINARY say, or where it was built.
std::filesystem::path fmu_binary();
void set_fmu_binary(const std::filesystem::path& file);

/// modelDescription.xml.
std::string model_description(const FmuInterface& model, const FmuOptions& options);
/// A name in the syntax of C, which the binary has in the archive.
std::string model_identifier(const std::string& name);

}  // namespace linkwork
