#include <fmt/format.h>

#include "linkwork/model/closures/coordinate_closure.h"

namespace linkwork {

namespace {

Expression relation(const ClosureSpec& spec) {
  std::vector<std::string> variables;
  for (const std::string& joint : spec.joints) variables.push_back("q." + joint);
  return Expression::linear(variables, spec.coefficients, spec.offset, spec.place);
}

void check_gear(const ClosureSpec& spec, const KeyPlaces& at) {
  if (spec.joints.size() < 2) throw InputError(at("joints"), "'joints' has fewer than 2 entries", "at least 2 joints");
  if (spec.coefficients.size() != spec.joints.size())
    throw InputError(at("coefficients"), fmt::format("'coefficients' is an array of {}", spec.coefficients.size()),
                     fmt::format("{} numbers, one for each of 'joints'", spec.joints.size()));
}

}  // namespace

CoordinateClosureKind gear_closure() {
  return {.name = "gear",
          .summary = "a linear relation of joint coordinates",
          .holonomic = true,
          .keys = {{"joints", KeyKind::kPositions, kRequired, "the coordinates it relates: `joint` or `joint.component`",
                    &ClosureSpec::joints},
                   {"coefficients", KeyKind::kNumbers, kRequired, "a factor for each of `joints`", &ClosureSpec::coefficients},
                   {"offset", KeyKind::kNumber, kOptional, "what the sum of factors times coordinates must be; default `0`",
                    &ClosureSpec::offset}},
          .relation = relation,
          .check = check_gear};
}

}  // namespace linkwork
