#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace linkwork {

/// What modelDescription.xml says of an FMU, of version 2 or 3, as far as it matters to who runs it.
struct FmuDescription {
  enum class Type {
    kFloat64,
    kFloat32,
    kInt8,
    kUInt8,
    kInt16,
    kUInt16,
    kInt32,
    kUInt32,
    kInt64,
    kUInt64,
    kBoolean,
    kString,
    kBinary,
    kClock
  };
  struct Variable {
    std::string name;
    std::uint32_t reference = 0;
    Type type = Type::kFloat64;  // of version 2: Real, Integer and enumerations (kInt32), Boolean, String
    std::string causality = "local", variability = "continuous";
    std::string start = {};                         // as written; empty: none
    std::optional<std::size_t> derivative_of = {};  // in `variables`
    bool is_array = false;

    bool is_number() const { return type < Type::kString && !is_array; }
  };
  /// An output or derivative, and what it depends on.
  struct Unknown {
    std::size_t variable = 0;                                 // in `variables`
    std::optional<std::vector<std::size_t>> depends_on = {};  // nothing: on everything
  };
  /// Of one way to run it.
  struct Interface {
    std::string identifier;
    bool needs_tool = false;  // another program
    bool gets_state = false, serializes = false, derivatives = false;
    bool interpolates = false, variable_step = false;  // co-simulation
    bool completes_steps = true;                       // model exchange: it wants to know of steps
  };

  int version = 0;  // 2 or 3
  std::string name, token;
  std::optional<Interface> exchange, co_simulation;
  std::vector<Variable> variables;
  std::vector<Unknown> outputs, derivatives;
  std::size_t indicators = 0;
  std::optional<double> step_size;

  /// The variable of a name; null if there is none.
  const Variable* find(std::string_view name) const;
};

/// Throws InputError if it is none, of another version, or not as the standard wants it. `file` stands in messages.
FmuDescription parse_model_description(std::string_view xml, const std::string& file);

const char* in_words(FmuDescription::Type type);

}  // namespace linkwork
