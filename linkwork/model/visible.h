#pragma once

#include <span>
#include <string>
#include <string_view>

namespace linkwork {

/// The text with everything escaped that a terminal would obey or a reader would not see: control characters (NUL and line ends
/// too), bytes that are not UTF-8, marks that change the direction of writing. "\x1b" then stands there as it is written here.
/// Sequences in `passing` stay as they are.
std::string visible(std::string_view text, std::span<const std::string_view> passing = {});

}  // namespace linkwork
