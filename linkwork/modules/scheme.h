#pragma once

#include "linkwork/modules/group_plan.h"
#include "linkwork/transport/transport.h"

namespace linkwork {

/// The scheme that costs less time with so many modules, by what messages of the size that groups send are measured to take. All
/// ranks call it and get the same answer.
Scheme cheaper_scheme(Transport& transport, int modules);

}  // namespace linkwork
