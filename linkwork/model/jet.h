#pragma once

#include <cmath>

namespace linkwork {

/// A value with its first and second derivative along one direction (usually time): f, f', f''.
struct Jet {
  double value = 0.0;
  double d1 = 0.0;
  double d2 = 0.0;

  Jet() = default;
  Jet(double v) : value(v) {}  // NOLINT: a number is a constant jet
  Jet(double v, double first, double second) : value(v), d1(first), d2(second) {}
};

inline Jet operator-(const Jet& a) { return {-a.value, -a.d1, -a.d2}; }
inline Jet operator+(const Jet& a, const Jet& b) { return {a.value + b.value, a.d1 + b.d1, a.d2 + b.d2}; }
inline Jet operator-(const Jet& a, const Jet& b) { return {a.value - b.value, a.d1 - b.d1, a.d2 - b.d2}; }
inline Jet operator*(const Jet& a, const Jet& b) {
  return {a.value * b.value, a.d1 * b.value + a.value * b.d1, a.d2 * b.value + 2.0 * a.d1 * b.d1 + a.value * b.d2};
}

/// The chain rule: f(a) from f, f', f'' at a.value.
inline Jet compose(const Jet& a, double f, double df, double ddf) { return {f, df * a.d1, ddf * a.d1 * a.d1 + df * a.d2}; }

inline Jet operator/(const Jet& a, const Jet& b) {
  const double inverse = 1.0 / b.value;
  return a * compose(b, inverse, -inverse * inverse, 2.0 * inverse * inverse * inverse);
}

}  // namespace linkwork
