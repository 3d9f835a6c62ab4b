#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace linkwork {

/// Reads the whole lines of a CSV file (RFC 4180) one by one, whatever its size: fields without their quotes, and the place in
/// the file after the line. A last line without an end is left out. False from `take` ends it.
void read_csv_rows(const std::filesystem::path& file,
                   const std::function<bool(const std::vector<std::string>& fields, std::uint64_t end)>& take);

/// NaN if it is empty or no number.
double csv_number(const std::string& field);

}  // namespace linkwork
