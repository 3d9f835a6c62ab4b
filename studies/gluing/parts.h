#pragma once

#include "studies/study.h"

namespace linkwork::studies::gluing {

/// Section 2.1: Newmark's method and BDF on equations of index 3.
void stiff_integration(StudyContext& context, StudyResult& result);

}  // namespace linkwork::studies::gluing
