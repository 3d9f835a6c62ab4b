#include "linkwork/dynamics/modes.h"

namespace linkwork {

Modes::Modes(const Model& model) : friction(model.frictions.size()) {
  for (const ConstraintRow& row : model.rows) rows.push_back(row.active);
  for (const Force& force : model.forces) forces.push_back(force.active);
  for (const Parameter& parameter : model.parameters) parameters.push_back(parameter.start);
}

}  // namespace linkwork
