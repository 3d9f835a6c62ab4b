#include "linkwork/model/visible.h"

#include <algorithm>
#include <cstdint>

namespace linkwork {
namespace {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: not UTF-8
};

/// The UTF-8 character at the beginning of a text that is not empty.
Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i])); };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80U) return {lead, 1};
  const std::size_t length = lead >= 0xF0U ? 4 : lead >= 0xE0U ? 3 : 2;
  if (lead < 0xC2U || lead > 0xF4U || text.size() < length) return {};
  std::uint32_t code = lead & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return {};
    code = code << 6U | (byte(i) & 0x3FU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80U, 0x800U, 0x10000U};
  const bool surrogate = code >= 0xD800U && code <= 0xDFFFU;
  if (code < kLeast[length] || code > 0x10FFFFU || surrogate) return {};
  return {code, length};
}

bool is_obeyed(std::uint32_t code) {
  const bool control = code < 0x20U || (code >= 0x7FU && code <= 0x9FU);
  const bool turns_around = code == 0x200EU || code == 0x200FU || (code >= 0x2028U && code <= 0x202EU) ||
                            (code >= 0x2066U && code <= 0x2069U) || code == 0x061CU;
  return control || turns_around;
}

void append_escaped(std::string& to, std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (bytes == "\n")
    to += "\\n";
  else if (bytes == "\t")
    to += "\\t";
  else
    for (const char c : bytes) {
      const auto value = static_cast<unsigned char>(c);
      to += {'\\', 'x', kDigits[value >> 4U], kDigits[value & 15U]};
    }
}

}  // namespace

std::string visible(std::string_view text, std::span<const std::string_view> passing) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto passes = std::ranges::find_if(passing, [&](std::string_view sequence) { return text.starts_with(sequence); });
    std::size_t taken = 1;
    if (passes != passing.end()) {
      taken = passes->size();
      shown += *passes;
    } else if (const Character character = first_character(text); character.bytes > 0 && !is_obeyed(character.code)) {
      taken = character.bytes;
      shown += text.substr(0, taken);
    } else {
      taken = std::max<std::size_t>(1, character.bytes);
      append_escaped(shown, text.substr(0, taken));
    }
    text.remove_prefix(taken);
  }
  return shown;
}

}  // namespace linkwork
