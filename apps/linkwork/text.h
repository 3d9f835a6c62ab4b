#pragma once

#include <string>
#include <string_view>

namespace linkwork::cli {

/// "1 joint", "3 joints", "2 bodies".
std::string counted(long count, std::string_view noun);

/// One line of a report on stdout: a label in a column of its own, then the text. An empty label continues the line above.
void print_line(std::string_view label, std::string_view text);

}  // namespace linkwork::cli
