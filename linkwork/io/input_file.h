#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

namespace linkwork {

/// Throws InputError unless it is a regular file that can be read: a pipe could keep the program waiting, a device never ends.
/// `expected` is for the message.
void check_input_file(const std::filesystem::path& file, const std::string& expected);

/// The contents of such a file. Throws InputError if it has more than so many bytes.
std::string read_input_file(const std::filesystem::path& file, const std::string& expected, std::size_t most_bytes);

}  // namespace linkwork
