#pragma once

#include "studies/study.h"

namespace linkwork::studies::generalized_inverse {

// One per file, in the order of the thesis.
void dependent_rows(StudyContext& context, StudyResult& result);
void operation_counts(StudyContext& context, StudyResult& result);
void four_bar_kinematics(StudyContext& context, StudyResult& result);
void five_bar_kinematics(StudyContext& context, StudyResult& result);
void reuse_of_the_inverse(StudyContext& context, StudyResult& result);
void parallel_computation(StudyContext& context, StudyResult& result);
/// All ranks call it; what the others find is not used.
void processors(StudyContext& context, StudyResult& result);
void genetic_algorithm(StudyContext& context, StudyResult& result);

}  // namespace linkwork::studies::generalized_inverse
