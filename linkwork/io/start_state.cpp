#include "linkwork/io/start_state.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <unordered_map>

#include "linkwork/io/trajectory_format.h"
#include "linkwork/io/trajectory_reader.h"
#include "linkwork/model/input_error.h"
#include "linkwork/model/joints/joint_kind.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;
const Place kPlace{"--start-from", 0, 0};

struct Request {
  fs::path folder;
  std::optional<double> t;
};

/// The name of a folder may have an @ in it.
Request parse(const std::string& text) {
  std::error_code ignored;
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos || fs::is_directory(text, ignored)) return {text, {}};
  double t = 0.0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + at + 1, end, t);
  if (error != std::errc() || rest != end || !std::isfinite(t))
    throw InputError(kPlace, fmt::format("'{}' is no time", text.substr(at + 1)),
                     "DIR@t with a time in s, or DIR for the last row");
  return {text.substr(0, at), t};
}

bool is_of_state(const std::string& column) {
  return column.starts_with("q.") || column.starts_with("v.") || column.starts_with("z.");
}

std::string column_of(const char* what, const JointSpec& joint, const std::string& component) {
  return what + joint.name + (component.empty() ? "" : "." + component);
}

}  // namespace

StartState read_start_state(const std::string& text) {
  const auto parsed = parse(text);
  const auto& folder = parsed.folder;
  const auto& wanted = parsed.t;
  std::error_code ignored;
  if (!fs::is_directory(folder, ignored))
    throw InputError(kPlace, fmt::format("there is no folder '{}'", folder.string()), "the folder of a run");
  std::vector<double> best;
  double first = 0.0, last = 0.0, spacing = 0.0;
  const fs::path file = find_trajectory(folder);
  const std::vector<std::string> columns = read_trajectory(file, [&](std::span<const double> row) {
    if (row.empty()) return;
    if (best.empty()) first = last = row[0];
    spacing = std::max(spacing, row[0] - last);
    last = row[0];
    // Of rows at one time, before and after an event, the later one.
    if (best.empty() || !wanted || std::abs(row[0] - *wanted) <= std::abs(best[0] - *wanted)) best.assign(row.begin(), row.end());
  });
  if (best.empty() || columns.front() != "t") throw InputError({file.string(), 0, 0}, "has no rows", "a run that has begun");
  if (wanted && (*wanted < first - spacing || *wanted > last + spacing))
    throw InputError(kPlace, fmt::format("the run in '{}' has rows from t = {} to {} s", folder.string(), first, last),
                     "a time within them");
  StartState start{fmt::format("{} at t = {:.9g} s", folder.string(), best[0])};
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (is_of_state(columns[c])) start.values.emplace_back(columns[c], best[c]);
  if (!start.is_given())
    throw InputError({file.string(), 0, 0}, "has neither positions nor velocities", "a run with the columns q and v");
  return start;
}

void begin_with(const StartState& start, Spec& spec) {
  std::unordered_map<std::string, double> given(start.values.begin(), start.values.end());
  std::vector<std::string> missing;
  const auto take = [&](const std::string& column) {
    const auto found = given.find(column);
    if (found == given.end()) {
      missing.push_back(column);
      return 0.0;
    }
    const double value = found->second;
    given.erase(found);
    return value;
  };
  for (JointSpec& joint : spec.joints) {
    const JointKind& kind = *find_joint_kind(joint.type);
    joint.position.clear(), joint.velocity.clear();
    for (const std::string& component : kind.positions) joint.position.push_back(take(column_of("q.", joint, component)));
    for (const std::string& component : kind.velocities) joint.velocity.push_back(take(column_of("v.", joint, component)));
  }
  const std::string differ = fmt::format("the joints of {} are others", start.from);
  if (!missing.empty())
    throw InputError(kPlace, fmt::format("{}: it has no column {}", differ, listed(missing)),
                     "a run of a model with the same joints, with its columns q and v");
  for (StateSpec& state : spec.states)
    if (const auto found = given.find("z." + state.name); found != given.end()) state.start = found->second;
  std::vector<std::string> more;
  for (const auto& [column, value] : start.values)
    if (given.contains(column) && !column.starts_with("z.")) more.push_back(column);
  if (!more.empty())
    throw InputError(kPlace, fmt::format("{}: this model has no {}", differ, listed(more)),
                     "a run of a model with the same joints");
}

}  // namespace linkwork
