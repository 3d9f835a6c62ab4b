#pragma once

#include <Eigen/Core>
#include <array>
#include <cmath>

namespace linkwork {

/// A number with its exact derivatives in kCount directions at once: those in which a relative motion can change, a turn, a
/// displacement, an angular velocity and a velocity. Of a root of zero the derivatives are zero: what it is used in depends on
/// its square there.
struct Dual {
  static constexpr std::size_t kCount = 12;
  double value = 0.0;
  std::array<double, kCount> d{};

  Dual() = default;
  Dual(double v) : value(v) {}  // NOLINT: a number does not change
  static Dual along(double v, std::size_t direction) {
    Dual x(v);
    x.d[direction] = 1.0;
    return x;
  }

  Dual& operator+=(const Dual& a) {
    value += a.value;
    for (std::size_t i = 0; i < kCount; ++i) d[i] += a.d[i];
    return *this;
  }
  Dual& operator-=(const Dual& a) {
    value -= a.value;
    for (std::size_t i = 0; i < kCount; ++i) d[i] -= a.d[i];
    return *this;
  }
  Dual& operator*=(const Dual& a) {
    for (std::size_t i = 0; i < kCount; ++i) d[i] = d[i] * a.value + value * a.d[i];
    value *= a.value;
    return *this;
  }
  Dual& operator/=(const Dual& a) {
    const double inverse = 1.0 / a.value;
    value *= inverse;
    for (std::size_t i = 0; i < kCount; ++i) d[i] = (d[i] - value * a.d[i]) * inverse;
    return *this;
  }
  friend Dual operator-(Dual a) { return a *= -1.0; }
  friend Dual operator+(Dual a, const Dual& b) { return a += b; }
  friend Dual operator-(Dual a, const Dual& b) { return a -= b; }
  friend Dual operator*(Dual a, const Dual& b) { return a *= b; }
  friend Dual operator/(Dual a, const Dual& b) { return a /= b; }
  friend bool operator<(const Dual& a, const Dual& b) { return a.value < b.value; }
  friend bool operator>(const Dual& a, const Dual& b) { return a.value > b.value; }
  friend bool operator<=(const Dual& a, const Dual& b) { return a.value <= b.value; }
  friend bool operator>=(const Dual& a, const Dual& b) { return a.value >= b.value; }
  friend bool operator==(const Dual& a, const Dual& b) { return a.value == b.value; }
};

/// f(a), from f and its slope there.
inline Dual chained(const Dual& a, double f, double slope) {
  Dual x(f);
  for (std::size_t i = 0; i < Dual::kCount; ++i) x.d[i] = slope * a.d[i];
  return x;
}

inline Dual sqrt(const Dual& a) {
  const double f = std::sqrt(a.value);
  return chained(a, f, f > 0.0 ? 0.5 / f : 0.0);
}
inline Dual sin(const Dual& a) { return chained(a, std::sin(a.value), std::cos(a.value)); }
inline Dual cos(const Dual& a) { return chained(a, std::cos(a.value), -std::sin(a.value)); }
inline Dual abs(const Dual& a) { return a.value < 0.0 ? -a : a; }
inline Dual hypot(const Dual& x, const Dual& y) {
  const double f = std::hypot(x.value, y.value);
  if (!(f > 0.0)) return {f};
  Dual h(f);
  for (std::size_t i = 0; i < Dual::kCount; ++i) h.d[i] = (x.value * x.d[i] + y.value * y.d[i]) / f;
  return h;
}
inline Dual atan2(const Dual& y, const Dual& x) {
  Dual angle(std::atan2(y.value, x.value));
  const double r2 = x.value * x.value + y.value * y.value;
  for (std::size_t i = 0; i < Dual::kCount; ++i) angle.d[i] = (x.value * y.d[i] - y.value * x.d[i]) / r2;
  return angle;
}
inline Dual remainder(const Dual& a, double b) {
  Dual x = a;
  x.value = std::remainder(a.value, b);
  return x;
}

/// x, or the bound if x is below it.
template <class S>
S at_least(const S& x, double bound) {
  return x < S(bound) ? S(bound) : x;
}

}  // namespace linkwork

template <>
struct Eigen::NumTraits<linkwork::Dual> : Eigen::NumTraits<double> {
  using Real = linkwork::Dual;
  using NonInteger = linkwork::Dual;
  using Nested = linkwork::Dual;
  enum { IsComplex = 0, IsInteger = 0, IsSigned = 1, RequireInitialization = 1, ReadCost = 12, AddCost = 12, MulCost = 24 };
};
template <class Operation>
struct Eigen::ScalarBinaryOpTraits<linkwork::Dual, double, Operation> {
  using ReturnType = linkwork::Dual;
};
template <class Operation>
struct Eigen::ScalarBinaryOpTraits<double, linkwork::Dual, Operation> {
  using ReturnType = linkwork::Dual;
};
