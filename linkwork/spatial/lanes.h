#pragma once

#include <Eigen/Core>
#include <cmath>
#include <cstdint>
#include <limits>

#ifdef __AVX__
#include <immintrin.h>
#endif
#ifndef __AVX512F__
#pragma GCC diagnostic ignored "-Wpsabi"  // nobody else is given such vectors
#endif

#include "linkwork/spatial/sin_cos.h"

namespace linkwork {

/// Vectors of the compiler's. (Their size cannot be that of a template.)
template <int N>
struct LaneVectors;
template <>
struct LaneVectors<4> {
  using Numbers [[gnu::vector_size(32)]] = double;
  using Bits [[gnu::vector_size(32)]] = std::int64_t;
};
template <>
struct LaneVectors<8> {
  using Numbers [[gnu::vector_size(64)]] = double;
  using Bits [[gnu::vector_size(64)]] = std::int64_t;
};

/// A decision for each lane.
template <int N>
struct LaneMask {
  using Bits = typename LaneVectors<N>::Bits;

  Bits m;  // all bits of a lane, or none

  bool operator[](int lane) const { return m[lane] != 0; }
  void set(int lane, bool on) { m[lane] = on ? -1 : 0; }
  static LaneMask of(bool on) { return {Bits{} - (on ? 1 : 0)}; }

  LaneMask operator!() const { return {~m}; }
  LaneMask& operator|=(const LaneMask& o) { return m |= o.m, *this; }
  LaneMask& operator&=(const LaneMask& o) { return m &= o.m, *this; }
  friend LaneMask operator|(const LaneMask& a, const LaneMask& b) { return {a.m | b.m}; }
  friend LaneMask operator&(const LaneMask& a, const LaneMask& b) { return {a.m & b.m}; }

  friend bool any(const LaneMask& mask) {
#ifdef __AVX512DQ__
    if constexpr (N == 8) return _mm512_movepi64_mask(reinterpret_cast<__m512i>(mask.m)) != 0;
#endif
#ifdef __AVX__
    if constexpr (N == 4) return _mm256_movemask_pd(reinterpret_cast<__m256d>(mask.m)) != 0;
#endif
    bool found = false;
    for (int lane = 0; lane < N; ++lane) found = found || mask[lane];
    return found;
  }
  friend bool all(const LaneMask& mask) { return !any(!mask); }
};

/// N numbers that are computed with at a time: the same quantity of so many instances of a mechanism. Every operation acts lane
/// by lane, so that the result of a lane does not depend on what the other lanes hold.
template <int N>
struct LanesOf {
  static constexpr int kCount = N;
  using Vector = typename LaneVectors<N>::Numbers;
  using Mask = LaneMask<N>;
  using Bits = typename Mask::Bits;

  Vector v;

  LanesOf() = default;
  LanesOf(double x) : v(x - Vector{}) {}  // NOLINT(google-explicit-constructor): numbers are written as such
  explicit LanesOf(const Vector& x) : v(x) {}

  double operator[](int lane) const { return v[lane]; }
  void set(int lane, double x) { v[lane] = x; }

  LanesOf operator-() const { return LanesOf(-v); }
  LanesOf& operator+=(const LanesOf& o) { return v += o.v, *this; }
  LanesOf& operator-=(const LanesOf& o) { return v -= o.v, *this; }
  LanesOf& operator*=(const LanesOf& o) { return v *= o.v, *this; }
  LanesOf& operator/=(const LanesOf& o) { return v /= o.v, *this; }
  friend LanesOf operator+(const LanesOf& a, const LanesOf& b) { return LanesOf(a.v + b.v); }
  friend LanesOf operator-(const LanesOf& a, const LanesOf& b) { return LanesOf(a.v - b.v); }
  friend LanesOf operator*(const LanesOf& a, const LanesOf& b) { return LanesOf(a.v * b.v); }
  friend LanesOf operator/(const LanesOf& a, const LanesOf& b) { return LanesOf(a.v / b.v); }

  friend Mask operator<(const LanesOf& a, const LanesOf& b) { return {a.v < b.v}; }
  friend Mask operator>(const LanesOf& a, const LanesOf& b) { return {a.v > b.v}; }
  friend Mask operator<=(const LanesOf& a, const LanesOf& b) { return {a.v <= b.v}; }
  friend Mask operator>=(const LanesOf& a, const LanesOf& b) { return {a.v >= b.v}; }
  friend Mask operator!=(const LanesOf& a, const LanesOf& b) { return {a.v != b.v}; }

  friend LanesOf select(const Mask& mask, const LanesOf& yes, const LanesOf& no) { return LanesOf(mask.m ? yes.v : no.v); }

  friend LanesOf abs(const LanesOf& a) {
    constexpr std::int64_t kAllButSign = std::numeric_limits<std::int64_t>::max();
    return LanesOf(reinterpret_cast<Vector>(reinterpret_cast<Bits>(a.v) & kAllButSign));
  }
  /// As std::max and std::min: the first where the two do not compare.
  friend LanesOf max(const LanesOf& a, const LanesOf& b) { return select(a < b, b, a); }
  friend LanesOf min(const LanesOf& a, const LanesOf& b) { return select(b < a, b, a); }
  friend LanesOf sqrt(const LanesOf& a) {
#ifdef __AVX512F__
    if constexpr (N == 8) return LanesOf(Vector(_mm512_sqrt_pd(a.v)));
#endif
#ifdef __AVX__
    if constexpr (N == 4) return LanesOf(Vector(_mm256_sqrt_pd(a.v)));
#endif
    LanesOf root = a;
    for (int lane = 0; lane < N; ++lane) root.set(lane, std::sqrt(a[lane]));
    return root;
  }
  friend Mask is_finite(const LanesOf& a) { return abs(a) <= LanesOf(std::numeric_limits<double>::max()); }

  friend void sin_cos(const LanesOf& x, LanesOf& sine, LanesOf& cosine) {
    const SinCos<Vector> at = reduced_sin_cos<Vector, Bits>(x.v);
    sine = LanesOf(at.sine), cosine = LanesOf(at.cosine);
    const Mask is_small = abs(x) < LanesOf(kLargestReduced);
    if (all(is_small)) return;
    for (int lane = 0; lane < N; ++lane)
      if (!is_small[lane]) sine.set(lane, std::sin(x[lane])), cosine.set(lane, std::cos(x[lane]));
  }
};

template <class S>
inline constexpr bool kIsLanes = false;
template <int N>
inline constexpr bool kIsLanes<LanesOf<N>> = true;

/// What stands in a lane that leaves the usual way: its result is then none, and whoever computes it does so alone.
inline constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();

inline bool any(bool decision) { return decision; }

}  // namespace linkwork

template <int N>
struct Eigen::NumTraits<linkwork::LanesOf<N>> : Eigen::NumTraits<double> {
  using Real = linkwork::LanesOf<N>;
  using NonInteger = linkwork::LanesOf<N>;
  using Nested = linkwork::LanesOf<N>;
  enum { IsComplex = 0, IsInteger = 0, IsSigned = 1, RequireInitialization = 0, ReadCost = 1, AddCost = 1, MulCost = 1 };
};
