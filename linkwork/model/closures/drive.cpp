#include "linkwork/model/closures/coordinate_closure.h"

namespace linkwork {

namespace {

std::vector<KindKey<ClosureSpec>> keys(KeyKind driven, const std::string& what) {
  return {{"joint", driven, kRequired, "the coordinate it drives: `joint` or `joint.component`", &ClosureSpec::joints},
          {"value", KeyKind::kExpressionOfTime, kRequired, what, &ClosureSpec::value}};
}

}  // namespace

CoordinateClosureKind drive_closure() {
  return {.name = "drive",
          .summary = "a joint coordinate as a function of time",
          .holonomic = true,
          .keys = keys(KeyKind::kPosition, "what the coordinate must be"),
          .relation = [](const ClosureSpec& spec) {
            return Expression::linear({"q." + spec.joints[0]}, {1.0}, 0.0, spec.place).minus(spec.value);
          }};
}

CoordinateClosureKind speed_drive_closure() {
  return {.name = "speed-drive",
          .summary = "a joint velocity as a function of time",
          .holonomic = false,
          .keys = keys(KeyKind::kVelocity, "what its velocity must be"),
          .relation = [](const ClosureSpec& spec) { return CoordinateClosureKind::speed(spec, 0).minus(spec.value); }};
}

}  // namespace linkwork
