#include "linkwork/model/binding.h"
#include "linkwork/model/forces/force_kind.h"

namespace linkwork {

namespace {

void build(const ForceSpec& spec, const Binding& binding, Model& model) {
  model.springs.push_back({binding.frame(spec.a), binding.frame(spec.b), spec.stiffness, spec.damping, spec.length});
}

std::vector<KindKey<ForceSpec>> with_ends(std::vector<KindKey<ForceSpec>> keys) {
  keys.insert(keys.begin(), {{"a", KeyKind::kFrame, kRequired, "one end", &ForceSpec::a},
                             {"b", KeyKind::kFrame, kRequired, "the other end", &ForceSpec::b}});
  return keys;
}

}  // namespace

ForceKind spring_force() {
  return {.name = "spring",
          .summary = "pulls two points together or pushes them apart, and damps their motion",
          .keys = with_ends({{"stiffness", KeyKind::kNotNegative, kRequired, "force per elongation, N/m", &ForceSpec::stiffness},
                             {"length", KeyKind::kNotNegative, kRequired, "length without force, m", &ForceSpec::length},
                             {"damping", KeyKind::kNotNegative, kOptional, "force per rate of elongation, N s/m; default `0`",
                              &ForceSpec::damping}}),
          .build = build,
          .links_modules = true};
}

ForceKind damper_force() {
  return {.name = "damper",
          .summary = "resists changes of the distance of two points",
          .keys = with_ends(
              {{"damping", KeyKind::kNotNegative, kRequired, "force per rate of elongation, N s/m", &ForceSpec::damping}}),
          .build = build,
          .links_modules = true};
}

}  // namespace linkwork
