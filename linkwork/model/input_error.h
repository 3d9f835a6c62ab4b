#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace linkwork {

/// Where something stands in the user's input. An empty file means "not from a file" (a command-line option, the C++ API).
struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

/// "file:line:column", or what of it is known.
std::string to_string(const Place& place);

/// The place `offset` bytes into a quoted text that starts (with its quote) at `start`. Unchanged if the line is not known.
Place inside_text(const Place& start, std::string_view text, std::size_t offset);

/// The one exception for bad input: where it is, what is wrong, and what would be right.
/// The message reads "file:line:column: what is wrong; expected what is right".
class InputError : public std::runtime_error {
 public:
  InputError(const Place& place, const std::string& what_is_wrong, const std::string& what_is_right = {});
  const Place& place() const { return place_; }
  /// The message without the place.
  const std::string& message() const { return message_; }

 private:
  Place place_;
  std::string message_;
};

/// The known name with the smallest edit distance to `wrong`, if one is near enough to be a typing error.
std::optional<std::string> nearest_name(std::string_view wrong, const std::vector<std::string>& known);

/// "unknown <kind> 'wrong'; did you mean 'near'?", or the list of known names when none is near.
InputError unknown_name(const Place& place, std::string_view kind, std::string_view wrong, const std::vector<std::string>& known);

/// "a, b, c"; long lists end with "and 17 more".
std::string listed(const std::vector<std::string>& names);

}  // namespace linkwork
