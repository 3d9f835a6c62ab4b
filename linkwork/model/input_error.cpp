#include "linkwork/model/input_error.h"

#include <algorithm>
#include <numeric>

#include "linkwork/model/visible.h"

namespace linkwork {
namespace {

std::string full_message(const Place& place, const std::string& message) {
  const std::string where = visible(to_string(place));
  return where.empty() ? message : where + ": " + message;
}

/// Names and texts of the user are quoted in messages: they must neither end them (NUL) nor command the terminal.
std::string joined(const std::string& what_is_wrong, const std::string& what_is_right) {
  return visible(what_is_right.empty() ? what_is_wrong : what_is_wrong + "; expected " + what_is_right);
}

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Levenshtein distance with adjacent transpositions, letter case ignored.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last(b.size() + 1), last(b.size() + 1), current(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      current[j] = std::min({last[j] + 1, current[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) current[j] = std::min(current[j], before_last[j - 2] + 1);
    }
    std::swap(before_last, last);
    std::swap(last, current);
  }
  return last[b.size()];
}

bool continues_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U; }

}  // namespace

std::string to_string(const Place& place) {
  if (place.line == 0) return place.file;
  const std::string position = std::to_string(place.line) + ":" + std::to_string(place.column);
  return place.file.empty() ? position : place.file + ":" + position;
}

Place inside_text(const Place& start, std::string_view text, std::size_t offset) {
  if (start.line == 0) return start;
  Place place = start;
  ++place.column;
  for (const char byte : text.substr(0, offset)) {
    if (byte == '\n') {
      ++place.line;
      place.column = 1;
    } else if (!continues_character(byte)) {
      ++place.column;
    }
  }
  return place;
}

InputError::InputError(const Place& place, const std::string& what_is_wrong, const std::string& what_is_right)
    : std::runtime_error(full_message(place, joined(what_is_wrong, what_is_right))),
      place_(place),
      message_(joined(what_is_wrong, what_is_right)) {}

std::optional<std::string> nearest_name(std::string_view wrong, const std::vector<std::string>& known) {
  constexpr std::size_t kLongestCompared = 100;
  const std::size_t near_enough = wrong.size() <= 2 ? 1 : wrong.size() <= 5 ? 2 : wrong.size() / 3 + 1;
  std::optional<std::string> best;
  std::size_t best_distance = near_enough + 1;
  if (wrong.size() > kLongestCompared) return best;
  for (const std::string& name : known) {
    if (name.size() > wrong.size() + near_enough || wrong.size() > name.size() + near_enough) continue;
    const std::size_t distance = edit_distance(wrong, name);
    if (distance < best_distance && distance < std::max(wrong.size(), name.size())) {
      best = name;
      best_distance = distance;
    }
  }
  return best;
}

InputError unknown_name(const Place& place, std::string_view kind, std::string_view wrong,
                        const std::vector<std::string>& known) {
  const std::string what = "unknown " + std::string(kind) + " '" + std::string(wrong) + "'";
  if (const auto near = nearest_name(wrong, known)) return InputError(place, what + "; did you mean '" + *near + "'?");
  if (known.empty()) return InputError(place, what + "; there is none");
  return InputError(place, what, (known.size() == 1 ? "" : "one of: ") + listed(known));
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kLongest = 30;
  const std::size_t shown = std::min(names.size(), kLongest);
  std::string list;
  for (std::size_t i = 0; i < shown; ++i) list += (i == 0 ? "" : ", ") + names[i];
  if (shown < names.size()) list += " and " + std::to_string(names.size() - shown) + " more";
  return list;
}

}  // namespace linkwork
