#include <charconv>
#include <cmath>
#include <string_view>
#include <system_error>

#include "linkwork/model/spec.h"

namespace linkwork {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// One "key=value" of the options. `part` is a piece of `text`, so that its place is known.
void add_option(Choice& choice, std::string_view part, std::string_view text) {
  const auto place_of = [&](std::string_view piece) {
    return inside_text(choice.place, text, static_cast<std::size_t>(piece.data() - text.data()));
  };
  const std::size_t equals = part.find('=');
  const std::string_view key = trimmed(part.substr(0, equals));
  if (equals == std::string_view::npos || key.empty()) {
    throw InputError(place_of(part), "'" + std::string(part) + "' is not an option", "key=value, as in name:key=value,key=value");
  }
  const std::string_view value = trimmed(part.substr(equals + 1));
  double number = 0.0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (value.empty() || error != std::errc() || end != value.data() + value.size() || !std::isfinite(number)) {
    throw InputError(place_of(value), "option '" + std::string(key) + "' has the value '" + std::string(value) + "'", "a number");
  }
  if (!choice.options.emplace(key, number).second) {
    throw InputError(place_of(key), "option '" + std::string(key) + "' is given twice", "each option once");
  }
}

}  // namespace

Choice parse_choice(std::string_view text, const Place& place) {
  const std::size_t colon = text.find(':');
  Choice choice{std::string(trimmed(text.substr(0, colon))), {}, place};
  if (choice.name.empty()) throw InputError(place, "the choice has no name", "name or name:key=value,key=value");
  if (colon == std::string_view::npos) return choice;
  std::string_view rest = text.substr(colon + 1);
  while (true) {
    const std::size_t comma = rest.find(',');
    add_option(choice, rest.substr(0, comma), text);
    if (comma == std::string_view::npos) return choice;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace linkwork
