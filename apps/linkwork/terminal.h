#pragma once

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace linkwork::cli {

/// Whether a person watches the stream on something that understands cursor movements.
bool is_terminal(std::FILE* stream);
int terminal_width(std::FILE* stream);

// The text in a colour, if the stream is a terminal and NO_COLOR (no-color.org) is not set: yellow, green, grey.
std::string highlighted(std::string_view text, std::FILE* stream);
std::string praised(std::string_view text, std::FILE* stream);
std::string dimmed(std::string_view text, std::FILE* stream);

// All that the program prints goes through the following. Names in it come from files of anyone: but for line ends and our own
// colours, nothing in it can command the terminal. A stream that does not take it (closed, full) never stops the work.

void write_to(std::FILE* stream, std::string_view text);

/// Results, on stdout.
template <class... Arguments>
void print(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  write_to(stdout, fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// A name, what it is, and what else there is to say of it.
struct Entry {
  std::string name;
  std::string text;
  std::vector<std::string> details = {};
};
/// A line per entry, texts below one another.
void print_entries(const std::vector<Entry>& entries);

/// Trouble: one line "linkwork: ..." on stderr, after what is on stdout.
void complain_of(std::string_view text);
template <class... Arguments>
void complain(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  complain_of(fmt::format(format, std::forward<Arguments>(arguments)...));
}

/// Makes sure that 0, 1 and 2 are open, so that no result file gets one of these numbers and what is printed with it; and that
/// trouble with streams and files is an error of the call, not a signal that ends the program.
void prepare_streams();
/// What is still to be printed is: false, with a complaint, if not all that was printed has arrived.
bool finish_printing();

}  // namespace linkwork::cli
