#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "linkwork/front/mechanism.h"

namespace linkwork {

/// A variable of an exported FMU. Its position in the list is its value reference.
struct FmuVariable {
  enum class Role { kTime, kInput, kOutput, kParameter, kCalculated, kLocal, kState, kRate, kIndicator };
  Role role = Role::kTime;
  std::string name;
  std::size_t index = 0;  // among those of its role; of outputs and locals, in ExportedModel::columns
  double start = 0.0;
  std::string unit = {};  // empty: not known, or none
  std::string description = {};
  bool tunable = false;  // a parameter that can be changed while it runs
};

/// A mechanism as an FMU shows it: inputs by their names, sensors as outputs, parameters of its file, coordinates as local
/// variables, and for model exchange states in independent coordinates x = (q, v, z).
struct FmuInterface {
  std::string name;        // of the model
  std::string token = {};  // that an importer must know to instantiate it
  std::vector<FmuVariable> variables = {};
  std::vector<std::string> columns = {};            // of a row of its motion, that outputs and locals show
  double end = 1.0, step = 1e-3, tolerance = 1e-6;  // of the model's settings
  bool exact_derivatives = false;

  std::size_t count(FmuVariable::Role role) const;
};

/// The model inside an FMU: one model file, the files of its modules and its data, and what parameters were set.
struct PackedModel {
  struct File {
    std::string asked;  // as the model asks for it
    std::string contents;
  };
  std::string name;  // of the model's own file, the first
  std::vector<File> files;
  std::vector<std::pair<std::string, std::string>> set;  // parameters

  /// Reads it, with some parameters set otherwise.
  Mechanism read(const std::map<std::string, double>& parameters = {}) const;
};

/// Throws InputError if a part of the mechanism is a program's.
PackedModel packed(const Mechanism& mechanism);
/// Looks at a model as it is at its start. Throws InputError or SimulationError if it has none.
FmuInterface fmu_interface(const PackedModel& model);

/// The files of the folder "resources", and the same again.
std::vector<std::pair<std::string, std::string>> resource_files(const PackedModel& model, const FmuInterface& interface);
struct FmuResources {
  PackedModel model;
  FmuInterface interface;
};
FmuResources read_resources(const std::filesystem::path& folder);

}  // namespace linkwork
