#pragma once

#include <span>
#include <string>
#include <vector>

#include "linkwork/model/model.h"

namespace linkwork {

/// How far two configurations of a mechanism are apart, read off output rows: the largest difference of a joint coordinate.
/// Angles that come round again differ by less than half a turn, and orientations by the angle between them, whatever the
/// quaternion's sign.
class ConfigurationDistance {
 public:
  explicit ConfigurationDistance(const Model& model);

  struct Largest {
    double value = 0.0;  // rad or m; NaN if a number is
    std::string_view coordinate;
  };
  /// The columns needed, "q.theta": rows given to between() hold their values in this order.
  const std::vector<std::string>& columns() const { return columns_; }
  Largest between(std::span<const double> a, std::span<const double> b) const;

 private:
  enum class Kind { kLength, kAngle, kQuaternion };
  struct Part {
    Kind kind;
    std::size_t first;
    std::string name;
  };
  std::vector<std::string> columns_;
  std::vector<Part> parts_;
};

}  // namespace linkwork
