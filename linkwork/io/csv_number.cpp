#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>

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

constexpr auto kPairs = [] {
  std::array<char, 200> pairs{};
  for (std::size_t i = 0; i < 100; ++i)
    pairs[2 * i] = static_cast<char>('0' + i / 10), pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  return pairs;
}();

void write_eight(std::uint32_t x, char* to) {
  const std::uint32_t high = x / 10'000, low = x % 10'000;
  for (const auto& [at, pair] : {std::pair{0, high / 100}, {2, high % 100}, {4, low / 100}, {6, low % 100}})
    std::memcpy(to + at, &kPairs[2 * pair], 2);
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
    const int shift = -(64 + binary + scale.exponent);
    const auto digits = static_cast<std::uint64_t>(product >> shift);
    if (digits >= kAllDigits) continue;
    const Wide half = Wide{1} << (shift - 1), left = product & (2 * half - 1);
    if (left <= half && half - left <= 2) return 0;
    if (left < half) return digits;
    if (digits + 1 < kAllDigits) return digits + 1;
    ++exponent;
    return kAllDigits / 10;
  }
}

char* write_fixed(std::string_view digits, int exponent, char* to) {
  if (exponent < 0) {
    std::memcpy(to, "0.0000", 6);
    return std::copy(digits.begin(), digits.end(), to + 1 - exponent);
  }
  const std::size_t whole = static_cast<std::size_t>(exponent) + 1;
  std::memcpy(to, digits.data(), whole);  // behind the last digit there are zeros
  if (digits.size() <= whole) return to + whole;
  to[whole] = '.';
  return std::copy(digits.begin() + static_cast<std::ptrdiff_t>(whole), digits.end(), to + whole + 1);
}

char* write_scientific(std::string_view digits, int exponent, char* to) {
  *to++ = digits[0];
  if (digits.size() > 1) {
    *to++ = '.';
    to = std::copy(digits.begin() + 1, digits.end(), to);
  }
  *to++ = 'e';
  *to++ = exponent < 0 ? '-' : '+';
  std::memcpy(to, &kPairs[2 * static_cast<std::size_t>(exponent < 0 ? -exponent : exponent)], 2);
  return to + 2;
}

}  // namespace

/// As printf's "%.17g" has it. Rows are mostly numbers of usual size: those take a fifth of the time that the library takes,
/// which does the others, and those that are as good as half way between two.
std::string& append_csv_number(double value, std::string& text) {
  std::array<char, 40> written;
  char* const begin = written.data();
  if (value == 0.0) return text.append(std::signbit(value) ? "-0" : "0");
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto biased = static_cast<int>(bits >> 52 & 0x7ff);
  int exponent = 0;
  const bool is_usual = biased != 0 && biased != 0x7ff;
  const std::uint64_t all = is_usual ? seventeen_digits(bits << 11 | std::uint64_t{1} << 63, biased - 1086, exponent) : 0;
  if (all == 0) {
    const auto end = std::to_chars(begin, begin + written.size(), value, std::chars_format::general, kDigits).ptr;
    return text.append(begin, end);
  }
  std::array<char, kDigits> digits;
  const std::uint64_t behind = all % 10'000'000'000'000'000;
  digits[0] = static_cast<char>('0' + all / 10'000'000'000'000'000);
  write_eight(static_cast<std::uint32_t>(behind / 100'000'000), &digits[1]);
  write_eight(static_cast<std::uint32_t>(behind % 100'000'000), &digits[9]);
  std::size_t count = kDigits;
  while (digits[count - 1] == '0') --count;
  char* to = begin;
  if (value < 0.0) *to++ = '-';
  const std::string_view significant(digits.data(), count);
  to =
      exponent >= -4 && exponent < kDigits ? write_fixed(significant, exponent, to) : write_scientific(significant, exponent, to);
  return text.append(begin, to);
}

}  // namespace linkwork
