#include "linkwork/spatial/so3.h"

#include <cmath>
#include <numbers>

#include "linkwork/spatial/so3_maps.h"

namespace linkwork {

Mat3<double> so3_exp(const Vec3<double>& phi) {
  const double angle = phi.norm();
  if (angle == 0.0) return Mat3<double>::Identity();
  return Eigen::AngleAxisd(angle, phi / angle).toRotationMatrix();
}

Vec3<double> so3_log(const Mat3<double>& R) { return so3::log<double>(R); }

Mat3<double> so3_log_rate(const Vec3<double>& phi) { return so3::log_rate<double>(phi); }

Mat3<double> so3_log_rate_dot(const Vec3<double>& phi, const Vec3<double>& phidot) {
  return so3::log_rate_dot<double>(phi, phidot);
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
