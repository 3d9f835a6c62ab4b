#pragma once

#include <memory>
#include <string>
#include <vector>

#include "linkwork/analysis/linear_model.h"

namespace linkwork {

/// Near the start of a model. Newton's method on the forces along the free coordinates, from the start; if that does not lead to
/// a stable place, from where the motion takes it when its velocity is taken away at every peak of the kinetic energy. Contacts
/// and dry friction hold as they do where that motion comes to rest. `motion` is then at the place that was found.
Equilibrium find_equilibrium(const std::shared_ptr<const Model>& model, ReducedMotion& motion);

/// Begins at "start", at the "equilibrium" near it, in the "steady" motion near it, in which velocities are those of the start
/// and do not change, or at a time of the model's motion. Throws InputError if it is none of these, SimulationError if it cannot
/// be reached.
void begin_at(const std::string& where, const std::shared_ptr<const Model>& model, ReducedMotion& motion);

}  // namespace linkwork
