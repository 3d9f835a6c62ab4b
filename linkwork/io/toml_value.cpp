#include "linkwork/io/toml_value.h"

// Its assertions fire on malformed text that it would go on to report properly.
#define TOML_ASSERT(condition) static_cast<void>(0)  // NOLINT: the library's own hook
#define TOML_MAX_NESTED_VALUES 32                    // NOLINT: the library's own hook
#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace linkwork {
namespace {

/// Finds keys with so many dots that the recursion over the nested tables they make could exhaust the stack: the parser
/// limits nested brackets, but not these.
class DottedKeyScanner {
 public:
  static constexpr int kMostDots = 64;

  DottedKeyScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  void check() {
    int dots = 0;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (c == '"' || c == '\'') {
        skip_string(c);
      } else {
        if (std::string_view("=,[]{}\n").find(c) != std::string_view::npos) dots = 0;
        if (c == '.' && ++dots > kMostDots) fail();
        ++at_;
      }
    }
  }

 private:
  void skip_string(char quote) {
    const std::string fence(3, quote);
    const bool multiline = text_.substr(at_, 3) == fence;
    const std::string_view close = multiline ? std::string_view(fence) : std::string_view(fence).substr(0, 1);
    at_ += close.size();
    while (at_ < text_.size() && text_.substr(at_, close.size()) != close) at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_ + close.size(), text_.size());
    // A multi-line string may end with quotes of its own before the closing three.
    for (int i = 0; multiline && i < 2 && at_ < text_.size() && text_[at_] == quote; ++i) ++at_;
  }

  [[noreturn]] void fail() const {
    const std::size_t line_start = text_.rfind('\n', at_) + 1;
    const auto line = std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n') + 1;
    throw InputError({file_, static_cast<int>(line), static_cast<int>(at_ - line_start + 1)}, "a key has too many dots",
                     fmt::format("at most {}", kMostDots));
  }

  std::string_view text_;
  const std::string& file_;
  std::size_t at_ = 0;
};

TomlValue converted(const toml::node& node) {
  TomlValue value;
  value.line = static_cast<int>(node.source().begin.line);
  value.column = static_cast<int>(node.source().begin.column);
  if (const auto* text = node.as_string()) {
    value.kind = TomlValue::Kind::kString;
    value.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    value.kind = TomlValue::Kind::kInteger;
    value.number = static_cast<double>(integer->get());
  } else if (const auto* real = node.as_floating_point()) {
    value.kind = TomlValue::Kind::kFloat;
    value.number = real->get();
  } else if (const auto* boolean = node.as_boolean()) {
    value.kind = TomlValue::Kind::kBoolean;
    value.boolean = boolean->get();
  } else if (const auto* array = node.as_array()) {
    value.kind = TomlValue::Kind::kArray;
    value.items.reserve(array->size());
    for (const toml::node& item : *array) value.items.push_back(converted(item));
  } else if (const auto* table = node.as_table()) {
    value.kind = TomlValue::Kind::kTable;
    value.entries.reserve(table->size());
    for (const auto& [key, item] : *table) {
      const toml::source_position at = key.source().begin;
      value.entries.push_back(
          TomlEntry{std::string(key.str()), static_cast<int>(at.line), static_cast<int>(at.column), converted(item)});
    }
    const auto position = [](const TomlEntry& entry) { return std::pair(entry.line, entry.column); };
    std::sort(value.entries.begin(), value.entries.end(),
              [&](const TomlEntry& a, const TomlEntry& b) { return position(a) < position(b); });
  } else {
    value.kind = TomlValue::Kind::kDate;
  }
  return value;
}

std::string shortened(const std::string& text) {
  constexpr std::size_t kLongest = 60;
  if (text.size() <= kLongest) return text;
  std::size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

std::string_view line_of(std::string_view text, int line) {
  for (; line > 1; --line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

/// What was probably meant where the parser's own words say little: tables of which there may be several, and inline tables over
/// several lines.
std::string hint(std::string_view text, int line, const std::string& reason) {
  const std::string_view written = line_of(text, line);
  if (written.starts_with('[') && !written.starts_with("[[") && reason.find("redefine") != std::string::npos) {
    const std::string_view name = written.substr(1, written.find(']') - 1);
    return fmt::format("[[{}]] in double brackets, of which there may be several", name);
  }
  if (reason.find("inline table") != std::string::npos)
    return "all of an inline table { ... } on one line, without a comma at its end";
  return {};
}

}  // namespace

const TomlValue* TomlValue::find(std::string_view key) const {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const TomlEntry& entry) { return entry.key == key; });
  return found == entries.end() ? nullptr : &found->value;
}

TomlValue& TomlValue::operator[](std::string_view key) {
  const auto found = std::find_if(entries.begin(), entries.end(), [&](const TomlEntry& entry) { return entry.key == key; });
  return found != entries.end() ? found->value : entries.emplace_back(TomlEntry{std::string(key), line, column, {}}).value;
}

std::string TomlValue::description() const {
  switch (kind) {
    case Kind::kString:
      return "the string '" + shortened(text) + "'";
    case Kind::kInteger:
    case Kind::kFloat:
      return fmt::format("{}", number);
    case Kind::kBoolean:
      return boolean ? "true" : "false";
    case Kind::kDate:
      return "a date or time";
    case Kind::kArray:
      return fmt::format("an array of {}", items.size());
    case Kind::kTable:
      return "a table";
  }
  return {};
}

TomlValue parse_toml(std::string_view text, const std::string& file) {
  DottedKeyScanner(text, file).check();
  try {
    return converted(toml::parse(text));
  } catch (const toml::parse_error& error) {
    const toml::source_position at = error.source().begin;
    const Place place{file, static_cast<int>(at.line), static_cast<int>(at.column)};
    std::string reason(error.description());
    if (reason.find("utf-8") != std::string::npos) throw InputError(place, "the file is not UTF-8 text", "a model file in UTF-8");
    if (!reason.empty() && reason.front() == 'E') reason.front() = 'e';
    if (const std::size_t jargon = reason.find(" (TOML_"); jargon != std::string::npos) reason.resize(jargon);
    throw InputError(place, "not valid TOML: " + reason, hint(text, place.line, reason));
  }
}

}  // namespace linkwork
