#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "linkwork/io/toml_value.h"

namespace linkwork {
namespace {

using Kind = TomlValue::Kind;

std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\')
      result += {'\\', c};
    else if (c == '\n')
      result += "\\n";
    else if (c == '\t')
      result += "\\t";
    else if (code < 0x20 || code == 0x7F)
      result += fmt::format("\\u{:04x}", code);
    else
      result += c;
  }
  return result + '"';
}

std::string written_key(const std::string& key) {
  const auto is_bare = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-'; };
  return !key.empty() && std::all_of(key.begin(), key.end(), is_bare) ? key : quoted(key);
}

std::string written_number(const TomlValue& value) {
  if (value.kind == Kind::kInteger) return fmt::format("{:.0f}", value.number);
  std::string text = fmt::format("{}", value.number);  // the shortest that reads back as the same
  const bool is_float = text.find_first_of(".en") != std::string::npos;
  return is_float ? text : text + ".0";
}

std::string inline_value(const TomlValue& value) {
  switch (value.kind) {
    case Kind::kString:
    case Kind::kDate:
      return quoted(value.text);
    case Kind::kInteger:
    case Kind::kFloat:
      return written_number(value);
    case Kind::kBoolean:
      return value.boolean ? "true" : "false";
    case Kind::kArray: {
      std::string list;
      for (const TomlValue& item : value.items) list += (list.empty() ? "" : ", ") + inline_value(item);
      return "[" + list + "]";
    }
    case Kind::kTable: {
      std::string list;
      for (const TomlEntry& entry : value.entries)
        list += (list.empty() ? " " : ", ") + written_key(entry.key) + " = " + inline_value(entry.value);
      return "{" + list + (list.empty() ? "}" : " }");
    }
  }
  return {};
}

bool is_list_of_tables(const TomlValue& value) {
  return value.kind == Kind::kArray && !value.items.empty() &&
         std::all_of(value.items.begin(), value.items.end(), [](const TomlValue& item) { return item.kind == Kind::kTable; });
}

std::string comment_lines(const std::string& comment) {
  std::string lines;
  for (std::size_t at = 0; at < comment.size();) {
    const std::size_t end = std::min(comment.find('\n', at), comment.size());
    lines += "# ";
    for (const char c : std::string_view(comment).substr(at, end - at))
      lines += static_cast<unsigned char>(c) < 0x20 || c == 0x7F ? ' ' : c;
    lines += '\n';
    at = end + 1;
  }
  return lines;
}

std::string keys_of(const TomlValue& table) {
  std::string lines;
  for (const TomlEntry& entry : table.entries) lines += written_key(entry.key) + " = " + inline_value(entry.value) + '\n';
  return lines;
}

}  // namespace

std::string to_toml(const TomlValue& root) {
  std::string head = comment_lines(root.comment), rest;
  for (const TomlEntry& entry : root.entries) {
    const std::string key = written_key(entry.key);
    if (is_list_of_tables(entry.value))
      for (const TomlValue& table : entry.value.items)
        rest += fmt::format("\n{}[[{}]]\n{}", comment_lines(table.comment), key, keys_of(table));
    else if (entry.value.kind == Kind::kTable)
      rest += fmt::format("\n{}[{}]\n{}", comment_lines(entry.value.comment), key, keys_of(entry.value));
    else
      head += key + " = " + inline_value(entry.value) + '\n';
  }
  return head + rest;
}

}  // namespace linkwork
