#pragma once

#include <string>
#include <vector>

#include "linkwork/transport/transport.h"

namespace linkwork {

/// The texts of all ranks, in order of rank, on every rank.
std::vector<std::string> gather_texts(Transport& transport, const std::string& own);

}  // namespace linkwork
