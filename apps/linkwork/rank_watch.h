#pragma once

#include <string>
#include <vector>

#include "linkwork/transport/transport.h"

namespace linkwork::cli {

/// When one of the processes that mpirun has started dies, mpirun ends the others. From here on, the first of those says before
/// it goes which one it was, what it was at work on, and how to go on: `work` is by rank, and the same on all of them. Processes
/// on other machines cannot be looked at, and are left to mpirun's own words.
void watch_ranks(Transport& world, const std::vector<std::string>& work, const std::string& advice);
/// The same of a rank that does not answer, because it is stopped or goes round in circles: after `seconds` of waiting for it.
void watch_silence(Transport& world, double seconds, const std::vector<std::string>& work, const std::string& advice);

}  // namespace linkwork::cli
