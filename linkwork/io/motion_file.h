#pragma once

#include <filesystem>

#include "linkwork/model/spec.h"

namespace linkwork {

/// Adds drives that move joints as recorded: columns t and q.<joint>, or q.<joint>.<component>, of comma-separated values, with
/// cubic splines between. Drives of the same joints are replaced. All positions of a joint that turns in space, q.<joint>.x to
/// .qz, move a guide, which holds its child. Columns p.<sensor>.<axis> of point sensors move a guide, which holds the sensor's
/// point; then all drives of the model are replaced. Names of what is added begin with kMotionOf. Unless `keep_end`, the run ends
/// with the data. Throws InputError with the place in the file.
inline constexpr const char* kMotionOf = "motion of ";
void add_drives(Spec& spec, const std::filesystem::path& file, bool keep_end);

}  // namespace linkwork
