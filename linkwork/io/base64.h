#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string>

namespace linkwork {

/// Numbers as base64, little-endian, three bytes at a time.
class Base64 {
 public:
  explicit Base64(std::string& text) : text_(text) {}

  template <class Number>
  void add(Number value) {
    static_assert(std::endian::native == std::endian::little, "the page reads little-endian numbers");
    for (const std::uint8_t byte : std::bit_cast<std::array<std::uint8_t, sizeof value>>(value)) add_byte(byte);
  }

  void finish() {
    if (held_ == 0) return;
    const int missing = 3 - held_;
    for (int i = 0; i < missing; ++i) add_byte(0);
    text_.replace(text_.size() - static_cast<std::size_t>(missing), static_cast<std::size_t>(missing),
                  static_cast<std::size_t>(missing), '=');
  }

 private:
  void add_byte(std::uint8_t byte) {
    static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    bits_ = bits_ << 8U | byte;
    if (++held_ < 3) return;
    for (const unsigned shift : {18U, 12U, 6U, 0U}) text_ += kDigits[bits_ >> shift & 63U];
    bits_ = 0;
    held_ = 0;
  }

  std::string& text_;
  std::uint32_t bits_ = 0;
  int held_ = 0;
};

}  // namespace linkwork
