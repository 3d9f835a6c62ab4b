#include "linkwork/ensemble/random_numbers.h"

#include <array>
#include <bit>
#include <cmath>

// Compiled without contraction of products and sums (CMakeLists.txt): the result of each operation is that of IEEE 754.

namespace linkwork {
namespace {

constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15U;

/// The finalizer of SplitMix64.
std::uint64_t mixed(std::uint64_t x) {
  x += kGolden;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

std::uint64_t mixed(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return mixed(mixed(mixed(seed) ^ (stream * kGolden)) ^ index);
}

constexpr double kLn2High = 6.93147180369123816490e-01, kLn2Low = 1.90821492927058770002e-10;

/// log(x) of a normal x > 0: log(2^e m) = e log 2 + 2 atanh((m - 1)/(m + 1)), sqrt(1/2) <= m < sqrt(2).
double portable_log(double x) {
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752440) m *= 2.0, --exponent;
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double sum = 0.0;
  for (int k = 12; k >= 1; --k) sum = z * (1.0 / (2.0 * k + 1.0) + sum);
  const double e = exponent;
  return e * kLn2High + (2.0 * s + (2.0 * s * sum + e * kLn2Low));
}

template <std::size_t n>
double polynomial(const std::array<double, n>& coefficients, double x) {
  double value = 0.0;
  for (std::size_t k = n; k-- > 0;) value = value * x + coefficients[k];
  return value;
}

/// A primitive polynomial, without its first and last coefficient, and the numbers that the recursion begins with.
struct SobolDirections {
  unsigned degree, polynomial;
  std::array<std::uint32_t, 7> first;
};

// Dimensions 2, 3, ... of [Joe2008]; the first one is van der Corput's sequence.
constexpr std::array<SobolDirections, kSobolDimensions - 1> kSobol{{{1, 0, {1}},
                                                                    {2, 1, {1, 3}},
                                                                    {3, 1, {1, 3, 1}},
                                                                    {3, 2, {1, 1, 1}},
                                                                    {4, 1, {1, 1, 3, 3}},
                                                                    {4, 4, {1, 3, 5, 13}},
                                                                    {5, 2, {1, 1, 5, 5, 17}},
                                                                    {5, 4, {1, 1, 5, 5, 5}},
                                                                    {5, 7, {1, 1, 7, 11, 19}},
                                                                    {5, 11, {1, 1, 5, 1, 1}},
                                                                    {5, 13, {1, 1, 1, 3, 11}},
                                                                    {5, 14, {1, 3, 5, 5, 31}},
                                                                    {6, 1, {1, 3, 3, 9, 7, 49}},
                                                                    {6, 13, {1, 1, 1, 15, 21, 21}},
                                                                    {6, 16, {1, 3, 1, 13, 27, 49}},
                                                                    {6, 19, {1, 1, 1, 15, 7, 5}},
                                                                    {6, 22, {1, 3, 1, 15, 13, 25}},
                                                                    {6, 25, {1, 1, 5, 5, 19, 61}},
                                                                    {7, 1, {1, 3, 7, 11, 23, 15, 103}},
                                                                    {7, 4, {1, 3, 7, 13, 13, 15, 69}}}};

using Directions = std::array<std::uint32_t, 32>;

Directions directions_of(int dimension) {
  Directions v{};
  for (unsigned k = 0; k < 32; ++k) v[k] = 1U << (31U - k);
  if (dimension == 0) return v;
  const SobolDirections& given = kSobol[static_cast<std::size_t>(dimension) - 1];
  const unsigned s = given.degree;
  for (unsigned k = 0; k < s; ++k) v[k] = given.first[k] << (31U - k);
  for (unsigned k = s; k < 32; ++k) {
    v[k] = v[k - s] ^ (v[k - s] >> s);
    for (unsigned j = 1; j < s; ++j)
      if ((given.polynomial >> (s - 1 - j)) & 1U) v[k] ^= v[k - j];
  }
  return v;
}

const Directions& directions(int dimension) {
  static const auto all = [] {
    std::array<Directions, kSobolDimensions> made{};
    for (int d = 0; d < kSobolDimensions; ++d) made[static_cast<std::size_t>(d)] = directions_of(d);
    return made;
  }();
  return all[static_cast<std::size_t>(dimension)];
}

}  // namespace

double uniform_number(std::uint64_t seed, std::uint64_t stream, std::uint64_t index) {
  return (static_cast<double>(mixed(seed, stream, index) >> 12U) + 0.5) * 0x1p-52;
}

std::uint64_t shuffled(std::uint64_t seed, std::uint64_t stream, std::uint64_t index, std::uint64_t count) {
  constexpr std::uint64_t kRounds = 6;
  const auto half = static_cast<unsigned>((std::bit_width(count - 1) + 1) / 2);
  const std::uint64_t mask = (std::uint64_t{1} << half) - 1;
  do {
    std::uint64_t left = index >> half, right = index & mask;
    for (std::uint64_t round = 0; round < kRounds; ++round) {
      const std::uint64_t next = left ^ (mixed(seed, stream * kRounds + round + 1, right) & mask);
      left = right, right = next;
    }
    index = (left << half) | right;
  } while (index >= count);
  return index;
}

double sobol_number(std::uint64_t seed, int dimension, std::uint64_t index) {
  const Directions& v = directions(dimension);
  std::uint32_t x = seed == 0 ? 0U : static_cast<std::uint32_t>(mixed(seed, static_cast<std::uint64_t>(dimension), 0) >> 32U);
  std::uint64_t gray = index ^ (index >> 1U);
  for (unsigned k = 0; gray != 0 && k < 32; ++k, gray >>= 1U)
    if (gray & 1U) x ^= v[k];
  return (static_cast<double>(x) + 0.5) * 0x1p-32;
}

double normal_quantile(double p) {
  constexpr std::array a{3.3871328727963666080,    1.3314166789178437745e+2, 1.9715909503065514427e+3, 1.3731693765509461125e+4,
                         4.5921953931549871457e+4, 6.7265770927008700853e+4, 3.3430575583588128105e+4, 2.5090809287301226727e+3};
  constexpr std::array b{1.0,
                         4.2313330701600911252e+1,
                         6.8718700749205790830e+2,
                         5.3941960214247511077e+3,
                         2.1213794301586595867e+4,
                         3.9307895800092710610e+4,
                         2.8729085735721942674e+4,
                         5.2264952788528545610e+3};
  constexpr std::array c{1.42343711074968357734, 4.63033784615654529590,    5.76949722146069140550,    3.64784832476320460504,
                         1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4};
  constexpr std::array d{1.0,
                         2.05319162663775882187,
                         1.67638483018380384940,
                         6.89767334985100004550e-1,
                         1.48103976427480074590e-1,
                         1.51986665636164571966e-2,
                         5.47593808499534494600e-4,
                         1.05075007164441684324e-9};
  constexpr std::array e{6.65790464350110377720,    5.46378491116411436990,    1.78482653991729133580,
                         2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                         2.71155556874348757815e-5, 2.01033439929228813265e-7};
  constexpr std::array f{1.0,
                         5.99832206555887937690e-1,
                         1.36929880922735805310e-1,
                         1.48753612908506148525e-2,
                         7.86869131145613259100e-4,
                         1.84631831751005468180e-5,
                         1.42151175831644588870e-7,
                         2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(a, r) / polynomial(b, r);
  }
  const double r = std::sqrt(-portable_log(q < 0.0 ? p : 1.0 - p));
  const double size =
      r <= 5.0 ? polynomial(c, r - 1.6) / polynomial(d, r - 1.6) : polynomial(e, r - 5.0) / polynomial(f, r - 5.0);
  return q < 0.0 ? -size : size;
}

double portable_exp(double x) {
  constexpr double kLargest = 709.0;
  if (!(x <= kLargest)) return x > kLargest ? HUGE_VAL : x;
  if (x < -kLargest) return 0.0;
  const double k = std::floor(x * 1.44269504088896340736 + 0.5);
  const double r = (x - k * kLn2High) - k * kLn2Low;
  double sum = 1.0;
  for (int n = 14; n >= 1; --n) sum = 1.0 + r * sum / n;
  return std::ldexp(sum, static_cast<int>(k));
}

}  // namespace linkwork
