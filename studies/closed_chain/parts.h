#pragma once

#include "studies/study.h"

namespace linkwork::studies::closed_chain {

void mechanisms(StudyContext& context, StudyResult& result);
/// The rover at one step size: Table 1 and Figure 5.
void rover(StudyContext& context, StudyResult& result);
/// The rover at all step sizes: Figure 6.
void rover_steps(StudyContext& context, StudyResult& result);

}  // namespace linkwork::studies::closed_chain
