#pragma once

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// Maps of the rotation group used at build time and by closures (double only: none is on the tree's hot path).

/// Rotation by the vector phi (angle = its length).
Mat3<double> so3_exp(const Vec3<double>& phi);

/// The rotation vector of R, its length in [0, pi].
Vec3<double> so3_log(const Mat3<double>& R);

/// For phi = log(R) with angular velocity w expressed in the frame R rotates from: phidot = J(phi) w.
Mat3<double> so3_log_rate(const Vec3<double>& phi);
/// The time derivative of that J along phidot.
Mat3<double> so3_log_rate_dot(const Vec3<double>& phi, const Vec3<double>& phidot);

/// A rotation that turns z into the unit vector axis: the smallest one, and the half turn about x for -z.
Mat3<double> rotation_from_z(const Vec3<double>& axis);

/// R = Rz(gamma) Rx(alpha) Rz(theta). When alpha is 0 or pi, gamma = 0.
struct ZxzAngles {
  double gamma;
  double alpha;
  double theta;
};
ZxzAngles zxz_angles(const Mat3<double>& R);

}  // namespace linkwork
