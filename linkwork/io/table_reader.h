#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>
#include <array>
#include <string>
#include <vector>

#include "linkwork/io/model_keys.h"
#include "linkwork/io/scope.h"
#include "linkwork/model/spec.h"

namespace linkwork {

/// Reads one table by the description of its keys. Construction checks that the keys are known, belong to the table's type, and
/// that none is missing; each access checks the value against the kind its key has in the description.
class TableReader {
 public:
  /// All must outlive the reader.
  TableReader(const TomlValue& table, const KeyTable& keys, const Scope& scope);

  const std::string& type() const { return type_; }
  const Scope& scope() const { return scope_; }
  bool has(std::string_view key) const { return table_.find(key) != nullptr; }
  Place place() const { return scope_.place(table_); }
  /// Of the key's value, which must be there.
  Place place(std::string_view key) const { return scope_.place(value(key)); }
  const TomlValue& value(std::string_view key) const;

  std::string text(std::string_view key) const;
  std::vector<std::string> texts(std::string_view key) const;
  Choice choice(std::string_view key) const;
  /// Of a key with choices.
  bool is_last_choice(std::string_view key) const { return text(key) == key_of(key).choices.back(); }
  bool boolean(std::string_view key) const;
  double number(std::string_view key) const;
  std::vector<double> numbers(std::string_view key) const;
  Eigen::Vector3d vector(std::string_view key) const;
  Eigen::Vector3d axis(std::string_view key) const;  // of unit length
  Eigen::Quaterniond quaternion(std::string_view key) const;
  Expression expression(std::string_view key) const;
  std::array<Expression, 3> expressions(std::string_view key) const;
  TableReader table(std::string_view key, const KeyTable& keys) const;
  /// The tables of [[key]]; none if the key is not there.
  const std::vector<TomlValue>& tables(std::string_view key) const;

  // The same, leaving the target as it is if the key is not there.
  void read(std::string_view key, bool& target) const;
  void read(std::string_view key, double& target) const;
  void read(std::string_view key, std::string& target) const;
  void read(std::string_view key, Eigen::Vector3d& target) const;
  void read(std::string_view key, Choice& target) const;

  /// "'key' is <what>; expected <what the key's description says>", at the value.
  [[noreturn]] void fail(std::string_view key, const std::string& what) const;
  [[noreturn]] void fail(std::string_view key, const std::string& what, const std::string& expected) const;

 private:
  void find_type();
  void check_keys() const;
  const Key& key_of(std::string_view name) const;
  std::string expected(std::string_view key) const;
  const std::vector<TomlValue>& items(std::string_view key) const;
  double number_of(const TomlValue& item, std::string_view key) const;

  const TomlValue& table_;
  const KeyTable& keys_;
  const Scope& scope_;
  std::string type_;
};

}  // namespace linkwork
