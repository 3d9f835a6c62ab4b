#pragma once

#include <string>
#include <vector>

#include "linkwork/transport/transport.h"

namespace linkwork {

/// The texts of all ranks, in order of rank, on every rank.
std::vector<std::string> gather_texts(Transport& transport, const std::string& own);

/// The same on the first rank alone; the others get nothing.
std::vector<std::string> collect_texts(Transport& transport, const std::string& own);

/// The lines of a text.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace linkwork
