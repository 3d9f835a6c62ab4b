#include "linkwork/model/closures/coordinate_closure.h"

namespace linkwork {

namespace {

Expression as_written(const ClosureSpec& spec) { return spec.value; }

void check_expression(const ClosureSpec& spec, const KeyPlaces& at) {
  const auto is_coordinate = [](const std::string& variable) { return variable.starts_with("q."); };
  if (std::ranges::none_of(spec.value.variables(), is_coordinate))
    throw InputError(at("expression"), "'expression' depends on no joint", "an expression with q.<joint>");
}

}  // namespace

CoordinateClosureKind expression_closure() {
  return {.name = "expression",
          .summary = "an expression of joint coordinates and time that must vanish",
          .holonomic = true,
          .keys = {{"expression", KeyKind::kExpressionOfPositions, kRequired, "what must be zero", &ClosureSpec::value}},
          .relation = as_written,
          .check = check_expression,
          .can_open = true};
}

CoordinateClosureKind pfaffian_closure() {
  return {.name = "pfaffian",
          .summary = "an expression linear in joint velocities that must vanish",
          .holonomic = false,
          .keys = {{"expression", KeyKind::kExpressionOfState, kRequired, "what must be zero: linear in the velocities",
                    &ClosureSpec::value}},
          .relation = as_written,
          .can_slide = true};
}

}  // namespace linkwork
