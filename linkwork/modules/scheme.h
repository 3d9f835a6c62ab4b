#pragma once

#include "linkwork/modules/group_plan.h"
#include "linkwork/transport/transport.h"

namespace linkwork {

/// The way that costs least time with so many modules, by what messages of the size that groups send are measured to take. All
/// ranks call it and get the same answer. `through_tree`: one exchange will not do.
Way cheapest_way(Transport& transport, int modules, bool through_tree = false);

}  // namespace linkwork
