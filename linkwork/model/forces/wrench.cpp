#include "linkwork/model/binding.h"
#include "linkwork/model/forces/force_kind.h"

namespace linkwork {

namespace {

void build_wrench(const ForceSpec& spec, const Binding& binding, Model& model) {
  BodyWrench wrench;
  wrench.at = binding.frame(spec.a);
  wrench.in_body_axes = spec.in_body_axes;
  for (std::size_t k = 0; k < 3; ++k) {
    wrench.torque[k] = binding.bind(spec.torque[k]);
    wrench.force[k] = binding.bind(spec.force[k]);
  }
  model.wrenches.push_back(std::move(wrench));
}

void check_wrench(const ForceSpec& spec, const KeyPlaces& at) {
  if (spec.a.body == "ground") throw InputError(at("body"), "'body' is the ground, which no force moves", "a body");
  if (std::ranges::none_of(spec.force, &Expression::is_given) && std::ranges::none_of(spec.torque, &Expression::is_given))
    throw InputError(at(""), "the wrench has neither 'force' nor 'torque'", "at least one of them");
}

}  // namespace

ForceKind wrench_force() {
  return {.name = "wrench",
          .summary = "a force and a torque on a body",
          .keys = {{"body", KeyKind::kBody, kRequired, "the body it acts on", &ForceSpec::a},
                   {"at", KeyKind::kVector, kOptional, "the point it acts at, body frame, m; default `[0, 0, 0]`", &ForceSpec::a},
                   {"force", KeyKind::kVectorOfState, kOptional, "the force, N; default zero", &ForceSpec::force},
                   {"torque", KeyKind::kVectorOfState, kOptional, "the torque, N m; default zero", &ForceSpec::torque},
                   {"axes",
                    KeyKind::kOneOf,
                    kOptional,
                    "the axes of both; default `\"world\"`",
                    &ForceSpec::in_body_axes,
                    {"world", "body"}}},
          .build = build_wrench,
          .check = check_wrench,
          .prefix = "load",
          .components = {{"fx", "N"}, {"fy", "N"}, {"fz", "N"}, {"tx", "N m"}, {"ty", "N m"}, {"tz", "N m"}},
          .read = [](const Force& force, const AppliedForces& applied, std::span<double> values) {
            const Wrench<double> F = applied.wrench(force.wrench);
            for (Eigen::Index k = 0; k < 3; ++k) {
              values[static_cast<std::size_t>(k)] = F.f[k];
              values[static_cast<std::size_t>(k + 3)] = F.n[k];
            }
          }};
}

}  // namespace linkwork
