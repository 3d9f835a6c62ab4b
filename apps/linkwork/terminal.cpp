#include "apps/linkwork/terminal.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

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

std::string coloured(std::string_view text, const char* code, std::FILE* stream) {
  const char* const no_color = std::getenv("NO_COLOR");
  const bool plain = !is_terminal(stream) || (no_color != nullptr && *no_color != '\0');
  return plain ? std::string(text) : fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

}  // namespace

std::string highlighted(std::string_view text, std::FILE* stream) { return coloured(text, "33", stream); }
std::string praised(std::string_view text, std::FILE* stream) { return coloured(text, "1;32", stream); }
std::string dimmed(std::string_view text, std::FILE* stream) { return coloured(text, "2", stream); }

}  // namespace linkwork::cli
