#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "linkwork/model/closures/coordinate_closure.h"

namespace linkwork {

namespace {

Expression as_written(const ClosureSpec& spec) { return spec.value; }

Expression speed(const ClosureSpec& spec, std::size_t k) {
  return Expression::linear({"v." + spec.joints[k]}, {1.0}, 0.0, spec.place);
}

Expression gear(const ClosureSpec& spec) {
  std::vector<std::string> variables;
  for (const std::string& joint : spec.joints) variables.push_back("q." + joint);
  return Expression::linear(variables, spec.coefficients, spec.offset, spec.place);
}

Expression drive(const ClosureSpec& spec) {
  return Expression::linear({"q." + spec.joints[0]}, {1.0}, 0.0, spec.place).minus(spec.value);
}

Expression speed_drive(const ClosureSpec& spec) { return speed(spec, 0).minus(spec.value); }

Expression friction_drive(const ClosureSpec& spec) { return speed(spec, 1).minus(spec.value.times(speed(spec, 0))); }

}  // namespace

std::span<const CoordinateClosureKind> coordinate_closure_kinds() {
  static const std::array kinds{
      CoordinateClosureKind{"gear", "a linear relation of joint coordinates", true, gear},
      CoordinateClosureKind{"drive", "a joint coordinate as a function of time", true, drive},
      CoordinateClosureKind{"expression", "an expression of joint coordinates and time that must vanish", true, as_written},
      CoordinateClosureKind{"pfaffian", "an expression linear in joint velocities that must vanish", false, as_written},
      CoordinateClosureKind{"friction-drive", "the velocity of one joint as a ratio times that of another", false,
                            friction_drive},
      CoordinateClosureKind{"speed-drive", "a joint velocity as a function of time", false, speed_drive}};
  return kinds;
}

const CoordinateClosureKind* find_coordinate_closure_kind(std::string_view name) {
  const auto kinds = coordinate_closure_kinds();
  const auto found = std::ranges::find(kinds, name, &CoordinateClosureKind::name);
  return found == kinds.end() ? nullptr : &*found;
}

}  // namespace linkwork
