#include "linkwork/io/trajectory_file.h"

#include <fmt/format.h>

#include <cerrno>
#include <iterator>
#include <system_error>

#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

constexpr std::size_t kBlock = 1U << 16U;

}  // namespace

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

TrajectoryFile::TrajectoryFile(const std::filesystem::path& file, std::span<const std::string> columns)
    : file_(file), stream_(std::fopen(file.c_str(), "wb"), &std::fclose) {
  if (!stream_) {
    throw InputError({file.string(), 0, 0}, "cannot be written: " + std::generic_category().message(errno),
                     "a folder that can be written to");
  }
  for (std::size_t i = 0; i < columns.size(); ++i) buffer_ += (i == 0 ? "" : ",") + csv_field(columns[i]);
  buffer_ += '\n';
}

TrajectoryFile::~TrajectoryFile() {
  if (stream_) std::fwrite(buffer_.data(), 1, buffer_.size(), stream_.get());
}

void TrajectoryFile::write(std::span<const double> row) {
  for (const double value : row) fmt::format_to(std::back_inserter(buffer_), "{:.17g},", value);
  buffer_.back() = '\n';
  ++rows_;
  if (buffer_.size() >= kBlock) flush();
}

void TrajectoryFile::close() {
  flush();
  std::FILE* const stream = stream_.release();
  if (std::fclose(stream) != 0) throw std::system_error(errno, std::generic_category(), file_.string());
}

void TrajectoryFile::flush() {
  const std::size_t written = std::fwrite(buffer_.data(), 1, buffer_.size(), stream_.get());
  const bool all = written == buffer_.size() && std::fflush(stream_.get()) == 0;
  buffer_.clear();
  if (!all) throw std::system_error(errno, std::generic_category(), file_.string());
}

}  // namespace linkwork
