#include "linkwork/model/binding.h"
#include "linkwork/model/forces/force_kind.h"

namespace linkwork {

namespace {

ForceKind on_joint(std::string_view name, std::string_view summary) {
  return {name,
          summary,
          {{"joint", KeyKind::kVelocity, kRequired, "the coordinate it acts on: `joint` or `joint.component`", &ForceSpec::joint},
           {"value", KeyKind::kExpressionOfState, kRequired, "the torque, N m, or force, N", &ForceSpec::value}},
          [](const ForceSpec& spec, const Binding& binding, Model& model) {
            model.joint_forces.push_back({binding.coordinate(spec.joint, true, spec.place), binding.bind(spec.value)});
          }};
}

}  // namespace

ForceKind joint_torque() { return on_joint("torque", "a torque on a joint coordinate that is an angle"); }
ForceKind joint_force() { return on_joint("force", "a force on a joint coordinate that is a length"); }

}  // namespace linkwork
