#include "linkwork/spatial/so3.h"

#include <cmath>
#include <numbers>

namespace linkwork {

Mat3<double> so3_exp(const Vec3<double>& phi) {
  const double angle = phi.norm();
  if (angle == 0.0) return Mat3<double>::Identity();
  return Eigen::AngleAxisd(angle, phi / angle).toRotationMatrix();
}

Vec3<double> so3_log(const Mat3<double>& R) {
  Quat q(R);
  if (q.w() < 0.0) q.coeffs() = -q.coeffs();
  const double s = q.vec().norm();
  if (s < 1e-9) return 2.0 * q.vec();
  return (2.0 * std::atan2(s, q.w()) / s) * q.vec();
}

namespace {

/// beta(x) of J = 1 - phi^/2 + beta phi^^2, and beta'(x)/x, where x = |phi|.
struct Beta {
  double value;
  double slope_over_x;
};

Beta beta(double x) {
  if (x < 0.05) {
    const double x2 = x * x;
    return {1.0 / 12.0 + x2 * (1.0 / 720.0 + x2 * (1.0 / 30240.0 + x2 / 1209600.0)),
            1.0 / 360.0 + x2 * (1.0 / 7560.0 + x2 * (1.0 / 201600.0 + x2 / 5987520.0))};
  }
  const double half = 0.5 * x;
  const double s = std::sin(half);
  const double half_cot = half * std::cos(half) / s;
  const double value = (1.0 - half_cot) / (x * x);
  // d(half_cot)/dx = cot(x/2)/2 - x/(4 sin^2(x/2))
  const double slope = (-(half_cot / x - x / (4.0 * s * s)) - 2.0 * x * value) / (x * x);
  return {value, slope / x};
}

}  // namespace

Mat3<double> so3_log_rate(const Vec3<double>& phi) {
  const Mat3<double> P = skew(phi);
  return Mat3<double>::Identity() - 0.5 * P + beta(phi.norm()).value * P * P;
}

Mat3<double> so3_log_rate_dot(const Vec3<double>& phi, const Vec3<double>& phidot) {
  const Mat3<double> P = skew(phi);
  const Mat3<double> Pdot = skew(phidot);
  const Beta b = beta(phi.norm());
  return -0.5 * Pdot + b.slope_over_x * phi.dot(phidot) * P * P + b.value * (Pdot * P + P * Pdot);
}

Mat3<double> rotation_from_z(const Vec3<double>& axis) {
  const Vec3<double> s = Vec3<double>::UnitZ().cross(axis);
  if (axis.z() < 0.0 && s.squaredNorm() < 1e-20) return Vec3<double>(1.0, -1.0, -1.0).asDiagonal();
  const double one_plus_z = axis.z() < 0.0 ? s.squaredNorm() / (1.0 - axis.z()) : 1.0 + axis.z();  // without cancellation
  const Mat3<double> Sx = skew(s);
  return Mat3<double>::Identity() + Sx + Sx * Sx / one_plus_z;
}

ZxzAngles zxz_angles(const Mat3<double>& R) {
  // R(0,2) = sin(gamma) sin(alpha), R(1,2) = -cos(gamma) sin(alpha), R(2,0) = sin(alpha) sin(theta), R(2,1) = sin(alpha)
  // cos(theta)
  const double sin_alpha = std::hypot(R(0, 2), R(1, 2));
  if (sin_alpha < 1e-14) {
    const bool flipped = R(2, 2) < 0.0;
    return {0.0, flipped ? std::numbers::pi : 0.0, flipped ? std::atan2(-R(0, 1), R(0, 0)) : std::atan2(R(1, 0), R(0, 0))};
  }
  return {std::atan2(R(0, 2), -R(1, 2)), std::atan2(sin_alpha, R(2, 2)), std::atan2(R(2, 0), R(2, 1))};
}

}  // namespace linkwork
