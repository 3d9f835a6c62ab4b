#pragma once

#include <cmath>

#include "linkwork/model/jet.h"

namespace linkwork {

/// The elementary functions on jets. Where a function has a kink (abs, min, max at equality) the derivative is that of the branch
/// the value is taken from, and zero for abs at 0. A jet without derivatives stays one, even where the function has none:
/// sqrt(0).

inline bool is_constant(const Jet& a) { return a.d1 == 0.0 && a.d2 == 0.0; }

/// compose(), without 0 * infinity where a does not move.
inline Jet chain(const Jet& a, double f, double df, double ddf) {
  if (is_constant(a)) return {f, 0.0, 0.0};
  if (a.d1 == 0.0) return {f, 0.0, df * a.d2};
  return compose(a, f, df, ddf);
}

inline Jet sin(const Jet& a) { return chain(a, std::sin(a.value), std::cos(a.value), -std::sin(a.value)); }
inline Jet cos(const Jet& a) { return chain(a, std::cos(a.value), -std::sin(a.value), -std::cos(a.value)); }
inline Jet tan(const Jet& a) {
  const double f = std::tan(a.value);
  return chain(a, f, 1.0 + f * f, 2.0 * f * (1.0 + f * f));
}
inline Jet asin(const Jet& a) {
  const double df = 1.0 / std::sqrt((1.0 - a.value) * (1.0 + a.value));
  return chain(a, std::asin(a.value), df, a.value * df * df * df);
}
inline Jet acos(const Jet& a) {
  const double df = -1.0 / std::sqrt((1.0 - a.value) * (1.0 + a.value));
  return chain(a, std::acos(a.value), df, a.value * df * df * df);
}
inline Jet atan(const Jet& a) {
  const double df = 1.0 / (1.0 + a.value * a.value);
  return chain(a, std::atan(a.value), df, -2.0 * a.value * df * df);
}
inline Jet sinh(const Jet& a) { return chain(a, std::sinh(a.value), std::cosh(a.value), std::sinh(a.value)); }
inline Jet cosh(const Jet& a) { return chain(a, std::cosh(a.value), std::sinh(a.value), std::cosh(a.value)); }
inline Jet tanh(const Jet& a) {
  const double f = std::tanh(a.value);
  const double sech = 1.0 / std::cosh(a.value);
  return chain(a, f, sech * sech, -2.0 * f * sech * sech);
}
inline Jet exp(const Jet& a) {
  const double f = std::exp(a.value);
  return chain(a, f, f, f);
}
inline Jet log(const Jet& a) {
  const double df = 1.0 / a.value;
  return chain(a, std::log(a.value), df, -df * df);
}
inline Jet log10(const Jet& a) {
  const double df = 1.0 / (a.value * std::log(10.0));
  return chain(a, std::log10(a.value), df, -df / a.value);
}
inline Jet sqrt(const Jet& a) {
  const double f = std::sqrt(a.value);
  return chain(a, f, 0.5 / f, -0.25 / (f * a.value));
}
inline Jet abs(const Jet& a) {
  const double slope = a.value > 0.0 ? 1.0 : a.value < 0.0 ? -1.0 : 0.0;
  return {std::abs(a.value), slope * a.d1, slope * a.d2};
}
inline Jet floor(const Jet& a) { return {std::floor(a.value)}; }
inline Jet ceil(const Jet& a) { return {std::ceil(a.value)}; }

/// With h = hypot(x, y):  h h' = x x' + y y'  and  h h'' + h'^2 = x'^2 + x x'' + y'^2 + y y''.
inline Jet hypot(const Jet& x, const Jet& y) {
  const double h = std::hypot(x.value, y.value);
  if (is_constant(x) && is_constant(y)) return {h};
  const double h1 = (x.value * x.d1 + y.value * y.d1) / h;
  const double h2 = (x.d1 * x.d1 + x.value * x.d2 + y.d1 * y.d1 + y.value * y.d2 - h1 * h1) / h;
  return {h, h1, h2};
}

/// With r^2 = x^2 + y^2:  r^2 a' = x y' - y x'  and  r^2 a'' + 2 (x x' + y y') a' = x y'' - y x''.
inline Jet atan2(const Jet& y, const Jet& x) {
  const double angle = std::atan2(y.value, x.value);
  if (is_constant(x) && is_constant(y)) return {angle};
  const double r2 = x.value * x.value + y.value * y.value;
  const double a1 = (x.value * y.d1 - y.value * x.d1) / r2;
  const double a2 = (x.value * y.d2 - y.value * x.d2 - 2.0 * (x.value * x.d1 + y.value * y.d1) * a1) / r2;
  return {angle, a1, a2};
}

/// A constant exponent keeps bases <= 0 differentiable wherever the power is; a moving one needs the logarithm.
inline Jet pow(const Jet& base, const Jet& exponent) {
  const double a = base.value;
  const double b = exponent.value;
  const double f = std::pow(a, b);
  if (is_constant(exponent)) {
    const double df = b == 0.0 ? 0.0 : b * std::pow(a, b - 1.0);
    const double ddf = b == 0.0 || b == 1.0 ? 0.0 : b * (b - 1.0) * std::pow(a, b - 2.0);
    return chain(base, f, df, ddf);
  }
  if (a == 0.0 && (is_constant(base) ? b > 0.0 : b > 2.0)) return {f};
  Jet power = exp(exponent * log(base));
  power.value = f;
  return power;
}

}  // namespace linkwork
