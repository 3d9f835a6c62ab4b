#include "linkwork/model/binding.h"
#include "linkwork/model/forces/force_kind.h"

namespace linkwork {

namespace {

ForceKind on_joint(std::string_view name, std::string_view summary, const char* unit) {
  return {.name = name,
          .summary = summary,
          .keys = {{"joint", KeyKind::kVelocity, kRequired, "the coordinate it acts on: `joint` or `joint.component`",
                    &ForceSpec::joint},
                   {"value", KeyKind::kExpressionOfState, kRequired, "the torque, N m, or force, N", &ForceSpec::value}},
          .build =
              [](const ForceSpec& spec, const Binding& binding, Model& model) {
                model.joint_forces.push_back({binding.coordinate(spec.joint, true, spec.place), binding.bind(spec.value)});
              },
          .components = {{"", unit}},
          .read = [](const Force& force, const AppliedForces& applied,
                     std::span<double> values) { values[0] = applied.joint_force(force.joint_force); }};
}

}  // namespace

ForceKind joint_torque() { return on_joint("torque", "a torque on a joint coordinate that is an angle", "N m"); }
ForceKind joint_force() { return on_joint("force", "a force on a joint coordinate that is a length", "N"); }

}  // namespace linkwork
