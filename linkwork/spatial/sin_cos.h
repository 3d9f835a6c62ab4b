#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace linkwork {

/// Beyond it k pi/2 below is not exact.
inline constexpr double kLargestReduced = 1e6;  // k stays below 2^20

template <class V>
struct SinCos {
  V sine, cosine;
};

/// Of numbers below kLargestReduced, in a vector of the compiler's; Bits is one of integers of the same size.
///
/// x = k pi/2 + r with |r| <= pi/4. pi/2 is taken in three parts, the first two of 33 bits, so that their products with k are
/// exact. The polynomials interpolate (sin(r)/r - 1)/r^2 and (cos(r) - 1 + r^2/2)/r^4 in r^2 at Chebyshev points, where their
/// errors stay below 2.1e-17.
template <class V, class Bits>
inline SinCos<V> reduced_sin_cos(const V& x) {
  constexpr double kRound = 0x1.8p52;  // adding it rounds to an integer, which then stands in the lowest bits
  const V rounded = x * 0.6366197723675814 + kRound;
  const auto quarter = std::bit_cast<Bits>(rounded);
  const V k = rounded - kRound;
  const V first = x - k * 0x1.921fb544p+0;  // exact
  const V second = k * 0x1.0b4611a6p-34;
  const V most_of_r = first - second;
  const V rest = ((first - most_of_r) - second) - k * 2.0222662487959506e-21;
  const V r = most_of_r + rest;
  const V tail = (most_of_r - r) + rest;  // what rounding took from r

  const V t = r * r;
  const V t2 = t * t;
  const V half = 0.5 * t;
  const V most = 1.0 - half;  // of the cosine; its rounding error is made good below
  const V s_low = -0.16666666666666666 + t * 0.008333333333330936;
  const V s_mid = -0.00019841269836740527 + t * 2.7557316093196066e-06;
  const V s_high = -2.5051129895962807e-08 + t * 1.5917988944318716e-10;
  const V s = r + (tail * most + (r * t) * (s_low + t2 * (s_mid + t2 * s_high)));
  const V c_low = 0.041666666666666664 + t * -0.0013888888888887389;
  const V c_mid = 2.48015872987544e-05 + t * -2.7557317265876615e-07;
  const V c_high = 2.087614504910828e-09 + t * -1.1382544623404291e-11;
  const V c = most + ((((1.0 - most) - half) - r * tail) + t2 * (c_low + t2 * (c_mid + t2 * c_high)));

  const auto swapped = (quarter & 1) != 0;
  const auto with_sign = [](const V& a, const Bits& bit1) {
    return std::bit_cast<V>(std::bit_cast<Bits>(a) ^ ((bit1 & 2) << 62));
  };
  return {with_sign(swapped ? c : s, quarter), with_sign(swapped ? s : c, quarter + 1)};
}

/// Sine and cosine together, off by less than one unit in the last place: the recursions need both for every joint, and the
/// library's take as long as a third of the rest.
inline void sin_cos(double x, double& sine, double& cosine) {
  if (!(std::abs(x) < kLargestReduced)) {
    sine = std::sin(x), cosine = std::cos(x);
    return;
  }
  const SinCos<double> at = reduced_sin_cos<double, std::uint64_t>(x);
  sine = at.sine, cosine = at.cosine;
}

inline void sin_cos(long double x, long double& sine, long double& cosine) { sine = std::sin(x), cosine = std::cos(x); }

}  // namespace linkwork
