#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/input_error.h"

namespace linkwork {

struct TomlEntry;

/// A value of a TOML file, with its position. Plain data: what reads models needs to know nothing of the TOML parser.
struct TomlValue {
  enum class Kind { kString, kInteger, kFloat, kBoolean, kDate, kArray, kTable };

  Kind kind = Kind::kTable;
  int line = 0;
  int column = 0;
  std::string text;                // kString
  double number = 0.0;             // kInteger, kFloat
  bool boolean = false;            // kBoolean
  std::vector<TomlValue> items;    // kArray
  std::vector<TomlEntry> entries;  // kTable, in the order of the file

  bool is_number() const { return kind == Kind::kInteger || kind == Kind::kFloat; }
  /// Null if the table has no such key.
  const TomlValue* find(std::string_view key) const;
  /// What it is, for messages: "the string 'abc'", "an array of 2".
  std::string description() const;
};

struct TomlEntry {
  std::string key;
  int line = 0;
  int column = 0;
  TomlValue value;
};

/// Throws InputError, with the place, if the text is not TOML.
TomlValue parse_toml(std::string_view text, const std::string& file);

}  // namespace linkwork
