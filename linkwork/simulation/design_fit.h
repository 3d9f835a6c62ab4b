#pragma once

#include "linkwork/model/model.h"

namespace linkwork {

/// Rounded data set redundant constraints against each other: axes that should be parallel are not quite so, and a loop that
/// closes in a plane is open across it. If Settings::design_tolerance allows it, the frames of the joints and closures in such
/// loops are moved, as little as possible and all of them a little, to a mechanism whose redundant constraints agree wherever it
/// moves; Spec::warnings then names what was moved, and by how much. A mechanism without such contradictions stays as it is to
/// the last bit, and so does one that would have to be moved by more than the tolerance.
///
/// The nearest such design is found by Newton's method on positions sampled along the motion that remains when singular values
/// below 1e-3 count as zero: there the part of the errors that no coordinate can mend must vanish.
Spec fitted_design(Spec spec);

/// What is run: build_model() of it.
Model fitted_model(const Spec& spec);

}  // namespace linkwork
