#pragma once

#include "linkwork/spatial/vector.h"

namespace linkwork {

/// X_AB: where frame B is in frame A. Letters cancel: X_AC = X_AB * X_BC, and p_A = X_AB * p_B.
template <class S>
struct Pose {
  Mat3<S> R = Mat3<S>::Identity();
  Vec3<S> p = Vec3<S>::Zero();

  Pose operator*(const Pose& other) const { return {R * other.R, p + R * other.p}; }
  Vec3<S> operator*(const Vec3<S>& point) const { return p + R * point; }
  Pose inverse() const { return {R.transpose(), -(R.transpose() * p)}; }
};

}  // namespace linkwork
