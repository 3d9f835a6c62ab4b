#pragma once

#include <span>
#include <string>

#include "linkwork/model/model.h"

namespace linkwork {

/// All that is needed, beside the rows of a run, to draw its mechanism: bodies with their solids, joints, closures, springs and
/// sensors with their places on the bodies, the settings, and the model's text. The page computes the bodies' poses from the
/// joint coordinates in the rows. A JSON object in UTF-8. The model was built from the spec.
std::string scene_json(const Spec& spec, const Model& model, std::span<const std::string> columns);

}  // namespace linkwork
