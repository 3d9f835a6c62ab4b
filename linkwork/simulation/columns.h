#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linkwork/model/spec.h"

namespace linkwork {

/// A number of every output row.
struct Column {
  std::string name;
  std::string unit;  // "rad/s"; "1": it has none; empty: not known
};

/// Columns that are asked for together, in the order they have in a row. Time is always there.
enum class ColumnGroup {
  kTime,
  kPositions,
  kVelocities,
  kAccelerations,
  kMultipliers,
  kReactions,
  kEfforts,
  kInputs,
  kStates,
  kEnergy,
  kErrors,
  kSensors
};

ColumnGroup group_of(std::string_view column);
/// As they are asked for: "q", "v", ..., "sensors".
const std::vector<std::string>& column_group_names();

/// Which columns the output is to have: groups, names, and patterns with * and ?; all if nothing was chosen.
class ColumnChoice {
 public:
  explicit ColumnChoice(const Settings& settings) : patterns_(settings.columns), place_(settings.columns_place) {}

  bool is_all() const { return patterns_.empty(); }
  bool has(std::string_view column) const;
  /// Whether it may have columns of a group: others need not be computed.
  bool may_have(ColumnGroup group) const;
  /// The places of those it has among all. Throws InputError for what is no group and fits none
  /// of them.
  std::vector<std::size_t> among(const std::vector<std::string>& columns) const;

 private:
  std::vector<std::string> patterns_;
  Place place_;
};

}  // namespace linkwork
