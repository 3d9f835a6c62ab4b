#pragma once

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Terms of closures whose rows hold a point of b along fixed directions of a (ClosureRows), for any kind of numbers. r_a and r_b
/// are the closure's points in their nodes, e the directions in the node of a.
namespace point_rows {

/// B as seen from A.
template <class S>
inline PlanePose<S> between(const PlanePose<S>& A, const PlanePose<S>& B) {
  const S dx = B.x - A.x, dy = B.y - A.y;
  return {A.c * B.c + A.s * B.s, A.c * B.s - A.s * B.c, A.c * dx + A.s * dy, A.c * dy - A.s * dx};
}

/// phi and columns of the first `count` rows, in space.
template <class S, class Columns>
inline void set_positions(const Pose<S>& X_AB, const Vec3<S>& r_a, const Vec3<S>& r_b, const Vec3<S>* e, int count, S* phi,
                          Columns& columns) {
  const Vec3<S> p = X_AB * r_b, gap = p - r_a;
  for (int r = 0; r < count; ++r) {
    const Vec3<S> f_b = X_AB.R.transpose() * e[r];
    phi[r] = e[r].dot(gap);
    columns.wrench(0, r) = {e[r].cross(p), -e[r]};
    columns.wrench(1, r) = {r_b.cross(f_b), f_b};
  }
}

/// The same with turns about z only, r_b being `height` above the node of a.
template <class S, class Columns>
inline void set_positions(const PlanePose<S>& X, const S& height, const Vec3<S>& r_a, const Vec3<S>& r_b, const Vec3<S>* e,
                          int count, S* phi, Columns& columns) {
  const Vec3<S> p(X.x + (X.c * r_b.x() - X.s * r_b.y()), X.y + (X.s * r_b.x() + X.c * r_b.y()), height);
  for (int r = 0; r < count; ++r) {
    const Vec3<S> f_b(X.c * e[r].x() + X.s * e[r].y(), X.c * e[r].y() - X.s * e[r].x(), e[r].z());
    phi[r] = e[r].dot(p - r_a);
    columns.wrench(0, r) = {e[r].cross(p), -e[r]};
    columns.wrench(1, r) = {r_b.cross(f_b), f_b};
  }
}

/// A v and b of rows of planar nodes a and b.
template <class S>
inline void set_motion(const PlanePose<S>& X, const NodeWork<S>& a, const NodeWork<S>& b, const Vec3<S>& r_b, const Vec3<S>* e,
                       int count, S* rate, S* rhs) {
  const S rx = r_b.x(), ry = r_b.y();
  const S px = X.x + (X.c * rx - X.s * ry), py = X.y + (X.s * rx + X.c * ry);
  const S wa = a.w.z(), wb = b.w.z(), waa = wa * wa, wbb = wb * wb;
  const S ux = b.v.x() - wb * ry, uy = b.v.y() + wb * rx;
  const S vx = (X.c * ux - X.s * uy) - a.v.x() + wa * py, vy = (X.s * ux + X.c * uy) - a.v.y() - wa * px;
  const S gx = b.ap.x() - wbb * rx, gy = b.ap.y() - wbb * ry;
  const S ax = (X.c * gx - X.s * gy) - a.ap.x() + waa * px + S(2.0) * wa * vy;
  const S ay = (X.s * gx + X.c * gy) - a.ap.y() + waa * py - S(2.0) * wa * vx;
  for (int r = 0; r < count; ++r) {
    rate[r] = e[r].x() * vx + e[r].y() * vy;
    rhs[r] = -(e[r].x() * ax + e[r].y() * ay);
  }
}

}  // namespace point_rows

}  // namespace linkwork
