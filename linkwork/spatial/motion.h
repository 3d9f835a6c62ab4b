#pragma once

#include "linkwork/spatial/pose.h"

namespace linkwork {

/// Six-vectors, angular part first. Distinct types, so that a wrong sum does not compile. Each belongs to a frame: expressed in
/// its axes and taken at its origin.
template <class S>
struct Twist {
  Vec3<S> w = Vec3<S>::Zero();
  Vec3<S> v = Vec3<S>::Zero();
  Twist operator+(const Twist& o) const { return {w + o.w, v + o.v}; }
};

/// Featherstone's spatial acceleration: the derivative of the twist's coordinates in its own frame.
template <class S>
struct Acceleration {
  Vec3<S> w = Vec3<S>::Zero();
  Vec3<S> v = Vec3<S>::Zero();
  Acceleration operator+(const Acceleration& o) const { return {w + o.w, v + o.v}; }
};

template <class S>
struct Wrench {
  Vec3<S> n = Vec3<S>::Zero();  // moment about the frame's origin
  Vec3<S> f = Vec3<S>::Zero();
  Wrench operator+(const Wrench& o) const { return {n + o.n, f + o.f}; }
  Wrench operator-() const { return {-n, -f}; }
  Wrench& operator+=(const Wrench& o) {
    n += o.n;
    f += o.f;
    return *this;
  }
};

template <class S>
S power(const Wrench<S>& F, const Twist<S>& V) {
  return F.n.dot(V.w) + F.f.dot(V.v);
}

/// A wrench in frame B, seen from frame A.
template <class S>
Wrench<S> operator*(const Pose<S>& X_AB, const Wrench<S>& F_B) {
  const Vec3<S> f = X_AB.R * F_B.f;
  return {X_AB.R * F_B.n + X_AB.p.cross(f), f};
}

/// The twist of a frame B fixed to A, from that of A.
template <class S>
Twist<S> shift(const Twist<S>& V_A, const Pose<S>& X_AB) {
  return {X_AB.R.transpose() * V_A.w, X_AB.R.transpose() * (V_A.v + V_A.w.cross(X_AB.p))};
}
template <class S>
Acceleration<S> shift(const Acceleration<S>& A_A, const Pose<S>& X_AB) {
  return {X_AB.R.transpose() * A_A.w, X_AB.R.transpose() * (A_A.v + A_A.w.cross(X_AB.p))};
}

}  // namespace linkwork
