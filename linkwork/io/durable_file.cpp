#include "linkwork/io/durable_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <system_error>

#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;

/// Never one that is there already, under this name or, by a link, under another.
constexpr int kNewFile = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW;

[[noreturn]] void fail(const fs::path& file) { throw std::system_error(errno, std::generic_category(), file.string()); }

/// A file descriptor that closes itself.
class Descriptor {
 public:
  Descriptor(const fs::path& file, int flags) : file_(file), number_(::open(file.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  bool is_open() const { return number_ >= 0; }
  void write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(number_, text.data(), text.size());
      if (written < 0 && errno != EINTR) fail(file_);
      if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void sync() const {
    if (::fsync(number_) != 0 && errno != EINVAL && errno != EROFS) fail(file_);
  }

 private:
  fs::path file_;
  int number_;
};

/// Names are contents of the folder.
void sync_folder_of(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  if (const Descriptor opened(folder, O_RDONLY | O_DIRECTORY); opened.is_open()) opened.sync();
}

}  // namespace

std::uint64_t checksum(std::string_view bytes, std::uint64_t earlier) {
  constexpr std::uint64_t kPrime = 0x100000001b3U;
  for (const char byte : bytes) earlier = (earlier ^ static_cast<unsigned char>(byte)) * kPrime;
  return earlier;
}

fs::path part_of(const fs::path& file) {
  fs::path part = file;
  part += ".part";
  return part;
}

void check_durable_file(const fs::path& file) {
  const fs::path part = part_of(file);
  ::unlink(part.c_str());
  const Descriptor opened(part, kNewFile);
  if (!opened.is_open())
    throw InputError({part.string(), 0, 0}, "cannot be written: " + std::generic_category().message(errno),
                     "a file in a folder that can be written to");
  ::unlink(part.c_str());
}

void write_durable_file(const fs::path& file, std::string_view text) {
  const fs::path part = part_of(file);
  ::unlink(part.c_str());
  {
    const Descriptor opened(part, kNewFile);
    if (!opened.is_open()) fail(part);
    opened.write(text);
    opened.sync();
  }
  if (std::rename(part.c_str(), file.c_str()) != 0) fail(file);
  sync_folder_of(file);
}

void remove_durable_file(const fs::path& file) {
  std::error_code ignored;
  if (fs::remove(file, ignored)) sync_folder_of(file);
}

void sync_file(const fs::path& file) {
  const Descriptor opened(file, O_RDONLY);
  if (!opened.is_open()) fail(file);
  opened.sync();
  sync_folder_of(file);
}

}  // namespace linkwork
