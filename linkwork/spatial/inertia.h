#pragma once

#include "linkwork/spatial/motion.h"

namespace linkwork {

/// A symmetric 3x3 matrix by its six numbers.
template <class S>
struct Sym3 {
  S xx{0}, xy{0}, xz{0}, yy{0}, yz{0}, zz{0};

  static Sym3 of(const Mat3<S>& m) { return {m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)}; }
  Mat3<S> matrix() const {
    Mat3<S> m;
    m << xx, xy, xz, xy, yy, yz, xz, yz, zz;
    return m;
  }
  Vec3<S> operator*(const Vec3<S>& a) const {
    return {xx * a.x() + xy * a.y() + xz * a.z(), xy * a.x() + yy * a.y() + yz * a.z(), xz * a.x() + yz * a.y() + zz * a.z()};
  }
  Sym3& operator+=(const Sym3& o) {
    xx += o.xx, xy += o.xy, xz += o.xz, yy += o.yy, yz += o.yz, zz += o.zz;
    return *this;
  }
  /// Subtracts a a' / d.
  void downdate(const Vec3<S>& a, const Vec3<S>& a_over_d) {
    xx -= a.x() * a_over_d.x(), xy -= a.x() * a_over_d.y(), xz -= a.x() * a_over_d.z();
    yy -= a.y() * a_over_d.y(), yz -= a.y() * a_over_d.z(), zz -= a.z() * a_over_d.z();
  }
  S trace() const { return xx + yy + zz; }
};

/// A rigid body's inertia about a frame's origin: mass, first moment h = m c, and rotational inertia there.
struct RigidInertia {
  double mass = 0.0;
  Vec3<double> h = Vec3<double>::Zero();
  Sym3<double> I;

  static RigidInertia about_com(double mass, const Vec3<double>& com, const Mat3<double>& I_com) {
    const Mat3<double> c = skew(com);
    return {mass, mass * com, Sym3<double>::of(I_com - mass * c * c)};
  }
  /// The same body seen from frame A, when this is about B.
  RigidInertia seen_from(const Pose<double>& X_AB) const {
    const Vec3<double> h_A = X_AB.R * h;
    const Mat3<double> p = skew(X_AB.p);
    const Mat3<double> hx = skew(h_A);
    const Mat3<double> I_A = X_AB.R * I.matrix() * X_AB.R.transpose() - mass * p * p - p * hx - hx * p;
    return {mass, h_A + mass * X_AB.p, Sym3<double>::of(I_A)};
  }
  RigidInertia& operator+=(const RigidInertia& o) {
    mass += o.mass;
    h += o.h;
    I += o.I;
    return *this;
  }
  /// The wrench that a motion needs: angular velocity, angular acceleration, acceleration of the frame's origin.
  template <class S>
  Wrench<S> needed(const Vec3<S>& w, const Vec3<S>& aw, const Vec3<S>& ap) const {
    const Vec3<S> hs = h.template cast<S>();
    const Sym3<S> Is{S(I.xx), S(I.xy), S(I.xz), S(I.yy), S(I.yz), S(I.zz)};
    return {Is * aw + hs.cross(ap) + w.cross(Is * w), S(mass) * ap + aw.cross(hs) + w.cross(w.cross(hs))};
  }
  /// Momentum of a twist, or force of an acceleration.
  template <class S>
  Wrench<S> apply(const Vec3<S>& w, const Vec3<S>& v) const {
    const Vec3<S> hs = h.template cast<S>();
    const Sym3<S> Is{S(I.xx), S(I.xy), S(I.xz), S(I.yy), S(I.yz), S(I.zz)};
    return {Is * w + hs.cross(v), S(mass) * v - hs.cross(w)};
  }
};

/// An articulated body's inertia as three blocks: n = I w + H v, f = H' w + M v.
template <class S>
struct ArticulatedInertia {
  Sym3<S> I;
  Mat3<S> H = Mat3<S>::Zero();
  Sym3<S> M;

  static ArticulatedInertia of(const RigidInertia& r) {
    ArticulatedInertia a;
    a.I = {S(r.I.xx), S(r.I.xy), S(r.I.xz), S(r.I.yy), S(r.I.yz), S(r.I.zz)};
    a.H = skew<S>(r.h.cast<S>());
    a.M = {S(r.mass), S(0), S(0), S(r.mass), S(0), S(r.mass)};
    return a;
  }
  ArticulatedInertia& operator+=(const ArticulatedInertia& o) {
    I += o.I;
    H += o.H;
    M += o.M;
    return *this;
  }
  Mat6<S> matrix() const {
    Mat6<S> m;
    m << I.matrix(), H, H.transpose(), M.matrix();
    return m;
  }
};

}  // namespace linkwork
