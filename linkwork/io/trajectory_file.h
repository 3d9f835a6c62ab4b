#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace linkwork {

/// A field of RFC 4180: in quotes, and its own quotes doubled, if it could be misread otherwise.
std::string csv_field(const std::string& text);

/// Writes the rows of a run as CSV (RFC 4180, lines ending in \n): a header, then numbers with 17 significant digits, which is
/// enough to read back the same doubles. Whole rows reach the file in blocks, so that an interrupted run leaves a readable one.
class TrajectoryFile {
 public:
  /// Replaces a file of that name. Throws InputError if it cannot be written.
  TrajectoryFile(const std::filesystem::path& file, std::span<const std::string> columns);
  ~TrajectoryFile();
  TrajectoryFile(const TrajectoryFile&) = delete;
  TrajectoryFile& operator=(const TrajectoryFile&) = delete;

  void write(std::span<const double> row);
  /// Writes what is left. Like write(), throws std::system_error when the disk does not take it.
  void close();
  long rows() const { return rows_; }

 private:
  void flush();

  std::filesystem::path file_;
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> stream_;
  std::string buffer_;
  long rows_ = 0;
};

}  // namespace linkwork
