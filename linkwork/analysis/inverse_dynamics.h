#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "linkwork/analysis/evaluator.h"
#include "linkwork/analysis/results.h"
#include "linkwork/simulation/observer.h"

namespace linkwork {

/// The efforts along coordinates `actuators` (empty: all) which, beside the forces of the model, give the accelerations vdot; of
/// several answers that of least squares. The evaluator has the state. Throws InputError if the actuators cannot, or if the rows
/// in force do not allow vdot. `without`: rows that do not count, by row; empty: none.
VecX<double> efforts_for(Evaluator& at, const VecX<double>& vdot, const std::vector<std::string>& actuators,
                         std::span<const char> without = {});

/// Along the motion that the drives of a model prescribe, at its output times. `actuators` empty: the driven joints. Throws
/// InputError if a motion is not driven, or if there are too few actuators.
InverseMotion inverse_motion(const std::shared_ptr<const Model>& model, std::vector<std::string> actuators,
                             const std::function<bool()>& go_on = {});

}  // namespace linkwork
