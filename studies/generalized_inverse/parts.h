#pragma once

#include "studies/study.h"

namespace linkwork::studies::generalized_inverse {

// One per file, in the order of the thesis.
void four_bar_kinematics(StudyContext& context, StudyResult& result);

}  // namespace linkwork::studies::generalized_inverse
