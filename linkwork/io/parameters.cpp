#include "linkwork/io/parameters.h"

#include <cmath>
#include <unordered_map>

#include "linkwork/io/model_keys.h"
#include "linkwork/model/expression.h"

namespace linkwork {
namespace {

struct Definition {
  bool is_number = false;
  double number = 0.0;
  std::string text;
  Place place;
};

using Definitions = std::map<std::string, Definition>;

Definition read_definition(const TomlEntry& entry, const std::string& file) {
  const TomlValue& value = entry.value;
  const Place place{file, value.line, value.column};
  if (value.is_number() && !std::isfinite(value.number)) {
    throw InputError(place, "the parameter '" + entry.key + "' is " + value.description(), "a finite number");
  }
  if (value.is_number()) return {true, value.number, {}, place};
  if (value.kind == TomlValue::Kind::kString) return {false, 0.0, value.text, place};
  throw InputError(place, "the parameter '" + entry.key + "' is " + value.description(),
                   "a number, or an expression of other parameters in quotes");
}

Definitions read_definitions(const TomlValue* table, const std::string& file) {
  Definitions definitions;
  if (table == nullptr) return definitions;
  if (table->kind != TomlValue::Kind::kTable) {
    throw InputError({file, table->line, table->column}, "'parameters' is " + table->description(),
                     std::string(in_words(KeyKind::kNumberTable)));
  }
  for (const TomlEntry& entry : table->entries) {
    const Place place{file, entry.line, entry.column};
    if (!is_identifier(entry.key)) {
      throw InputError(place, "'" + entry.key + "' cannot be a parameter",
                       "a name of letters, digits and _, not starting with a digit");
    }
    if (is_reserved_name(entry.key)) {
      throw InputError(place, "'" + entry.key + "' cannot be a parameter", "a name other than t, pi and those of functions");
    }
    definitions[entry.key] = read_definition(entry, file);
  }
  return definitions;
}

std::vector<std::string> names_of(const Definitions& definitions) {
  std::vector<std::string> names;
  for (const auto& [name, definition] : definitions) names.push_back(name);
  return names;
}

/// Evaluates definitions in the order their dependencies ask for. The search keeps its own stack: a chain of dependencies may be
/// as long as the file.
class Evaluation {
 public:
  explicit Evaluation(const Definitions& definitions) : definitions_(definitions) {
    for (const auto& [name, definition] : definitions) values_[name] = definition.number;  // all names known from the start
  }

  std::map<std::string, double> all() {
    for (const auto& [name, definition] : definitions_) evaluate(name);
    return std::move(values_);
  }

 private:
  enum class Status { kOpen, kDone };
  struct Visit {
    std::string name;
    std::vector<std::string> pending;  // what it depends on and is still to be looked at
  };

  void evaluate(const std::string& wanted) {
    begin(wanted);
    while (!open_.empty()) {
      Visit& visit = open_.back();
      if (visit.pending.empty()) {
        finish();
        continue;
      }
      const std::string next = std::move(visit.pending.back());
      visit.pending.pop_back();
      begin(next);
    }
  }

  void begin(const std::string& name) {
    const auto definition = definitions_.find(name);
    if (definition == definitions_.end()) return;  // reported, with its place, when the expression is parsed
    const auto [status, is_new] = status_.emplace(name, Status::kOpen);
    if (is_new) {
      open_.push_back({name, parameters_in(definition->second.text)});
    } else if (status->second == Status::kOpen) {
      fail_on_cycle(name);
    }
  }

  void finish() {
    const std::string name = std::move(open_.back().name);
    open_.pop_back();
    const Definition& definition = definitions_.at(name);
    if (!definition.is_number) {
      values_[name] = Expression::parse(definition.text, values_, Variables::kNone, definition.place).constant_value();
    }
    status_[name] = Status::kDone;
  }

  [[noreturn]] void fail_on_cycle(const std::string& name) const {
    std::string cycle = name;
    for (auto visit = open_.rbegin(); visit->name != name; ++visit) cycle = visit->name + " -> " + cycle;
    throw InputError(definitions_.at(name).place, "the parameter '" + name + "' needs its own value: " + name + " -> " + cycle,
                     "parameters that do not depend on themselves");
  }

  const Definitions& definitions_;
  std::map<std::string, double> values_;
  std::unordered_map<std::string, Status> status_;
  std::vector<Visit> open_;
};

}  // namespace

std::map<std::string, double> parameter_values(const TomlValue* table, const std::string& file,
                                               const std::vector<ParameterOverride>& overrides) {
  Definitions definitions = read_definitions(table, file);
  for (const ParameterOverride& change : overrides) {
    const auto found = definitions.find(change.name);
    if (found == definitions.end()) throw unknown_name(change.place, "parameter", change.name, names_of(definitions));
    found->second = {false, 0.0, change.text, change.place};
  }
  return Evaluation(definitions).all();
}

}  // namespace linkwork
