#include "linkwork/io/json_text.h"

#include <algorithm>
#include <stdexcept>

namespace linkwork {
namespace {

/// How deep brackets go, outside texts.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++depth);
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
  }
  return deepest;
}

}  // namespace

nlohmann::ordered_json parse_json(std::string_view text) {
  constexpr int kDeepest = 100;
  if (depth_of(text) > kDeepest) throw std::invalid_argument("it is nested too deeply");
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(text, nullptr, false);
  if (json.is_discarded()) throw std::invalid_argument("it is not JSON");
  return json;
}

}  // namespace linkwork
