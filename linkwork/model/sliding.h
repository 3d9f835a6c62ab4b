#pragma once

#include "linkwork/model/tree.h"

namespace linkwork {

/// How many components of a node's velocity slide. They are the first ones; the others turn.
constexpr int sliding_count(NodeKind kind) { return kind == NodeKind::kPrismatic ? 1 : kind == NodeKind::kFree ? 3 : 0; }

}  // namespace linkwork
