#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>

#include "linkwork/io/toml_value.h"
#include "linkwork/model/expression.h"

namespace linkwork {

/// What names mean while a model file is read: its parameters and, inside a repeated table, the indices.
class Scope {
 public:
  /// `files` are those of the document, which must outlive it.
  Scope(const std::vector<std::string>& files, std::map<std::string, double> constants)
      : files_(files), constants_(std::move(constants)) {}

  const std::map<std::string, double>& constants() const { return constants_; }
  Place place(const TomlValue& value) const { return {files_[static_cast<std::size_t>(value.file)], value.line, value.column}; }
  Place place(const TomlEntry& entry) const {
    return {files_[static_cast<std::size_t>(entry.value.file)], entry.line, entry.column};
  }

  /// Parameters that events change: variables in expressions of time or state, and not allowed elsewhere.
  void set_changing(std::set<std::string> names) { vocabulary_.changing = std::move(names); }
  /// A table, which expressions can call by its name from here on.
  void add_table(const std::string& name, std::shared_ptr<const Curve> table) { vocabulary_.tables[name] = std::move(table); }
  void add_sensors(std::string_view prefix) { vocabulary_.sensors.emplace(prefix); }
  const Vocabulary& vocabulary() const { return vocabulary_; }

  /// The value of a number or of a string with an expression of parameters. `subject` is what messages call it.
  double number(const TomlValue& value, const std::string& subject, std::string_view expected = "a number") const;
  /// A string with its {i} replaced.
  std::string text(const TomlValue& value) const;
  Expression expression(const TomlValue& value, Variables allowed, const std::string& subject, std::string_view expected) const;

  /// Calls `visit` once for each combination of the indices of `repeat` ({ i = [first, last], … }), the first index
  /// outermost. `admit` is told how many that will be, before the first.
  void for_each(const TomlValue& repeat, const std::function<void(double count)>& admit, const std::function<void()>& visit);

 private:
  struct Index {
    std::string name;
    std::int64_t first;
    std::int64_t last;
    double count() const { return last < first ? 0.0 : static_cast<double>(last - first + 1); }
  };
  std::vector<Index> read_indices(const TomlValue& repeat) const;
  std::int64_t read_bound(const TomlValue& value, const std::string& index) const;
  void run(const std::vector<Index>& indices, std::size_t depth, const std::function<void()>& visit);
  std::string values_of_indices() const;

  const std::vector<std::string>& files_;
  std::map<std::string, double> constants_;
  Vocabulary vocabulary_;
  std::vector<std::string> indices_;  // those of the repeat in force
};

}  // namespace linkwork
