#pragma once

#include <span>

#include "studies/study.h"

namespace linkwork::studies {

std::span<const Study> all_studies();

// One per file.
Study closed_chain_study();
Study four_bar_distributed_study();
Study generalized_inverse_study();
Study gluing_study();
Study hierarchical_study();
Study network_study();
Study variable_dof_study();
Study variable_dof_distributed_study();

}  // namespace linkwork::studies
