#pragma once

#include <vector>

#include "linkwork/modules/group_plan.h"

namespace linkwork {

/// Drops what other ranks have of modules and connections from a plan, whose groups then have other places of connections.
void keep_own_part(AssemblyPlan& plan, GroupPlan& groups, const std::vector<int>& own_modules);

}  // namespace linkwork
