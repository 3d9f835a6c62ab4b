#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace linkwork {

/// A field of RFC 4180: in quotes, and its own quotes doubled, if it could be misread otherwise.
std::string csv_field(const std::string& text);
/// A line of names; a number with 17 significant digits, which is enough to read back the same double.
std::string csv_header(std::span<const std::string> columns);
std::string& append_csv_number(double value, std::string& text);
/// The same to where there is room for kLongestCsvNumber characters, which may all be overwritten. Returns the end.
char* write_csv_number(double value, char* to);
inline constexpr std::size_t kLongestCsvNumber = 48;

/// Writes the rows of a run as CSV (RFC 4180, lines ending in \n): a header, then numbers with 17 significant digits, which is
/// enough to read back the same doubles. Whole rows reach the file in blocks, or once a second, so that an interrupted run leaves
/// a readable one.
class TrajectoryFile {
 public:
  /// How much of a file there was at some moment.
  struct Extent {
    long rows = 0;
    std::uint64_t bytes = 0;
    std::uint64_t checked = 0;  // checksum
  };

  /// Replaces a file of that name. Throws InputError if it cannot be written.
  TrajectoryFile(const std::filesystem::path& file, std::span<const std::string> columns);
  /// Goes on with a file of those columns, of which the beginning is kept, and the rest discarded. Throws InputError, with the
  /// file untouched, if the beginning is not what it was.
  TrajectoryFile(const std::filesystem::path& file, std::span<const std::string> columns, const Extent& kept);
  ~TrajectoryFile();
  TrajectoryFile(const TrajectoryFile&) = delete;
  TrajectoryFile& operator=(const TrajectoryFile&) = delete;

  void write(std::span<const double> row);
  /// Writes what is left. Like write(), throws std::system_error when the disk does not take it.
  void close();
  /// All rows written so far, on the disk for good.
  const Extent& sync();
  long rows() const { return extent_.rows; }

 private:
  void open(const char* mode);
  void flush();

  std::filesystem::path file_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_;
  std::vector<char> buffer_;
  std::size_t filled_ = 0;  // of it
  Extent extent_;           // its checksum: as of the last sync(), few of which are ever asked for
  std::uint64_t checked_bytes_ = 0;
  std::chrono::steady_clock::time_point flushed_;
};

}  // namespace linkwork
