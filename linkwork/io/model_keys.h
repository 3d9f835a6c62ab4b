#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/kinds.h"

namespace linkwork {

/// In words, after "expected": "a number".
std::string_view in_words(KeyKind kind);

struct Key {
  std::string name;
  KeyKind kind;
  bool required;  // by the types it applies to
  std::string summary;
  std::vector<std::string> types = {};    // the types of the table that have this key; empty: all
  std::vector<std::string> choices = {};  // kOneOf
};

/// The keys of one kind of table. The reader, the JSON Schema and the documentation all come from these descriptions.
struct KeyTable {
  std::string name;
  std::string title;     // how messages call such a table: "joint", "solid"
  std::string selector;  // the key that says which type a table is, if there are several
  std::vector<Key> keys;

  /// Null if no type has this key.
  const Key* find(std::string_view key) const;
  /// The description for one type; null if the type does not have this key.
  const Key* find(std::string_view key, std::string_view type) const;
  /// The values of the selector; empty if there is none.
  const std::vector<std::string>& types() const;
  /// The types that have this key.
  std::vector<std::string> types_with(std::string_view key) const;
  /// The keys a table of this type may have, in the order of the description.
  std::vector<std::string> key_names(std::string_view type) const;
};

/// Leaves out `a` and `b` of a force's keys: between ports it has them from the connection.
void leave_out_ends(ForceKind& kind);

bool applies(const Key& key, std::string_view type);

/// All of them: "model" is the file itself.
const std::vector<KeyTable>& key_tables();
/// For closures, forces and sensors of these kinds.
std::vector<KeyTable> key_tables(const Kinds& kinds);
/// The one of that name, which must exist.
const KeyTable& key_table(std::string_view name);
const KeyTable& key_table(const std::vector<KeyTable>& tables, std::string_view name);

/// A table in Markdown: key, value, meaning.
std::string keys_as_markdown(const KeyTable& table);

}  // namespace linkwork
