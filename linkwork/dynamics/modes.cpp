#include "linkwork/dynamics/modes.h"

namespace linkwork {

Modes::Modes(const Model& model) : friction(model.frictions.size()) {
  for (const ConstraintRow& row : model.rows) rows.push_back(row.active);
  for (const JointForce& force : model.joint_forces) joint_forces.push_back(force.active);
  for (const Spring& spring : model.springs) springs.push_back(spring.active);
  for (const BodyWrench& wrench : model.wrenches) wrenches.push_back(wrench.active);
  for (const Parameter& parameter : model.parameters) parameters.push_back(parameter.start);
}

}  // namespace linkwork
