#include "linkwork/io/trajectory_file.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <system_error>
#include <vector>

#include "linkwork/io/durable_file.h"
#include "linkwork/io/input_file.h"
#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

constexpr std::size_t kBlock = 1U << 16U;
constexpr std::chrono::seconds kLongest(1);  // that rows wait
constexpr const char* kAsLeft = "the file that the interrupted run has written, as it left it";

/// Of the bytes from `begin` to `end`, going on from that of those before.
std::uint64_t checksum_of(const std::filesystem::path& file, std::uint64_t begin, std::uint64_t end, std::uint64_t sum) {
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(begin));
  std::vector<char> block(kBlock);
  for (std::uint64_t left = end - begin; left > 0;) {
    stream.read(block.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(left, block.size())));
    const auto count = static_cast<std::size_t>(stream.gcount());
    if (count == 0) throw InputError({file.string(), 0, 0}, "is shorter than it was at the checkpoint", kAsLeft);
    sum = checksum({block.data(), count}, sum);
    left -= count;
  }
  return sum;
}

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

std::string csv_header(std::span<const std::string> columns) {
  std::string header;
  for (std::size_t i = 0; i < columns.size(); ++i) header += (i == 0 ? "" : ",") + csv_field(columns[i]);
  return header + '\n';
}

TrajectoryFile::TrajectoryFile(const std::filesystem::path& file, std::span<const std::string> columns)
    : file_(file), stream_(nullptr, &std::fclose), extent_{0, 0, kEmptyChecksum} {
  open("wb");
  const std::string header = csv_header(columns);
  buffer_.assign(header.begin(), header.end());
  filled_ = buffer_.size();
}

TrajectoryFile::TrajectoryFile(const std::filesystem::path& file, std::span<const std::string> columns, const Extent& kept)
    : file_(file), stream_(nullptr, &std::fclose), extent_(kept), checked_bytes_(kept.bytes) {
  check_input_file(file, kAsLeft);
  std::ifstream stream(file, std::ios::binary);
  const std::string header = csv_header(columns);
  std::string start(header.size(), '\0');
  if (kept.bytes < header.size() || !stream.read(start.data(), std::ssize(start)) || start != header)
    throw InputError({file.string(), 0, 0}, "has other columns than the run that was saved", kAsLeft);
  if (checksum_of(file, 0, kept.bytes, kEmptyChecksum) != kept.checked)
    throw InputError({file.string(), 0, 0}, "is not what was written before the checkpoint", kAsLeft);
  std::error_code error;
  std::filesystem::resize_file(file, kept.bytes, error);
  if (error) throw InputError({file.string(), 0, 0}, "cannot be written: " + error.message(), "a file that can be written to");
  open("ab");
}

void TrajectoryFile::open(const char* mode) {
  stream_.reset(std::fopen(file_.c_str(), mode));
  if (!stream_) {
    throw InputError({file_.string(), 0, 0}, "cannot be written: " + std::generic_category().message(errno),
                     "a folder that can be written to");
  }
  flushed_ = std::chrono::steady_clock::now();
}

TrajectoryFile::~TrajectoryFile() {
  if (stream_) std::fwrite(buffer_.data(), 1, filled_, stream_.get());
}

void TrajectoryFile::write(std::span<const double> row) {
  if (const std::size_t most = filled_ + row.size() * (kLongestCsvNumber + 1); most > buffer_.size()) buffer_.resize(2 * most);
  char* to = buffer_.data() + filled_;
  for (const double value : row) {
    to = write_csv_number(value, to);
    *to++ = ',';
  }
  to[-1] = '\n';
  filled_ = static_cast<std::size_t>(to - buffer_.data());
  ++extent_.rows;
  if (filled_ >= kBlock || std::chrono::steady_clock::now() - flushed_ > kLongest) flush();
}

void TrajectoryFile::close() {
  flush();
  std::FILE* const stream = stream_.release();
  if (std::fclose(stream) != 0) throw std::system_error(errno, std::generic_category(), file_.string());
}

const TrajectoryFile::Extent& TrajectoryFile::sync() {
  flush();
  extent_.checked = checksum_of(file_, checked_bytes_, extent_.bytes, extent_.checked);
  checked_bytes_ = extent_.bytes;
  sync_file(file_);
  return extent_;
}

void TrajectoryFile::flush() {
  extent_.bytes += filled_;
  flushed_ = std::chrono::steady_clock::now();
  const std::size_t written = std::fwrite(buffer_.data(), 1, filled_, stream_.get());
  const bool all = written == filled_ && std::fflush(stream_.get()) == 0;
  filled_ = 0;
  if (!all) throw std::system_error(errno, std::generic_category(), file_.string());
}

}  // namespace linkwork
