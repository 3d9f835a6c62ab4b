#include "linkwork/model/relative_motion.h"

#include <cmath>
#include <numbers>

#include "linkwork/spatial/so3.h"

namespace linkwork {

using V3 = Vec3<double>;

Row translation_row(const RelativeMotion& m, const V3& e) { return {m.p.dot(e), V3::Zero(), e, 0.0}; }

namespace {

/// k(c) = acos(c) / sqrt(1 - c^2) with two derivatives, from (1-c^2) k' = c k - 1 and (1-c^2) k'' = 3 c k' + k;
/// near c = 1 by its series in x = 1 - c, whose coefficients obey a_n = n/(2n+1) a_{n-1}.
struct Kappa {
  double k, dk, ddk;
};

Kappa kappa(double c, double sine) {
  const double x = 1.0 - c;
  if (x < 0.05) {
    double a = 1.0, power0 = 1.0, power1 = 0.0, power2 = 0.0;
    Kappa r{0.0, 0.0, 0.0};
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
  const double s2 = sine * sine;
  const double k = std::atan2(sine, c) / sine;
  const double dk = (c * k - 1.0) / s2;
  return {k, dk, (3.0 * c * dk + k) / s2};
}

}  // namespace

void swing_rows(const RelativeMotion& m, Row& x, Row& y) {
  // With z = b's axis in a: the rotation vector is k(c) s, s = (-z_y, z_x), c = z_z, and zdot = w x z.
  const V3 z = m.R.col(2);
  const V3 zdot = m.w.cross(z);
  const V3 centripetal = m.w.cross(zdot);  // zddot - wdot x z
  const double c = z.z();
  const double sine = std::hypot(z.x(), z.y());
  if (c < 0.0 && sine < 1e-9) {  // opposite axes: a half turn about x, say
    x = {std::numbers::pi, V3::UnitX(), V3::Zero(), 0.0};
    y = {0.0, V3::UnitY(), V3::Zero(), 0.0};
    return;
  }
  const Kappa f = kappa(c, sine);
  const auto row = [&](const V3& e) {  // s component = e . z
    const double s = e.dot(z);
    const V3 direction = f.k * e + f.dk * s * V3::UnitZ();  // value rate = direction . zdot
    const double sdot = e.dot(zdot);
    return Row{f.k * s, z.cross(direction), V3::Zero(),
               direction.dot(centripetal) + 2.0 * f.dk * zdot.z() * sdot + f.ddk * zdot.z() * zdot.z() * s};
  };
  x = row(-V3::UnitY());
  y = row(V3::UnitX());
}

void rotation_rows(const RelativeMotion& m, Row& x, Row& y, Row& z) {
  const V3 phi = so3_log(m.R);
  const Mat3<double> J = so3_log_rate(phi);
  const V3 gamma = so3_log_rate_dot(phi, J * m.w) * m.w;
  Row* const rows[] = {&x, &y, &z};
  for (int i = 0; i < 3; ++i) *rows[i] = {phi[i], J.row(i).transpose(), V3::Zero(), gamma[i]};
}

Row perpendicular_row(const RelativeMotion& m) {
  // value = asin(s), s = x_a . y_b; its gradient is the unit normal n of both axes; sdot = cosine * (w . n).
  const V3 y = m.R.col(1);
  const double s = y.x();
  const V3 normal = y.cross(V3::UnitX());  // d s/dt = x_a . (w x y) = w . (y x x_a)
  const double cosine = normal.norm();
  if (cosine < 1e-9) return {std::copysign(0.5 * std::numbers::pi, s), V3::UnitY(), V3::Zero(), 0.0};
  const V3 ydot = m.w.cross(y);
  const double sdot = ydot.x();
  const double centripetal = m.w.cross(ydot).x();
  return {std::atan2(s, cosine), normal / cosine, V3::Zero(),
          centripetal / cosine + s * sdot * sdot / (cosine * cosine * cosine)};
}

Row twist_row(const RelativeMotion& m) {
  // R = swing * Rz(psi); psidot = w . g with g = (z_a + z_b) / (1 + c)
  const V3 z = m.R.col(2);
  const double one_plus_c = std::max(1.0 + z.z(), 1e-12);
  const V3 g = (V3::UnitZ() + z) / one_plus_c;
  const V3 zdot = m.w.cross(z);
  const V3 gdot = (zdot - zdot.z() * g) / one_plus_c;
  const double psi = std::atan2(m.R(1, 0) - m.R(0, 1), m.R(0, 0) + m.R(1, 1));
  return {psi, g, V3::Zero(), m.w.dot(gdot)};
}

Row combine(const Row& a, double fa, const Row& b, double fb) {
  return {fa * a.value + fb * b.value, fa * a.on_w + fb * b.on_w, fa * a.on_p + fb * b.on_p, fa * a.gamma + fb * b.gamma};
}

Row screw_row(const RelativeMotion& m, double pitch) {
  Row row = combine(translation_row(m, V3::UnitZ()), 1.0, twist_row(m), -pitch);
  row.value = pitch * std::remainder(row.value / pitch, 2.0 * std::numbers::pi);
  return row;
}

Row slip_row(const RelativeMotion& m, const V3& r, const V3& rdot, const V3& e, const V3& edot) {
  // e . (pdot + w x r), and its derivative
  return {0.0, r.cross(e), e, e.dot(m.w.cross(rdot)) + edot.dot(m.pdot + m.w.cross(r))};
}

Row distance_row(const RelativeMotion& m) {
  const double length = m.p.norm();
  if (length == 0.0) return {0.0, V3::Zero(), V3::UnitX(), 0.0};
  const V3 n = m.p / length;
  const V3 across = m.pdot - n * n.dot(m.pdot);
  return {length, V3::Zero(), n, across.squaredNorm() / length};
}

}  // namespace linkwork
