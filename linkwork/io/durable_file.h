#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace linkwork {

/// A checksum that goes on from an earlier one (FNV-1a, 64 bits): any change of a byte changes it.
inline constexpr std::uint64_t kEmptyChecksum = 0xcbf29ce484222325U;
std::uint64_t checksum(std::string_view bytes, std::uint64_t earlier = kEmptyChecksum);

/// Replaces a file so that, whatever happens in between, a power cut included, there is either the old one or the new one, whole.
/// Throws InputError if it cannot be written there, std::system_error when the disk does not take it.
void write_durable_file(const std::filesystem::path& file, std::string_view text);

/// Removes a file for good, if there is one.
void remove_durable_file(const std::filesystem::path& file);

/// Has everything written to a file, and its name, reach the disk.
void sync_file(const std::filesystem::path& file);

}  // namespace linkwork
