#include <fmt/format.h>

#include <algorithm>

#include "linkwork/model/binding.h"
#include "linkwork/model/forces/force_kind.h"

namespace linkwork {

namespace {

/// The axis it may turn about freely, if there is just one; else z.
int free_axis(const ForceSpec& spec) {
  int found = 2, count = 0;
  for (int k = 0; k < 3; ++k)
    if (spec.torque_stiffness.empty() || spec.torque_stiffness[static_cast<std::size_t>(k)] == 0.0) found = k, ++count;
  return count == 1 ? found : 2;
}

void build_bushing(const ForceSpec& spec, const Binding& binding, Model& model) {
  const int axis = free_axis(spec);
  Mat3<double> turned;  // its z is that axis, in cyclic order
  for (int k = 0; k < 3; ++k) turned.col(k) = Vec3<double>::Unit((axis + 1 + k) % 3);
  Bushing bushing;
  bushing.a = binding.frame(spec.a, turned);
  bushing.b = binding.frame(spec.b, turned);
  const auto place = [&](const std::vector<double>& from, std::array<double, 6>& to, std::size_t first) {
    for (std::size_t k = 0; k < 3 && !from.empty(); ++k) to[first + k] = from[(static_cast<std::size_t>(axis) + 1 + k) % 3];
  };
  place(spec.force_stiffness, bushing.stiffness, 0);
  place(spec.torque_stiffness, bushing.stiffness, 3);
  place(spec.force_damping, bushing.damping, 0);
  place(spec.torque_damping, bushing.damping, 3);
  model.bushings.push_back(bushing);
}

void check_bushing(const ForceSpec& spec, const KeyPlaces& at) {
  for (const auto& [key, values] :
       {std::pair{"force_stiffness", &spec.force_stiffness}, std::pair{"force_damping", &spec.force_damping},
        std::pair{"torque_stiffness", &spec.torque_stiffness}, std::pair{"torque_damping", &spec.torque_damping}}) {
    const bool good = values->empty() || (values->size() == 3 && std::ranges::all_of(*values, [](double x) { return x >= 0.0; }));
    if (!good) throw InputError(at(key), fmt::format("'{}' is not what a bushing needs", key), "3 numbers >= 0");
  }
  if (spec.force_stiffness.empty() && spec.torque_stiffness.empty() && spec.force_damping.empty() && spec.torque_damping.empty())
    throw InputError(at(""), "the bushing has no stiffness and no damping",
                     "force_stiffness, torque_stiffness, force_damping or torque_damping");
}

}  // namespace

ForceKind bushing_force() {
  const auto three = [](const char* name, const char* meaning, std::vector<double> ForceSpec::*field) {
    return KindKey<ForceSpec>{name, KeyKind::kNumbers, kOptional, meaning, field};
  };
  return {.name = "bushing",
          .summary = "springs and dampers in all six directions between two frames that nearly coincide",
          .keys = {{"a", KeyKind::kFrame, kRequired, "one end", &ForceSpec::a},
                   {"b", KeyKind::kFrame, kRequired, "the other end", &ForceSpec::b},
                   three("force_stiffness", "along x, y, z of frame a, N/m; default zeros", &ForceSpec::force_stiffness),
                   three("torque_stiffness", "about them, N m/rad; default zeros", &ForceSpec::torque_stiffness),
                   three("force_damping", "along them, N s/m; default zeros", &ForceSpec::force_damping),
                   three("torque_damping", "about them, N m s/rad; default zeros", &ForceSpec::torque_damping)},
          .build = build_bushing,
          .check = check_bushing,
          .prefix = "load",
          .components = {{"fx", "N"}, {"fy", "N"}, {"fz", "N"}, {"tx", "N m"}, {"ty", "N m"}, {"tz", "N m"}},
          .read = [](const Force& force, const AppliedForces& applied, std::span<double> values) {
            const Wrench<double> F = applied.bushing(force.bushing);
            for (Eigen::Index k = 0; k < 3; ++k) {
              values[static_cast<std::size_t>(k)] = F.f[k];
              values[static_cast<std::size_t>(k + 3)] = F.n[k];
            }
          }};
}

}  // namespace linkwork
