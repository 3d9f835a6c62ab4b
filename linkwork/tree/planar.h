#pragma once

#include "linkwork/spatial/lanes.h"
#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// The steps of the recursions for planar nodes (Node::planar). They turn about z and move along x and y only, so that of
/// motions (w.z, v.x, v.y) count, of wrenches (n.z, f.x, f.y) and of inertias I.zz, H(2, 0), H(2, 1), M.xx, M.xy and M.yy. The
/// other components of motions are zero, those of wrenches and inertias are of no consequence.
namespace planar {

/// What an articulated body keeps of a direction in which it is massless, by rounding: relative to its usual inertia.
inline constexpr double kMassless = 1e-12;

template <class S>
struct Vec2 {
  S x, y;
};

template <class S>
inline Vec2<S> to_parent(const NodeWork<S>& a, S x, S y) {
  return {a.cq * x - a.sq * y, a.sq * x + a.cq * y};
}
template <class S>
inline Vec2<S> to_child(const NodeWork<S>& a, S x, S y) {
  return {a.cq * x + a.sq * y, a.cq * y - a.sq * x};
}

/// Pose in the plane, from the parent's.
template <class S>
inline PlanePose<S> placed(const PlanePose<S>& X, const NodeWork<S>& a) {
  return {X.c * a.cq - X.s * a.sq, X.s * a.cq + X.c * a.sq, X.x + (X.c * a.p.x() - X.s * a.p.y()),
          X.y + (X.s * a.p.x() + X.c * a.p.y())};
}

/// Velocities and bias accelerations. The angular one is zero.
template <class S>
inline void move(const NodeWork<S>& parent, NodeWork<S>& a, S rate) {
  const S w = parent.w.z(), ww = w * w, px = a.p.x(), py = a.p.y();
  const Vec2<S> v = to_child(a, parent.v.x() - w * py, parent.v.y() + w * px);
  const Vec2<S> ap = to_child(a, parent.ap.x() - ww * px, parent.ap.y() - ww * py);
  a.w.z() = w + rate;
  a.v.x() = v.x, a.v.y() = v.y;
  a.ap = {ap.x, ap.y, parent.ap.z()};
}

/// The wrench that the bias motion needs.
template <class N, class S>
inline void need_wrench(const N& node, NodeWork<S>& a) {
  const S m(node.inertia.mass), hx(node.inertia.h.x()), hy(node.inertia.h.y()), ww = a.w.z() * a.w.z();
  a.n = {S(0), S(0), hx * a.ap.y() - hy * a.ap.x()};
  a.f = {m * a.ap.x() - ww * hx, m * a.ap.y() - ww * hy, S(0)};
}

/// Factors the joint's own inertia, U and D; false, and nothing done, if there is none: of lanes, those that have none become
/// NaN. What is not planar on it, slides say, has left its inertia in I.xx and I.yy as well.
template <class N, class S>
inline bool factor(const N& node, NodeWork<S>& a) {
  const S D = a.IA.I.zz;
  const auto is_enough = D > S(kMassless) * (S(node.usual_inertia) + a.IA.I.xx + a.IA.I.yy);
  if constexpr (!kIsLanes<S>)
    if (!is_enough) return false;
  a.Uw.z() = D;
  a.Uf.x() = a.IA.H(2, 0), a.Uf.y() = a.IA.H(2, 1);
  if constexpr (kIsLanes<S>)
    a.Dinv = select(is_enough, S(1) / D, S(kNoNumber));
  else
    a.Dinv = S(1) / D;
  return true;
}

/// Hands what the joint leaves of the inertia to the parent.
template <class S>
inline void project(const NodeWork<S>& a, ArticulatedInertia<S>& parent) {
  const S hx = a.Uf.x(), hy = a.Uf.y(), kx = a.Dinv * hx, ky = a.Dinv * hy;
  const Sym3<S>& M = a.IA.M;
  const S xx = M.xx - kx * hx, xy = M.xy - kx * hy, yy = M.yy - ky * hy;
  const S cs = a.cq * a.sq, ss = a.sq * a.sq, shift = ss * (yy - xx) - S(2) * cs * xy;
  const S Mxx = xx + shift, Myy = yy - shift, Mxy = cs * (xx - yy) + (S(1) - S(2) * ss) * xy;
  const S px = a.p.x(), py = a.p.y(), hzx = px * Mxy - py * Mxx, hzy = px * Myy - py * Mxy;
  parent.M.xx += Mxx, parent.M.xy += Mxy, parent.M.yy += Myy;
  parent.H(2, 0) += hzx, parent.H(2, 1) += hzy;
  parent.I.zz += px * hzy - py * hzx;
}

/// Hands the wrench (n, f) + U y to the parent: what the joint leaves of (n, f).
template <class S>
inline void reduce(const NodeWork<S>& a, const Vec3<S>& n, const Vec3<S>& f, S y, Vec3<S>& parent_n, Vec3<S>& parent_f) {
  const Vec2<S> left = to_parent(a, f.x() + y * a.Uf.x(), f.y() + y * a.Uf.y());
  parent_n.z() += (n.z() + y * a.Uw.z()) + (a.p.x() * left.y - a.p.y() * left.x);
  parent_f.x() += left.x, parent_f.y() += left.y;
}

/// The joint's acceleration, and the node's.
template <class S>
inline S accelerate(const NodeWork<S>& parent, NodeWork<S>& a, S u) {
  const S dw = parent.dw.z();
  const Vec2<S> dv = to_child(a, parent.dv.x() - dw * a.p.y(), parent.dv.y() + dw * a.p.x());
  const S x = a.Dinv * ((u - a.Uw.z() * dw) - (a.Uf.x() * dv.x + a.Uf.y() * dv.y));
  a.dw.z() = dw + x;
  a.dv.x() = dv.x, a.dv.y() = dv.y;
  return x;
}

}  // namespace planar

}  // namespace linkwork
