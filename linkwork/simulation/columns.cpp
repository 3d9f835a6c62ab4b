#include "linkwork/simulation/columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "linkwork/model/input_error.h"

namespace linkwork {

namespace {

struct Prefix {
  std::string_view text;
  ColumnGroup group;
};

/// Sensors have all others.
constexpr std::array kPrefixes{Prefix{"t", ColumnGroup::kTime},
                               Prefix{"q", ColumnGroup::kPositions},
                               Prefix{"v", ColumnGroup::kVelocities},
                               Prefix{"a", ColumnGroup::kAccelerations},
                               Prefix{"lambda", ColumnGroup::kMultipliers},
                               Prefix{"force", ColumnGroup::kReactions},
                               Prefix{"torque", ColumnGroup::kReactions},
                               Prefix{"effort", ColumnGroup::kEfforts},
                               Prefix{"load", ColumnGroup::kEfforts},
                               Prefix{"power", ColumnGroup::kEfforts},
                               Prefix{"u", ColumnGroup::kInputs},
                               Prefix{"z", ColumnGroup::kStates},
                               Prefix{"energy", ColumnGroup::kEnergy},
                               Prefix{"error", ColumnGroup::kErrors}};

std::string_view prefix_of(std::string_view name) { return name.substr(0, name.find('.')); }

/// * stands for any text, ? for one character.
bool fits(std::string_view pattern, std::string_view text) {
  std::size_t p = 0, t = 0, star = std::string_view::npos, after_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      after_star = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p, ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++after_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

const std::string* group_name(ColumnGroup group) {
  return group == ColumnGroup::kTime ? nullptr : &column_group_names()[static_cast<std::size_t>(group) - 1];
}

bool chooses(const std::string& pattern, std::string_view column) {
  const std::string* const group = group_name(group_of(column));
  return (group != nullptr && pattern == *group) || fits(pattern, column);
}

bool is_group(const std::string& pattern) {
  return std::ranges::find(column_group_names(), pattern) != column_group_names().end();
}

[[noreturn]] void refuse(const std::string& pattern, const std::vector<std::string>& columns, const Place& place) {
  std::vector<std::string> known = column_group_names();
  known.insert(known.end(), columns.begin(), columns.end());
  const std::string what = fmt::format("no column fits '{}'", pattern);
  if (const auto near = nearest_name(pattern, known)) throw InputError(place, fmt::format("{}; did you mean '{}'?", what, *near));
  std::set<std::string> prefixes;
  for (const std::string& column : columns) prefixes.emplace(prefix_of(column));
  throw InputError(place, what,
                   fmt::format("groups ({}), names, or patterns such as {}.*", listed(column_group_names()), *prefixes.begin()));
}

}  // namespace

ColumnGroup group_of(std::string_view column) {
  const auto found = std::ranges::find(kPrefixes, prefix_of(column), &Prefix::text);
  const bool has_name = column.find('.') != std::string_view::npos || column == "t";
  return found != kPrefixes.end() && has_name ? found->group : ColumnGroup::kSensors;
}

const std::vector<std::string>& column_group_names() {
  static const std::vector<std::string> names{"q",      "v",      "a",      "lambda", "reactions", "efforts",
                                              "inputs", "states", "energy", "errors", "sensors"};
  return names;
}

bool ColumnChoice::has(std::string_view column) const {
  return is_all() || column == "t" ||
         std::ranges::any_of(patterns_, [&](const std::string& pattern) { return chooses(pattern, column); });
}

bool ColumnChoice::may_have(ColumnGroup group) const {
  if (is_all() || group == ColumnGroup::kTime) return true;
  return std::ranges::any_of(patterns_, [&](const std::string& pattern) {
    if (pattern == *group_name(group)) return true;
    if (is_group(pattern)) return false;
    const std::string_view start = prefix_of(pattern);
    if (start.find_first_of("*?") != std::string_view::npos) return true;
    if (group == ColumnGroup::kSensors) return std::ranges::find(kPrefixes, start, &Prefix::text) == kPrefixes.end();
    return std::ranges::any_of(kPrefixes, [&](const Prefix& prefix) { return prefix.group == group && prefix.text == start; });
  });
}

std::vector<std::size_t> ColumnChoice::among(const std::vector<std::string>& columns) const {
  for (const std::string& pattern : patterns_)
    if (!is_group(pattern) && std::ranges::none_of(columns, [&](const std::string& column) { return chooses(pattern, column); }))
      refuse(pattern, columns, place_);
  std::vector<std::size_t> chosen;
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (has(columns[c])) chosen.push_back(c);
  return chosen;
}

}  // namespace linkwork
