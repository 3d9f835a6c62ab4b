#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace linkwork::cli {

/// Whether a person watches the stream on something that understands cursor movements.
bool is_terminal(std::FILE* stream);
int terminal_width(std::FILE* stream);

// The text in a colour, if the stream is a terminal and NO_COLOR (no-color.org) is not set: yellow, green, grey.
std::string highlighted(std::string_view text, std::FILE* stream);
std::string praised(std::string_view text, std::FILE* stream);
std::string dimmed(std::string_view text, std::FILE* stream);

}  // namespace linkwork::cli
