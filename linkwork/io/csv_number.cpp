#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <tuple>

#include "linkwork/io/trajectory_file.h"

namespace linkwork {

namespace {

__extension__ using Wide = unsigned __int128;

/// 10^k = significand 2^exponent, the significand of 128 bits cut off.
struct PowerOfTen {
  Wide significand = 0;
  int exponent = 0;
};

constexpr PowerOfTen power_of_ten(int k) {
  Wide five = 1;
  for (int i = 0; i < (k < 0 ? -k : k); ++i) five *= 5;
  if (k >= 0) {
    while (five >> 127 == 0) five <<= 1, --k;
    return {five, k};
  }
  Wide quotient = 0, rest = 1;
  for (; quotient >> 127 == 0; --k) {
    rest <<= 1, quotient <<= 1;
    if (rest >= five) rest -= five, quotient |= 1;
  }
  return {quotient, k};
}

constexpr int kDigits = 17;
constexpr int kLeast = -39, kMost = 60;  // exponents of ten of the numbers that are written here
constexpr std::uint64_t kAllDigits = 100'000'000'000'000'000;

/// By the exponent of a number: what it is multiplied by to have 17 digits before the point.
constexpr auto kScales = [] {
  std::array<PowerOfTen, kMost - kLeast + 1> scales;
  for (int e = kLeast; e <= kMost; ++e) scales[static_cast<std::size_t>(e - kLeast)] = power_of_ten(kDigits - 1 - e);
  return scales;
}();

/// Eight digits, pairs and then digits taken apart side by side in one number, the first one lowest.
std::uint64_t eight_digits(std::uint32_t x) {
  const std::uint64_t fours = x / 10'000 | static_cast<std::uint64_t>(x % 10'000) << 32;
  const std::uint64_t hundreds = (fours * 10'486 >> 20) & 0x7f'0000'007f;
  const std::uint64_t pairs = hundreds | (fours - 100 * hundreds) << 16;
  const std::uint64_t tens = (pairs * 103 >> 10) & 0x000f'000f'000f'000f;
  return tens | (pairs - 10 * tens) << 8 | 0x3030'3030'3030'3030;
}

void write_eight(std::uint32_t x, char* to) {
  const std::uint64_t digits = eight_digits(x);
  if constexpr (std::endian::native == std::endian::little)
    std::memcpy(to, &digits, sizeof digits);
  else
    for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(digits >> (8 * i));
}

/// 17 digits of x = significand 2^binary with all 64 bits of the significand, rounded, and the exponent of the first; 0: that
/// takes more care.
std::uint64_t seventeen_digits(std::uint64_t significand, int binary, int& exponent) {
  exponent = ((binary + 63) * 78'913) >> 18;  // log10 2; it may be one more
  for (;; ++exponent) {
    if (exponent < kLeast || exponent > kMost) return 0;
    const PowerOfTen& scale = kScales[static_cast<std::size_t>(exponent - kLeast)];
    const Wide high = Wide{significand} * static_cast<std::uint64_t>(scale.significand >> 64);
    const Wide product =
        high + ((Wide{significand} * static_cast<std::uint64_t>(scale.significand)) >> 64);  // and less than 2 more
    const auto upper = static_cast<std::uint64_t>(product >> 64), lower = static_cast<std::uint64_t>(product);
    const int shift = -(128 + binary + scale.exponent);  // of the upper half: 17 digits take 57 of its bits at most
    const std::uint64_t digits = upper >> shift;
    if (digits >= kAllDigits) continue;
    const std::uint64_t half = std::uint64_t{1} << (shift - 1), left = upper & (2 * half - 1);
    if (left == half ? lower == 0 : left + 1 == half && lower + 2 < 2) return 0;
    if (left < half) return digits;
    if (digits + 1 < kAllDigits) return digits + 1;
    ++exponent;
    return kAllDigits / 10;
  }
}

/// As many characters as there are digits at most are copied, whatever is needed: of a fixed number, that takes two instructions.
using Digits = std::array<char, 24>;
void copy(const char* digits, char* to) {
  Digits block;
  std::memcpy(block.data(), digits, block.size());
  std::memcpy(to, block.data(), block.size());
}

char* write_fixed(const char* digits, int count, int exponent, char* to) {
  if (exponent < 0) {
    std::memcpy(to, "0.000000", 8);
    copy(digits, to + 1 - exponent);
    return to + 1 - exponent + count;
  }
  const int whole = exponent + 1;
  copy(digits, to);  // behind the last digit there are zeros
  if (count <= whole) return to + whole;
  to[whole] = '.';
  copy(digits + whole, to + whole + 1);
  return to + count + 1;
}

char* write_scientific(const char* digits, int count, int exponent, char* to) {
  *to++ = digits[0];
  if (count > 1) {
    *to++ = '.';
    copy(digits + 1, to);
    to += count - 1;
  }
  const int size = exponent < 0 ? -exponent : exponent;
  *to++ = 'e';
  *to++ = exponent < 0 ? '-' : '+';
  *to++ = static_cast<char>('0' + size / 10);
  *to++ = static_cast<char>('0' + size % 10);
  return to;
}

}  // namespace

/// As printf's "%.17g" has it. Rows are mostly numbers of usual size: those take a tenth of the time that the library takes,
/// which does the others, and those that are as good as half way between two.
char* write_csv_number(double value, char* to) {
  if (value == 0.0) {
    if (std::signbit(value)) *to++ = '-';
    *to++ = '0';
    return to;
  }
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>(bits >> 52 & 0x7ff);
  int exponent = 0;
  const bool is_usual = biased != 0 && biased != 0x7ff;
  const std::uint64_t all = is_usual ? seventeen_digits(bits << 11 | std::uint64_t{1} << 63, biased - 1086, exponent) : 0;
  if (all == 0) return std::to_chars(to, to + kLongestCsvNumber, value, std::chars_format::general, kDigits).ptr;
  std::array<char, 2 * std::tuple_size_v<Digits>> digits{};  // with room to copy blocks from any of them
  const std::uint64_t behind = all % 10'000'000'000'000'000;
  digits[0] = static_cast<char>('0' + all / 10'000'000'000'000'000);
  write_eight(static_cast<std::uint32_t>(behind / 100'000'000), &digits[1]);
  write_eight(static_cast<std::uint32_t>(behind % 100'000'000), &digits[9]);
  int count = kDigits;
  while (digits[static_cast<std::size_t>(count - 1)] == '0') --count;
  if (value < 0.0) *to++ = '-';
  return exponent >= -4 && exponent < kDigits ? write_fixed(digits.data(), count, exponent, to)
                                              : write_scientific(digits.data(), count, exponent, to);
}

std::string& append_csv_number(double value, std::string& text) {
  std::array<char, kLongestCsvNumber> written;
  return text.append(written.data(), write_csv_number(value, written.data()));
}

}  // namespace linkwork
