#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace linkwork {

/// A checksum that goes on from an earlier one (FNV-1a, 64 bits): any change of a byte changes it.
inline constexpr std::uint64_t kEmptyChecksum = 0xcbf29ce484222325U;
std::uint64_t checksum(std::string_view bytes, std::uint64_t earlier = kEmptyChecksum);

/// The file beside it that is written first.
std::filesystem::path part_of(const std::filesystem::path& file);

/// Throws InputError unless a file of that name can be written: nothing is left of the attempt.
void check_durable_file(const std::filesystem::path& file);

/// Replaces a file so that, whatever happens in between, a power cut included, there is either the old one or the new one, whole.
/// Links are not followed, neither there nor at part_of(). Throws std::system_error if it cannot be written.
void write_durable_file(const std::filesystem::path& file, std::string_view text);

/// Removes a file for good, if there is one.
void remove_durable_file(const std::filesystem::path& file);

/// Has everything written to a file, and its name, reach the disk.
void sync_file(const std::filesystem::path& file);

}  // namespace linkwork
