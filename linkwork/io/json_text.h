#pragma once

#include <nlohmann/json.hpp>
#include <string_view>

namespace linkwork {

/// JSON from a file that may be anyone's. Throws std::invalid_argument, in words, if it is none, or nested so deeply that
/// whoever walks through it could run out of stack.
nlohmann::ordered_json parse_json(std::string_view text);

}  // namespace linkwork
