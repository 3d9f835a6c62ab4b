#pragma once

#include <concepts>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linkwork/model/input_error.h"

namespace linkwork {

struct TomlEntry;

/// A value of a TOML file, with its position, or one of the same form that was made otherwise. Plain data: what reads models
/// needs to know nothing of the TOML parser.
struct TomlValue {
  enum class Kind { kString, kInteger, kFloat, kBoolean, kDate, kArray, kTable };

  TomlValue();  // an empty table
  template <class T>
  requires std::same_as<T, bool> TomlValue(T value);
  TomlValue(int value);
  TomlValue(double value);
  TomlValue(std::string value);
  TomlValue(const char* value);
  TomlValue(std::vector<TomlValue> values);

  Kind kind = Kind::kTable;
  int file = 0;  // of Document::files
  int line = 0;
  int column = 0;
  std::string text;                // kString
  double number = 0.0;             // kInteger, kFloat
  bool boolean = false;            // kBoolean
  std::vector<TomlValue> items;    // kArray
  std::vector<TomlEntry> entries;  // kTable, in the order of the file
  std::string comment;             // kTable: what to_toml() writes above it

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kFloat; }
  /// Null if the table has no such key.
  const TomlValue* find(std::string_view key) const;
  /// The value of a table's key, which is added if it is not there.
  TomlValue& operator[](std::string_view key);
  /// What it is, for messages: "the string 'abc'", "an array of 2".
  std::string description() const;
};

struct TomlEntry {
  std::string key;
  int line = 0;
  int column = 0;
  TomlValue value;
};

inline TomlValue::TomlValue() = default;
template <class T>
requires std::same_as<T, bool> TomlValue::TomlValue(T value) : kind(Kind::kBoolean), boolean(value) {}
inline TomlValue::TomlValue(int value) : kind(Kind::kInteger), number(value) {}
inline TomlValue::TomlValue(double value) : kind(Kind::kFloat), number(value) {}
inline TomlValue::TomlValue(std::string value) : kind(Kind::kString), text(std::move(value)) {}
inline TomlValue::TomlValue(const char* value) : TomlValue(std::string(value)) {}
inline TomlValue::TomlValue(std::vector<TomlValue> values) : kind(Kind::kArray), items(std::move(values)) {}

/// A model as tables and keys: the contents of a model file, or what another kind of file or a program says in the same terms.
/// The one form in which models are checked.
struct Document {
  TomlValue root;
  std::vector<std::string> files = {""};  // that values come from; modules and data are looked for beside the first
};

/// Throws InputError, with the place, if the text is not TOML.
TomlValue parse_toml(std::string_view text, const std::string& file);

/// As the text of a file, which reads back as the same values to the last bit.
std::string to_toml(const TomlValue& root);

}  // namespace linkwork
