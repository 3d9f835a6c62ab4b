#include "apps/linkwork/text.h"

#include <fmt/format.h>

#include "apps/linkwork/terminal.h"

namespace linkwork::cli {

std::string counted(long count, std::string_view noun) {
  if (count == 1) return fmt::format("1 {}", noun);
  if (noun == "degree of freedom") return fmt::format("{} degrees of freedom", count);
  if (noun.ends_with('y')) return fmt::format("{} {}ies", count, noun.substr(0, noun.size() - 1));
  return fmt::format("{} {}s", count, noun);
}

void print_line(std::string_view label, std::string_view text) { print("  {:<12} {}\n", label, text); }

}  // namespace linkwork::cli
