#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#ifdef __AVX__
#include <immintrin.h>
#else
#pragma GCC diagnostic ignored "-Wpsabi"  // nobody else is given such vectors
#endif

#include "linkwork/spatial/sin_cos.h"

namespace linkwork {

/// Four numbers that are computed with at a time: the same quantity of four instances of a mechanism. Every operation acts lane
/// by lane, so that the result of a lane does not depend on what the other lanes hold.
struct Lanes {
  static constexpr int kCount = 4;
  using Vector [[gnu::vector_size(32)]] = double;
  using Bits [[gnu::vector_size(32)]] = std::int64_t;

  Vector v;

  Lanes() = default;
  Lanes(double x) : v{x, x, x, x} {}  // NOLINT(google-explicit-constructor): numbers are written as such
  explicit Lanes(const Vector& x) : v(x) {}

  double operator[](int lane) const { return v[lane]; }
  void set(int lane, double x) { v[lane] = x; }

  Lanes operator-() const { return Lanes(-v); }
  Lanes& operator+=(const Lanes& o) { return v += o.v, *this; }
  Lanes& operator-=(const Lanes& o) { return v -= o.v, *this; }
  Lanes& operator*=(const Lanes& o) { return v *= o.v, *this; }
  Lanes& operator/=(const Lanes& o) { return v /= o.v, *this; }
  friend Lanes operator+(const Lanes& a, const Lanes& b) { return Lanes(a.v + b.v); }
  friend Lanes operator-(const Lanes& a, const Lanes& b) { return Lanes(a.v - b.v); }
  friend Lanes operator*(const Lanes& a, const Lanes& b) { return Lanes(a.v * b.v); }
  friend Lanes operator/(const Lanes& a, const Lanes& b) { return Lanes(a.v / b.v); }
};

/// A decision for each lane.
struct LaneMask {
  Lanes::Bits m;  // all bits of a lane, or none

  bool operator[](int lane) const { return m[lane] != 0; }
  void set(int lane, bool on) { m[lane] = on ? -1 : 0; }
  static LaneMask of(bool on) { return {Lanes::Bits{} - (on ? 1 : 0)}; }

  LaneMask operator!() const { return {~m}; }
  LaneMask& operator|=(const LaneMask& o) { return m |= o.m, *this; }
  LaneMask& operator&=(const LaneMask& o) { return m &= o.m, *this; }
  friend LaneMask operator|(const LaneMask& a, const LaneMask& b) { return {a.m | b.m}; }
  friend LaneMask operator&(const LaneMask& a, const LaneMask& b) { return {a.m & b.m}; }
};

template <class S>
inline constexpr bool kIsLanes = std::is_same_v<S, Lanes>;

/// What stands in a lane that leaves the usual way: its result is then none, and whoever computes it does so alone.
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

inline LaneMask operator<(const Lanes& a, const Lanes& b) { return {a.v < b.v}; }
inline LaneMask operator>(const Lanes& a, const Lanes& b) { return {a.v > b.v}; }
inline LaneMask operator<=(const Lanes& a, const Lanes& b) { return {a.v <= b.v}; }
inline LaneMask operator>=(const Lanes& a, const Lanes& b) { return {a.v >= b.v}; }
inline LaneMask operator!=(const Lanes& a, const Lanes& b) { return {a.v != b.v}; }

inline bool any(bool decision) { return decision; }
inline bool any(const LaneMask& mask) {
#ifdef __AVX__
  return _mm256_movemask_pd(reinterpret_cast<__m256d>(mask.m)) != 0;
#else
  return (mask.m[0] | mask.m[1] | mask.m[2] | mask.m[3]) != 0;
#endif
}
inline bool all(const LaneMask& mask) { return !any(!mask); }

inline Lanes select(const LaneMask& mask, const Lanes& yes, const Lanes& no) { return Lanes(mask.m ? yes.v : no.v); }

inline Lanes abs(const Lanes& a) {
  constexpr std::int64_t kAllButSign = std::numeric_limits<std::int64_t>::max();
  return Lanes(reinterpret_cast<Lanes::Vector>(reinterpret_cast<Lanes::Bits>(a.v) & kAllButSign));
}
/// As std::max and std::min: the first where the two do not compare.
inline Lanes max(const Lanes& a, const Lanes& b) { return select(a < b, b, a); }
inline Lanes min(const Lanes& a, const Lanes& b) { return select(b < a, b, a); }
inline Lanes sqrt(const Lanes& a) {
#ifdef __AVX__
  return Lanes(Lanes::Vector(_mm256_sqrt_pd(a.v)));
#else
  return Lanes(Lanes::Vector{std::sqrt(a[0]), std::sqrt(a[1]), std::sqrt(a[2]), std::sqrt(a[3])});
#endif
}
inline LaneMask is_finite(const Lanes& a) { return abs(a) <= Lanes(std::numeric_limits<double>::max()); }

inline void sin_cos(const Lanes& x, Lanes& sine, Lanes& cosine) {
  const SinCos<Lanes::Vector> at = reduced_sin_cos<Lanes::Vector, Lanes::Bits>(x.v);
  sine = Lanes(at.sine), cosine = Lanes(at.cosine);
  const LaneMask is_small = abs(x) < Lanes(kLargestReduced);
  if (all(is_small)) return;
  for (int lane = 0; lane < Lanes::kCount; ++lane)
    if (!is_small[lane]) sine.set(lane, std::sin(x[lane])), cosine.set(lane, std::cos(x[lane]));
}

}  // namespace linkwork

template <>
struct Eigen::NumTraits<linkwork::Lanes> : Eigen::NumTraits<double> {
  using Real = linkwork::Lanes;
  using NonInteger = linkwork::Lanes;
  using Nested = linkwork::Lanes;
  enum { IsComplex = 0, IsInteger = 0, IsSigned = 1, RequireInitialization = 0, ReadCost = 1, AddCost = 1, MulCost = 1 };
};
