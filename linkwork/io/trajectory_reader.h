#pragma once

#include <filesystem>
#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace linkwork {

/// Reads a trajectory row by row: a .csv, whatever its size, of which a last line cut short by an interrupted run is left out; or
/// the .h5 or .mat made of one.
/// Throws InputError with the line if the file is not such a table. Returns the names of the columns.
std::vector<std::string> read_trajectory(const std::filesystem::path& file,
                                         const std::function<void(std::span<const double> row)>& on_row);
/// The same from a stream; `file` is for messages.
std::vector<std::string> read_trajectory(std::istream& stream, const std::string& file,
                                         const std::function<void(std::span<const double> row)>& on_row);

}  // namespace linkwork
