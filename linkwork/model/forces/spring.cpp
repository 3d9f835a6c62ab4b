#include <fmt/format.h>

#include "linkwork/model/binding.h"
#include "linkwork/model/forces/force_kind.h"

namespace linkwork {

namespace {

void build_spring(const ForceSpec& spec, const Binding& binding, Model& model) {
  Spring spring{binding.frame(spec.a), binding.frame(spec.b), spec.stiffness, spec.damping, spec.length};
  if (spec.law.is_given()) spring.law = binding.bind(spec.law);
  model.springs.push_back(std::move(spring));
}

std::vector<KindKey<ForceSpec>> with_ends(std::vector<KindKey<ForceSpec>> keys) {
  keys.insert(keys.begin(), {{"a", KeyKind::kFrame, kRequired, "one end", &ForceSpec::a},
                             {"b", KeyKind::kFrame, kRequired, "the other end", &ForceSpec::b}});
  return keys;
}

void check_spring(const ForceSpec& spec, const KeyPlaces& at) {
  if (!spec.law.is_given()) {
    for (const char* key : {"stiffness", "length"})
      if (!at.has(key)) throw InputError(at(""), fmt::format("the force has no '{}'", key), "a number >= 0, or a 'law'");
    return;
  }
  for (const auto& [key, value] : {std::pair{"stiffness", spec.stiffness}, std::pair{"damping", spec.damping}})
    if (at.has(key) && value != 0.0) throw InputError(at(key), fmt::format("'{}' is given beside 'law'", key), "one of them");
}

void read(const Force& force, const AppliedForces& applied, std::span<double> values) {
  values[0] = applied.spring_pull(force.spring);
}

}  // namespace

ForceKind spring_force() {
  return {
      .name = "spring",
      .summary = "pulls two points together or pushes them apart, and damps their motion",
      .keys = with_ends(
          {{"stiffness", KeyKind::kNotNegative, kOptional, "force per elongation, N/m; required without `law`",
            &ForceSpec::stiffness},
           {"length", KeyKind::kNotNegative, kOptional, "length without force, m; required without `law`", &ForceSpec::length},
           {"damping", KeyKind::kNotNegative, kOptional, "force per rate of elongation, N s/m; default `0`", &ForceSpec::damping},
           {"law", KeyKind::kExpressionOfLaw, kOptional,
            "the force that pulls its ends together, N, in place of stiffness and damping; it may use `d`, "
            "their distance, and `dv`, its rate",
            &ForceSpec::law}}),
      .build = build_spring,
      .check = check_spring,
      .links_modules = true,
      .components = {{"", "N"}},
      .read = read};
}

ForceKind damper_force() {
  return {.name = "damper",
          .summary = "resists changes of the distance of two points",
          .keys = with_ends(
              {{"damping", KeyKind::kNotNegative, kRequired, "force per rate of elongation, N s/m", &ForceSpec::damping}}),
          .build = build_spring,
          .links_modules = true,
          .components = {{"", "N"}},
          .read = read};
}

}  // namespace linkwork
