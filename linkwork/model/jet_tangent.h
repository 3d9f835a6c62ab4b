#pragma once

#include "linkwork/model/jet_math.h"

namespace linkwork {

/// A jet, and how it changes in one direction beside its own: third derivatives, twice in time and once by the state.
struct JetTangent {
  Jet f, df;

  JetTangent() = default;
  JetTangent(double value) : f(value) {}  // NOLINT: a number does not change
  JetTangent(const Jet& at, const Jet& change) : f(at), df(change) {}
};

inline bool is_zero(const Jet& a) { return a.value == 0.0 && is_constant(a); }
/// slope * change, without infinity * 0 where nothing changes.
inline Jet moved(const Jet& slope, const Jet& change) { return is_zero(change) ? Jet() : slope * change; }

inline JetTangent operator-(const JetTangent& a) { return {-a.f, -a.df}; }
inline JetTangent operator+(const JetTangent& a, const JetTangent& b) { return {a.f + b.f, a.df + b.df}; }
inline JetTangent operator-(const JetTangent& a, const JetTangent& b) { return {a.f - b.f, a.df - b.df}; }
inline JetTangent operator*(const JetTangent& a, const JetTangent& b) { return {a.f * b.f, a.df * b.f + a.f * b.df}; }
inline JetTangent operator/(const JetTangent& a, const JetTangent& b) {
  const Jet quotient = a.f / b.f;
  return {quotient, (a.df - quotient * b.df) / b.f};
}

inline JetTangent sin(const JetTangent& a) { return {sin(a.f), moved(cos(a.f), a.df)}; }
inline JetTangent cos(const JetTangent& a) { return {cos(a.f), moved(-sin(a.f), a.df)}; }
inline JetTangent tan(const JetTangent& a) {
  const Jet f = tan(a.f);
  return {f, moved(Jet(1.0) + f * f, a.df)};
}
inline JetTangent asin(const JetTangent& a) { return {asin(a.f), moved(Jet(1.0) / sqrt(Jet(1.0) - a.f * a.f), a.df)}; }
inline JetTangent acos(const JetTangent& a) { return {acos(a.f), moved(Jet(-1.0) / sqrt(Jet(1.0) - a.f * a.f), a.df)}; }
inline JetTangent atan(const JetTangent& a) { return {atan(a.f), moved(Jet(1.0) / (Jet(1.0) + a.f * a.f), a.df)}; }
inline JetTangent sinh(const JetTangent& a) { return {sinh(a.f), moved(cosh(a.f), a.df)}; }
inline JetTangent cosh(const JetTangent& a) { return {cosh(a.f), moved(sinh(a.f), a.df)}; }
inline JetTangent tanh(const JetTangent& a) {
  const Jet f = tanh(a.f);
  return {f, moved(Jet(1.0) - f * f, a.df)};
}
inline JetTangent exp(const JetTangent& a) {
  const Jet f = exp(a.f);
  return {f, moved(f, a.df)};
}
inline JetTangent log(const JetTangent& a) { return {log(a.f), moved(Jet(1.0) / a.f, a.df)}; }
inline JetTangent log10(const JetTangent& a) { return {log10(a.f), moved(Jet(1.0 / std::log(10.0)) / a.f, a.df)}; }
inline JetTangent sqrt(const JetTangent& a) {
  const Jet f = sqrt(a.f);
  return {f, moved(Jet(0.5) / f, a.df)};
}
inline JetTangent abs(const JetTangent& a) { return {abs(a.f), a.f.value > 0.0 ? a.df : a.f.value < 0.0 ? -a.df : Jet()}; }
inline JetTangent floor(const JetTangent& a) { return {floor(a.f), Jet()}; }
inline JetTangent ceil(const JetTangent& a) { return {ceil(a.f), Jet()}; }
inline JetTangent hypot(const JetTangent& x, const JetTangent& y) {
  const Jet h = hypot(x.f, y.f);
  return {h, moved(x.f / h, x.df) + moved(y.f / h, y.df)};
}
inline JetTangent atan2(const JetTangent& y, const JetTangent& x) {
  const Jet r2 = x.f * x.f + y.f * y.f;
  return {atan2(y.f, x.f), moved(x.f / r2, y.df) - moved(y.f / r2, x.df)};
}
inline JetTangent pow(const JetTangent& a, const JetTangent& b) {
  const Jet f = pow(a.f, b.f);
  Jet change = b.f.value == 0.0 && is_constant(b.f) ? Jet() : moved(b.f * pow(a.f, b.f - Jet(1.0)), a.df);
  if (!is_zero(b.df)) change = change + moved(f * log(a.f), b.df);
  return {f, change};
}

}  // namespace linkwork
