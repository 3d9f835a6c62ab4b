#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linkwork/model/input_error.h"
#include "linkwork/model/signal_block.h"

namespace linkwork {

/// An FMU of another maker, as a model asks for it.
struct FmuRequest {
  std::string name;  // that it has in the model
  std::string file;  // for messages
  std::string bytes;
  std::string kind = "auto";                               // "me", "cs"; auto: model exchange if it offers that
  std::vector<std::pair<std::string, Place>> inputs = {};  // variables that expressions are connected to
  /// A text may also be an expression, whose value is the number: the FMU's type decides.
  struct Parameter {
    std::string name;
    std::optional<double> number;
    std::optional<std::string> text;
    Place place;
  };
  std::vector<Parameter> parameters = {};
  std::vector<std::pair<std::string, std::string>> outputs = {};  // names that expressions use, and those of the FMU
  std::optional<double> step = {};                                // co-simulation
  bool linear = false;
  bool connects_ports = false;  // inputs that are forces on ports, "tip.fx", are connected, too
  Place place;
};

/// Reads the archive; its code is loaded when the block is first instantiated. Throws InputError.
std::shared_ptr<const SignalBlock> make_fmu_block(FmuRequest request);

/// From here on no FMU is read or run: make_fmu_block() throws InputError.
void forbid_fmus();

}  // namespace linkwork
