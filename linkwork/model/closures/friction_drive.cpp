#include <fmt/format.h>

#include "linkwork/model/closures/coordinate_closure.h"

namespace linkwork {

CoordinateClosureKind friction_drive_closure() {
  return {.name = "friction-drive",
          .summary = "the velocity of one joint as a ratio times that of another",
          .holonomic = false,
          .keys = {{"joints", KeyKind::kVelocities, kRequired, "two coordinates, of the driving and the driven joint",
                    &ClosureSpec::joints},
                   {"ratio", KeyKind::kExpressionOfPositions, kRequired, "velocity of the second joint by that of the first",
                    &ClosureSpec::value}},
          .relation =
              [](const ClosureSpec& spec) {
                using Kind = CoordinateClosureKind;
                return Kind::speed(spec, 1).minus(spec.value.times(Kind::speed(spec, 0)));
              },
          .check =
              [](const ClosureSpec& spec, const KeyPlaces& at) {
                if (spec.joints.size() != 2)
                  throw InputError(at("joints"), fmt::format("'joints' is an array of {}", spec.joints.size()),
                                   "2 joints: the driving and the driven one");
              },
          .can_slide = true};
}

}  // namespace linkwork
