#pragma once

#include <cmath>

#include "linkwork/spatial/lanes.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/link_rotation.h"
#include "linkwork/tree/planar.h"

/// The recursions of kinematics.h for any tree and any kind of numbers. To be compiled in few places.
namespace linkwork::recursions {

/// Of a quaternion (w, x, y, z), which need not be of unit length.
template <class S>
Mat3<S> rotation_of(const S* q) {
  if constexpr (kIsLanes<S>) {
    const S length = sqrt((q[1] * q[1] + q[2] * q[2]) + (q[3] * q[3] + q[0] * q[0]));
    const S w = q[0] / length, x = q[1] / length, y = q[2] / length, z = q[3] / length;
    const S tx = S(2) * x, ty = S(2) * y, tz = S(2) * z, twx = tx * w, twy = ty * w, twz = tz * w;
    const S txx = tx * x, txy = ty * x, txz = tz * x, tyy = ty * y, tyz = tz * y, tzz = tz * z;
    Mat3<S> R;
    R << S(1) - (tyy + tzz), txy - twz, txz + twy, txy + twz, S(1) - (txx + tzz), tyz - twx, txz - twy, tyz + twx,
        S(1) - (txx + tyy);
    return R;
  } else {
    return Eigen::Quaternion<S>(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
  }
}

/// R_WN from R_WP by turning columns: R_WP Rz(gamma) Rx(alpha) Rz(theta).
template <class N, class S>
Mat3<S> turned(const Mat3<S>& R_WP, const N& node, const NodeWork<S>& work) {
  Mat3<S> R = R_WP;
  const auto turn = [&R](int i, int j, S c, S s) {
    const Vec3<S> a = R.col(i);
    R.col(i) = c * a + s * R.col(j);
    R.col(j) = c * R.col(j) - s * a;
  };
  if (node.has_gamma) turn(0, 1, S(node.cg), S(node.sg));
  if (node.has_alpha) turn(1, 2, S(node.ca), S(node.sa));
  turn(0, 1, work.cq, work.sq);
  return R;
}

template <class S, class N>
Vec3<S> axis_in_parent(const N& node) {
  return {S(node.sg * node.sa), S(-node.cg * node.sa), S(node.ca)};
}

/// Joints other than revolute ones.
template <class T, class S>
[[gnu::noinline]] void place_other(const T& tree, TreeWork<S>& work, int i, const S* qi) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  NodeWork<S>& a = work[i];
  a.p = node.p.template cast<S>();
  if (velocity_count(node.kind) == 1) {
    if (node.kind == NodeKind::kHelical) sin_cos(S(node.theta0) + qi[0], a.sq, a.cq);
    a.p += (S(joint_axis(node).slide) * qi[0]) * axis_in_parent<S>(node);
    return;
  }
  BlockWork<S>& block = work.block(i);
  const Mat3<S> R_PF = node.R_PF.template cast<S>();
  const bool floats = node.kind == NodeKind::kFree;
  block.Rq = rotation_of(qi + (floats ? 3 : 0));
  block.R = R_PF * block.Rq;
  if (floats) a.p += R_PF * Eigen::Map<const Vec3<S>>(qi);
}

/// Where node i is in its parent.
template <class T, class S>
[[gnu::always_inline]] inline void place(const T& tree, TreeWork<S>& work, int i, const S* q) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (node.kind != NodeKind::kRevolute) return place_other(tree, work, i, q + node.q);
  NodeWork<S>& a = work[i];
  sin_cos(S(node.theta0) + q[node.q], a.sq, a.cq);
  if (!node.planar) return;
  if (node.parent == 0)
    a.in_plane.c = a.cq, a.in_plane.s = a.sq;
  else
    a.in_plane = planar::placed(work[node.parent].in_plane, a);
}

/// Joints other than revolute ones.
template <class T, class S>
[[gnu::noinline]] void move_other(const T& tree, TreeWork<S>& work, int i, const S* vi) {
  NodeWork<S>& a = work[i];
  const NodeWork<S>& parent = work[tree.nodes[static_cast<std::size_t>(i)].parent];
  const Vec3<S> turning = parent.w.cross(a.p);
  a.w = parent.w, a.v = parent.v + turning;
  a.aw = parent.aw, a.ap = parent.ap + parent.aw.cross(a.p) + parent.w.cross(turning);
  link::axes_to_child(tree, work, i, a.w, a.v, a.aw, a.ap);
  Vec3<S> w = Vec3<S>::Zero(), l = Vec3<S>::Zero();
  add_joint_motion(tree, work, i, vi, w, l);
  a.aw += a.w.cross(w);
  a.ap += S(2) * a.w.cross(l);
  a.w += w, a.v += l;
}

/// Velocities and bias accelerations of node i.
template <class T, class S>
[[gnu::always_inline]] inline void move(const T& tree, TreeWork<S>& work, int i, const S* v) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (node.kind != NodeKind::kRevolute) return move_other(tree, work, i, v + node.v);
  NodeWork<S>& a = work[i];
  const NodeWork<S>& parent = work[node.parent];
  const S rate = v[node.v];
  Vec3<S> ap = link::copy(parent.ap);
  if (node.parent == 0) {
    link::to_child(node, a, ap);
    a.w.z() = rate;
    a.ap = ap;
    return;
  }
  if (node.planar) return planar::move(parent, a, rate);
  Vec3<S> w = link::copy(parent.w), aw = link::copy(parent.aw);
  const Vec3<S> turning = w.cross(a.p);
  Vec3<S> l = parent.v + turning;
  ap += aw.cross(a.p) + w.cross(turning);
  link::to_child(node, a, w, l, aw, ap);
  a.w = {w.x(), w.y(), w.z() + rate};
  a.v = l;
  a.aw = {aw.x() + w.y() * rate, aw.y() - w.x() * rate, aw.z()};
  a.ap = ap;
}

template <class T, class S>
void update_positions(const T& tree, const S* q, TreeWork<S>& work) {
  work.poses_current = false;
  for (int i = 1; i < tree.size(); ++i) place(tree, work, i, q);
}

template <class T, class S>
void update_velocities(const T& tree, const S* v, TreeWork<S>& work) {
  for (int i = 1; i < tree.size(); ++i) move(tree, work, i, v);
}

template <class T, class S>
void update_motion(const T& tree, const S* q, const S* v, TreeWork<S>& work) {
  work.poses_current = false;
  for (int i = 1; i < tree.size(); ++i) {
    place(tree, work, i, q);
    move(tree, work, i, v);
  }
}

template <class T, class S>
void update_poses(const T& tree, TreeWork<S>& work) {
  if (work.poses_current) return;
  work.poses_current = true;
  for (int i = 1; i < tree.size(); ++i) {
    const auto& node = tree.nodes[static_cast<std::size_t>(i)];
    const Pose<S>& parent = work.X_WN[static_cast<std::size_t>(node.parent)];
    Pose<S>& X = work.X_WN[static_cast<std::size_t>(i)];
    X.R = velocity_count(node.kind) == 1 ? turned(parent.R, node, work[i]) : Mat3<S>(parent.R * work.block(i).R);
    X.p = parent.p + parent.R * work[i].p;
  }
}

template <class T, class S>
void update_accelerations(const T& tree, const S* vdot, TreeWork<S>& work) {
  for (int i = 1; i < tree.size(); ++i) {
    const auto& node = tree.nodes[static_cast<std::size_t>(i)];
    NodeWork<S>& a = work[i];
    a.dw = work[node.parent].dw, a.dv = work[node.parent].dv;
    link::motion_to_child(tree, work, i, a.dw, a.dv);
    add_joint_motion(tree, work, i, vdot + node.v, a.dw, a.dv);
  }
}

template <class T, class S>
void position_rates(const T& tree, const S* q, const S* v, S* qdot) {
  for (int i = 1; i < tree.size(); ++i) {
    const auto& node = tree.nodes[static_cast<std::size_t>(i)];
    const S* qi = q + node.q;
    const S* vi = v + node.v;
    S* out = qdot + node.q;
    if (velocity_count(node.kind) == 1) {
      out[0] = vi[0];
      continue;
    }
    if (node.kind == NodeKind::kFree) {
      for (int k = 0; k < 3; ++k) out[k] = vi[k];
      qi += 3, vi += 3, out += 3;
    }
    const S h(0.5);
    out[0] = h * (-qi[1] * vi[0] - qi[2] * vi[1] - qi[3] * vi[2]);
    out[1] = h * (qi[0] * vi[0] + qi[2] * vi[2] - qi[3] * vi[1]);
    out[2] = h * (qi[0] * vi[1] + qi[3] * vi[0] - qi[1] * vi[2]);
    out[3] = h * (qi[0] * vi[2] + qi[1] * vi[1] - qi[2] * vi[0]);
  }
}

}  // namespace linkwork::recursions
