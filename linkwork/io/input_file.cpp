#include "linkwork/io/input_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "linkwork/model/input_error.h"

namespace linkwork {
namespace {

namespace fs = std::filesystem;

std::string kind_of(mode_t mode) {
  if (S_ISDIR(mode)) return "is a directory";
  if (S_ISFIFO(mode)) return "is a pipe";
  if (S_ISSOCK(mode)) return "is a socket";
  return "is a device";
}

/// A file that was opened without waiting for anyone, and is closed in the end.
class Opened {
 public:
  Opened(const fs::path& file, const std::string& expected) : file_(file), expected_(expected) {
    // A name with a NUL in it would be cut there, and another file be opened.
    if (file.native().find('\0') != std::string::npos) refuse("the name has a character NUL");
    number_ = ::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (number_ < 0) refuse("cannot be opened: " + std::generic_category().message(errno));
    struct stat status = {};
    const bool known = ::fstat(number_, &status) == 0;
    if (known && S_ISREG(status.st_mode)) return;
    ::close(number_);
    refuse(known ? kind_of(status.st_mode) : "cannot be read");
  }
  ~Opened() { ::close(number_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  std::string read(std::size_t most_bytes) const {
    std::string text;
    std::string block(1U << 16U, '\0');
    for (;;) {
      const ssize_t count = ::read(number_, block.data(), block.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) refuse("cannot be read: " + std::generic_category().message(errno));
      if (count == 0) return text;
      text.append(block, 0, static_cast<std::size_t>(count));
      if (text.size() > most_bytes) refuse(fmt::format("has more than {} MB", most_bytes >> 20U));
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& what) const { throw InputError({file_.string(), 0, 0}, what, expected_); }

  const fs::path& file_;
  const std::string& expected_;
  int number_ = -1;
};

}  // namespace

void check_input_file(const fs::path& file, const std::string& expected) { const Opened opened(file, expected); }

std::string read_input_file(const fs::path& file, const std::string& expected, std::size_t most_bytes) {
  return Opened(file, expected).read(most_bytes);
}

}  // namespace linkwork
