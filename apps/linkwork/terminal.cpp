#include "apps/linkwork/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>

#include "linkwork/model/visible.h"

namespace linkwork::cli {

bool is_terminal(std::FILE* stream) {
  const char* const kind = std::getenv("TERM");
  return isatty(fileno(stream)) == 1 && kind != nullptr && std::string_view(kind) != "dumb";
}

int terminal_width(std::FILE* stream) {
  winsize size{};
  const bool known = ioctl(fileno(stream), TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
}

namespace {

constexpr std::string_view kYellow = "\x1b[33m", kGreen = "\x1b[1;32m", kGrey = "\x1b[2m", kPlain = "\x1b[0m";

std::string coloured(std::string_view text, std::string_view colour, std::FILE* stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool plain = !is_terminal(stream) || (no_color != nullptr && *no_color != '\0');
  return plain ? std::string(text) : fmt::format("{}{}{}", colour, text, kPlain);
}

int trouble_with_stdout = 0;  // errno of the first failure

}  // namespace

std::string highlighted(std::string_view text, std::FILE* stream) { return coloured(text, kYellow, stream); }
std::string praised(std::string_view text, std::FILE* stream) { return coloured(text, kGreen, stream); }
std::string dimmed(std::string_view text, std::FILE* stream) { return coloured(text, kGrey, stream); }

void write_to(std::FILE* stream, std::string_view text) {
  static constexpr std::array<std::string_view, 5> kPassing{"\n", kYellow, kGreen, kGrey, kPlain};
  const std::string shown = visible(text, kPassing);
  errno = 0;
  if (std::fwrite(shown.data(), 1, shown.size(), stream) < shown.size() && stream == stdout && trouble_with_stdout == 0)
    trouble_with_stdout = errno;
}

void print_entries(const std::vector<Entry>& entries) {
  std::size_t width = 0;
  for (const Entry& entry : entries) width = std::max(width, entry.name.size());
  for (const Entry& entry : entries) {
    print("{:<{}}  {}\n", entry.name, width, entry.text);
    for (const std::string& detail : entry.details) print("{:<{}}    {}\n", "", width, detail);
  }
}

void complain_of(std::string_view text) {
  std::fflush(stdout);
  const std::string line = fmt::format("linkwork: {}\n", visible(text));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

void prepare_streams() {
  // Opened the wrong way round, so that reading and writing fail as they do on a closed one.
  for (const auto& [number, flags] : {std::pair{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDONLY}})
    if (fcntl(number, F_GETFD) < 0 && errno == EBADF) ::open("/dev/null", flags);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

bool finish_printing() {
  errno = 0;
  if (std::fflush(stdout) != 0 && trouble_with_stdout == 0) trouble_with_stdout = errno;
  if (trouble_with_stdout == 0 && std::ferror(stdout) == 0) return true;
  // Whoever reads a pipe to some line only and closes it wants no more.
  if (trouble_with_stdout != EPIPE)
    complain("not all could be printed: {}", std::generic_category().message(trouble_with_stdout));
  return false;
}

}  // namespace linkwork::cli
