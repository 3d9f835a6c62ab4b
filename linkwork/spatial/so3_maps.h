#pragma once

#include <cmath>
#include <type_traits>

#include "linkwork/spatial/vector.h"

namespace linkwork::so3 {

/// The maps of so3.h that closures use, for any kind of numbers.

template <class S>
Vec3<S> log(const Mat3<S>& R) {
  using std::atan2;
  Eigen::Quaternion<S> q(R);
  if (q.w() < S(0.0)) q.coeffs() = -q.coeffs();
  const S s = q.vec().norm();
  if (s < S(1e-9)) return S(2.0) * q.vec();
  return (S(2.0) * atan2(s, q.w()) / s) * q.vec();
}

/// beta(x) of J = 1 - phi^/2 + beta phi^^2, and beta'(x)/x, where x = |phi|.
template <class S>
struct Beta {
  S value;
  S slope_over_x;
};

template <class S>
Beta<S> beta(const S& x) {
  using std::cos, std::sin;
  if (x < S(0.05)) {
    const S x2 = x * x;
    return {1.0 / 12.0 + x2 * (1.0 / 720.0 + x2 * (1.0 / 30240.0 + x2 / 1209600.0)),
            1.0 / 360.0 + x2 * (1.0 / 7560.0 + x2 * (1.0 / 201600.0 + x2 / 5987520.0))};
  }
  const S half = 0.5 * x;
  const S s = sin(half);
  const S half_cot = half * cos(half) / s;
  const S value = (1.0 - half_cot) / (x * x);
  // d(half_cot)/dx = cot(x/2)/2 - x/(4 sin^2(x/2))
  const S slope = (-(half_cot / x - x / (4.0 * s * s)) - 2.0 * x * value) / (x * x);
  return {value, slope / x};
}

template <class S>
Mat3<S> log_rate(const Vec3<S>& phi) {
  const Mat3<S> P = skew<S>(phi);
  return Mat3<S>::Identity() - S(0.5) * P + beta<S>(phi.norm()).value * P * P;
}

template <class S>
Mat3<S> log_rate_dot(const Vec3<S>& phi, const Vec3<S>& phidot) {
  const Mat3<S> P = skew<S>(phi);
  const Mat3<S> Pdot = skew<S>(phidot);
  const Beta<S> b = beta<S>(phi.norm());
  return S(-0.5) * Pdot + b.slope_over_x * phi.dot(phidot) * P * P + b.value * (Pdot * P + P * Pdot);
}

}  // namespace linkwork::so3
