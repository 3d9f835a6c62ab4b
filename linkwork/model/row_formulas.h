#pragma once

#include <cmath>
#include <numbers>
#include <type_traits>

#include "linkwork/model/dual_motion.h"
#include "linkwork/spatial/so3_maps.h"

namespace linkwork::formulas {

/// The rows of relative_motion.h, once for numbers and for numbers with derivatives.

template <class M, class S = ScalarOf<M>>
RowOf<S> translation_row(const M& m, const Vec3<double>& e) {
  const Vec3<S> along = e.template cast<S>();
  return {m.p.dot(along), Vec3<S>::Zero(), along, S(0.0)};
}

/// k(c) = acos(c) / sqrt(1 - c^2) with two derivatives, from (1-c^2) k' = c k - 1 and (1-c^2) k'' = 3 c k' + k;
/// near c = 1 by its series in x = 1 - c, whose coefficients obey a_n = n/(2n+1) a_{n-1}.
template <class S>
struct Kappa {
  S k, dk, ddk;
};

template <class S>
Kappa<S> kappa(const S& c, const S& sine) {
  using std::atan2;
  const S x = 1.0 - c;
  if (x < S(0.05)) {
    double a = 1.0;
    S power0(1.0), power1(0.0), power2(0.0);
    Kappa<S> r{S(0.0), S(0.0), S(0.0)};
    for (int n = 0; n < 12; ++n) {
      if (n > 0) a *= n / (2.0 * n + 1.0);
      r.k += a * power0;
      r.dk -= a * n * power1;
      r.ddk += a * n * (n - 1) * power2;
      power2 = power1;
      power1 = power0;
      power0 *= x;
    }
    return r;
  }
  const S s2 = sine * sine;
  const S k = atan2(sine, c) / sine;
  const S dk = (c * k - 1.0) / s2;
  return {k, dk, (3.0 * c * dk + k) / s2};
}

template <class M, class S = ScalarOf<M>>
void swing_rows(const M& m, RowOf<S>& x, RowOf<S>& y) {
  using std::hypot;
  using V3 = Vec3<S>;
  // With z = b's axis in a: the rotation vector is k(c) s, s = (-z_y, z_x), c = z_z, and zdot = w x z.
  const V3 z = m.R.col(2);
  const V3 zdot = m.w.cross(z);
  const V3 centripetal = m.w.cross(zdot);  // zddot - wdot x z
  const S c = z.z();
  const S sine = hypot(z.x(), z.y());
  if (c < S(0.0) && sine < S(1e-9)) {  // opposite axes: a half turn about x, say
    x = {S(std::numbers::pi), V3::UnitX(), V3::Zero(), S(0.0)};
    y = {S(0.0), V3::UnitY(), V3::Zero(), S(0.0)};
    return;
  }
  const Kappa<S> f = kappa(c, sine);
  const auto row = [&](const V3& e) {  // s component = e . z
    const S s = e.dot(z);
    const V3 direction = f.k * e + f.dk * s * V3::UnitZ();  // value rate = direction . zdot
    const S sdot = e.dot(zdot);
    return RowOf<S>{f.k * s, z.cross(direction), V3::Zero(),
                    direction.dot(centripetal) + 2.0 * f.dk * zdot.z() * sdot + f.ddk * zdot.z() * zdot.z() * s};
  };
  x = row(-V3::UnitY());
  y = row(V3::UnitX());
}

template <class M, class S = ScalarOf<M>>
void rotation_rows(const M& m, RowOf<S>& x, RowOf<S>& y, RowOf<S>& z) {
  const Vec3<S> phi = so3::log<S>(m.R);
  const Mat3<S> J = so3::log_rate<S>(phi);
  const Vec3<S> gamma = so3::log_rate_dot<S>(phi, J * m.w) * m.w;
  RowOf<S>* const rows[] = {&x, &y, &z};
  for (int i = 0; i < 3; ++i) *rows[i] = {phi[i], J.row(i).transpose(), Vec3<S>::Zero(), gamma[i]};
}

template <class M, class S = ScalarOf<M>>
RowOf<S> perpendicular_row(const M& m) {
  using std::atan2;
  using V3 = Vec3<S>;
  // value = asin(s), s = x_a . y_b; its gradient is the unit normal n of both axes; sdot = cosine * (w . n).
  const V3 y = m.R.col(1);
  const S s = y.x();
  const V3 normal = y.cross(V3::UnitX());  // d s/dt = x_a . (w x y) = w . (y x x_a)
  const S cosine = normal.norm();
  if (cosine < S(1e-9))
    return {S(s < S(0.0) ? -0.5 * std::numbers::pi : 0.5 * std::numbers::pi), V3::UnitY(), V3::Zero(), S(0.0)};
  const V3 ydot = m.w.cross(y);
  const S sdot = ydot.x();
  const S centripetal = m.w.cross(ydot).x();
  return {atan2(s, cosine), normal / cosine, V3::Zero(), centripetal / cosine + s * sdot * sdot / (cosine * cosine * cosine)};
}

template <class M, class S = ScalarOf<M>>
RowOf<S> twist_row(const M& m) {
  using std::atan2;
  using V3 = Vec3<S>;
  // R = swing * Rz(psi); psidot = w . g with g = (z_a + z_b) / (1 + c)
  const V3 z = m.R.col(2);
  const S one_plus_c = at_least<S>(1.0 + z.z(), 1e-12);
  const V3 g = (V3::UnitZ() + z) / one_plus_c;
  const V3 zdot = m.w.cross(z);
  const V3 gdot = (zdot - zdot.z() * g) / one_plus_c;
  const S psi = atan2(m.R(1, 0) - m.R(0, 1), m.R(0, 0) + m.R(1, 1));
  return {psi, g, V3::Zero(), m.w.dot(gdot)};
}

template <class S>
RowOf<S> combine(const RowOf<S>& a, double fa, const RowOf<S>& b, double fb) {
  return {fa * a.value + fb * b.value, fa * a.on_w + fb * b.on_w, fa * a.on_p + fb * b.on_p, fa * a.gamma + fb * b.gamma};
}

template <class M, class S = ScalarOf<M>>
RowOf<S> screw_row(const M& m, double pitch) {
  using std::remainder;
  RowOf<S> row = combine<S>(translation_row(m, Vec3<double>::UnitZ()), 1.0, twist_row(m), -pitch);
  row.value = pitch * remainder(row.value / pitch, 2.0 * std::numbers::pi);
  return row;
}

template <class M, class S = ScalarOf<M>>
RowOf<S> slip_row(const M& m, const std::type_identity_t<Vec3<S>>& r, const std::type_identity_t<Vec3<S>>& rdot,
                  const std::type_identity_t<Vec3<S>>& e, const std::type_identity_t<Vec3<S>>& edot) {
  // e . (pdot + w x r), and its derivative
  return {S(0.0), r.cross(e), e, e.dot(m.w.cross(rdot)) + edot.dot(m.pdot + m.w.cross(r))};
}

template <class M, class S = ScalarOf<M>>
RowOf<S> distance_row(const M& m) {
  using V3 = Vec3<S>;
  const S length = m.p.norm();
  if (length == S(0.0)) return {S(0.0), V3::Zero(), V3::UnitX(), S(0.0)};
  const V3 n = m.p / length;
  const V3 across = m.pdot - n * n.dot(m.pdot);
  return {length, V3::Zero(), n, across.squaredNorm() / length};
}

}  // namespace linkwork::formulas
