#pragma once

#include <string>
#include <vector>

#include "linkwork/transport/transport.h"

namespace linkwork {

/// What a rank says.
struct Said {
  int rank = 0;
  std::string text;
};

/// What those ranks say that say anything, in order of rank, on every rank. If none does, that takes a number up and down the
/// tree of ranks.
std::vector<Said> all_said(Transport& transport, const std::string& own);

/// What the first rank says, on every rank.
std::string said_by_first(Transport& transport, const std::string& own);

/// The texts of all ranks, in order of rank, on every rank: long, where they are many.
std::vector<std::string> gather_texts(Transport& transport, const std::string& own);

/// The same on the first rank alone; the others get nothing.
std::vector<std::string> collect_texts(Transport& transport, const std::string& own);

/// The lines of a text.
std::vector<std::string> lines_of(const std::string& text);

}  // namespace linkwork
