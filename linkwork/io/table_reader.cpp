#include "linkwork/io/table_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace linkwork {
namespace {

using Kind = TomlValue::Kind;

std::string quoted(std::string_view key) { return "'" + std::string(key) + "'"; }

Variables variables_of(KeyKind kind) {
  switch (kind) {
    case KeyKind::kExpressionOfTime:
      return Variables::kTime;
    case KeyKind::kExpressionOfPositions:
      return Variables::kTimeAndPositions;
    case KeyKind::kExpressionOfLaw:
      return Variables::kLaw;
    case KeyKind::kExpressionOfEvent:
      return Variables::kEvent;
    default:
      return Variables::kState;
  }
}

void check_name(const std::string& name, const Place& place) {
  const auto is_bad = [](char c) { return c == '.' || static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  if (!name.empty() && std::none_of(name.begin(), name.end(), is_bad)) return;
  throw InputError(place, "'" + name + "' cannot be a name", std::string(in_words(KeyKind::kName)));
}

}  // namespace

TableReader::TableReader(const TomlValue& table, const KeyTable& keys, const Scope& scope)
    : table_(table), keys_(keys), scope_(scope) {
  if (!keys.selector.empty()) find_type();
  check_keys();
}

void TableReader::find_type() {
  const TomlValue* selected = table_.find(keys_.selector);
  if (selected == nullptr) {
    // A misspelt selector is better reported as such.
    for (const TomlEntry& entry : table_.entries) {
      if (keys_.find(entry.key) == nullptr) throw unknown_name(scope_.place(entry), "key", entry.key, keys_.key_names(""));
    }
    throw InputError(place(), fmt::format("the {} has no '{}'", keys_.title, keys_.selector), "one of: " + listed(keys_.types()));
  }
  if (selected->kind != Kind::kString) {
    throw InputError(scope_.place(*selected), fmt::format("'{}' is {}", keys_.selector, selected->description()),
                     "one of: " + listed(keys_.types()));
  }
  type_ = scope_.text(*selected);
  if (std::find(keys_.types().begin(), keys_.types().end(), type_) == keys_.types().end()) {
    throw unknown_name(scope_.place(*selected), fmt::format("{} {}", keys_.title, keys_.selector), type_, keys_.types());
  }
}

void TableReader::check_keys() const {
  for (const TomlEntry& entry : table_.entries) {
    if (keys_.find(entry.key, type_) != nullptr) continue;
    if (keys_.find(entry.key) == nullptr) throw unknown_name(scope_.place(entry), "key", entry.key, keys_.key_names(type_));
    throw InputError(scope_.place(entry), fmt::format("'{}' does not apply to {} = \"{}\"", entry.key, keys_.selector, type_),
                     fmt::format("it only with {}: {}", keys_.selector, listed(keys_.types_with(entry.key))));
  }
  for (const Key& key : keys_.keys) {
    if (key.required && applies(key, type_) && !has(key.name)) {
      throw InputError(place(), fmt::format("the {} has no '{}'", keys_.title, key.name), expected(key.name));
    }
  }
}

const Key& TableReader::key_of(std::string_view name) const {
  const Key* const key = keys_.find(name, type_);
  if (key == nullptr) throw std::logic_error(fmt::format("{} has no key {}", keys_.title, name));
  return *key;
}

std::string TableReader::expected(std::string_view key) const {
  const Key& description = key_of(key);
  if (description.kind == KeyKind::kOneOf) return "one of: " + listed(description.choices);
  return std::string(in_words(description.kind));
}

const TomlValue& TableReader::value(std::string_view key) const {
  const TomlValue* const found = table_.find(key);
  if (found == nullptr) throw std::logic_error(fmt::format("{} without {}", keys_.title, key));
  return *found;
}

void TableReader::fail(std::string_view key, const std::string& what) const { fail(key, what, expected(key)); }

void TableReader::fail(std::string_view key, const std::string& what, const std::string& expected_instead) const {
  throw InputError(place(key), quoted(key) + " " + what, expected_instead);
}

std::string TableReader::text(std::string_view key) const {
  const Key& description = key_of(key);
  if (value(key).kind != Kind::kString) fail(key, "is " + value(key).description());
  std::string result = scope_.text(value(key));
  if (description.kind == KeyKind::kName) check_name(result, place(key));
  const std::vector<std::string>& choices = description.choices;
  if (description.kind == KeyKind::kOneOf && std::find(choices.begin(), choices.end(), result) == choices.end()) {
    throw unknown_name(place(key), quoted(key), result, choices);
  }
  return result;
}

std::vector<std::string> TableReader::texts(std::string_view key) const {
  std::vector<std::string> result;
  for (const TomlValue& item : items(key)) {
    if (item.kind != Kind::kString) {
      throw InputError(scope_.place(item), quoted(key) + " contains " + item.description(), expected(key));
    }
    result.push_back(scope_.text(item));
  }
  return result;
}

Choice TableReader::choice(std::string_view key) const {
  if (value(key).kind != Kind::kString) fail(key, "is " + value(key).description());
  return parse_choice(scope_.text(value(key)), place(key));
}

bool TableReader::boolean(std::string_view key) const {
  if (value(key).kind != Kind::kBoolean) fail(key, "is " + value(key).description());
  return value(key).boolean;
}

double TableReader::number_of(const TomlValue& item, std::string_view key) const {
  const double number = scope_.number(item, quoted(key), expected(key));
  const KeyKind kind = key_of(key).kind;
  const bool fits = kind == KeyKind::kPositive || kind == KeyKind::kPositiveVector ? number > 0.0
                    : kind == KeyKind::kNotNegative                                ? number >= 0.0
                    : kind == KeyKind::kNonzero                                    ? number != 0.0
                                                                                   : true;
  if (!fits) throw InputError(scope_.place(item), fmt::format("'{}' is {}", key, number), expected(key));
  return number;
}

double TableReader::number(std::string_view key) const { return number_of(value(key), key); }

const std::vector<TomlValue>& TableReader::items(std::string_view key) const {
  if (value(key).kind != Kind::kArray) fail(key, "is " + value(key).description());
  return value(key).items;
}

std::vector<double> TableReader::numbers(std::string_view key) const {
  std::vector<double> result;
  for (const TomlValue& item : items(key)) result.push_back(number_of(item, key));
  return result;
}

Eigen::Vector3d TableReader::vector(std::string_view key) const {
  const std::vector<TomlValue>& components = items(key);
  if (components.size() != 3) fail(key, "is " + value(key).description());
  return {number_of(components[0], key), number_of(components[1], key), number_of(components[2], key)};
}

Eigen::Vector3d TableReader::axis(std::string_view key) const {
  const Eigen::Vector3d direction = vector(key);
  const double largest = direction.cwiseAbs().maxCoeff();
  if (largest == 0.0) fail(key, "is zero");
  return (direction / largest).normalized();  // divided first, so that neither tiny nor huge vectors lose digits
}

Eigen::Quaterniond TableReader::quaternion(std::string_view key) const {
  if (items(key).size() != 4) fail(key, "is " + value(key).description());
  const std::vector<double> c = numbers(key);
  const Eigen::Vector4d wxyz(c[0], c[1], c[2], c[3]);
  const double largest = wxyz.cwiseAbs().maxCoeff();
  if (largest == 0.0) fail(key, "is zero");
  const Eigen::Vector4d unit = (wxyz / largest).normalized();
  return {unit[0], unit[1], unit[2], unit[3]};
}

Expression TableReader::expression(std::string_view key) const {
  return scope_.expression(value(key), variables_of(key_of(key).kind), quoted(key), expected(key));
}

std::array<Expression, 3> TableReader::expressions(std::string_view key) const {
  const std::vector<TomlValue>& components = items(key);
  if (components.size() != 3) fail(key, "is " + value(key).description());
  std::array<Expression, 3> result;
  for (std::size_t i = 0; i < 3; ++i) {
    result[i] = scope_.expression(components[i], variables_of(key_of(key).kind), quoted(key), expected(key));
  }
  return result;
}

TableReader TableReader::table(std::string_view key, const KeyTable& keys) const {
  if (value(key).kind != Kind::kTable) fail(key, "is " + value(key).description());
  return TableReader(value(key), keys, scope_);
}

const std::vector<TomlValue>& TableReader::tables(std::string_view key) const {
  static const std::vector<TomlValue> none;
  if (!has(key)) return none;
  const std::string expected_tables = fmt::format("an array of tables: [[{}]]", key);
  if (value(key).kind != Kind::kArray) fail(key, "is " + value(key).description(), expected_tables);
  for (const TomlValue& item : value(key).items) {
    if (item.kind == Kind::kTable) continue;
    throw InputError(scope_.place(item), quoted(key) + " contains " + item.description(), expected_tables);
  }
  return value(key).items;
}

void TableReader::read(std::string_view key, bool& target) const {
  if (has(key)) target = boolean(key);
}
void TableReader::read(std::string_view key, double& target) const {
  if (has(key)) target = number(key);
}
void TableReader::read(std::string_view key, std::string& target) const {
  if (has(key)) target = text(key);
}
void TableReader::read(std::string_view key, Eigen::Vector3d& target) const {
  if (has(key)) target = vector(key);
}
void TableReader::read(std::string_view key, Choice& target) const {
  if (has(key)) target = choice(key);
}

}  // namespace linkwork
