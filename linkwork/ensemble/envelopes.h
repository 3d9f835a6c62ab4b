#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

namespace linkwork {

/// What the kept columns of all runs have in common, at the times of rows: a JSON object of `t` and for each column the least,
/// the largest, the mean and the deviation; and curves of some single runs, those of `wanted` among them. However many runs there
/// are, the memory is the same.
std::string envelopes_json(const std::filesystem::path& kept_file, const std::vector<std::string>& columns, long runs,
                           double every, double end, const std::set<long>& wanted);

}  // namespace linkwork
