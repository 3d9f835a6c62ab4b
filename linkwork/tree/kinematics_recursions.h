#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

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
[[gnu::always_inline]] inline void turn_columns(const Mat3<S>& R_WP, const N& node, const NodeWork<S>& work, Mat3<S>& R) {
  Vec3<S> x = R_WP.col(0), y = R_WP.col(1), z = R_WP.col(2);
  const auto turn = [](Vec3<S>& a, Vec3<S>& b, S c, S s) {
    const Vec3<S> before = a;
    a = c * before + s * b;
    b = c * b - s * before;
  };
  const auto quarter_turn = [](Vec3<S>& a, Vec3<S>& b, S s) {
    const Vec3<S> before = a;
    a = s * b;
    b = -s * before;
  };
  if (node.has_gamma) link::has_quarter_gamma(node) ? quarter_turn(x, y, S(node.sg)) : turn(x, y, S(node.cg), S(node.sg));
  if (node.has_alpha) node.right_angle ? quarter_turn(y, z, S(node.sa)) : turn(y, z, S(node.ca), S(node.sa));
  turn(x, y, work.cq, work.sq);
  R.col(0) = x, R.col(1) = y, R.col(2) = z;
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

template <class N>
constexpr bool turns_about_axis(const N& node) {
  return node.kind == NodeKind::kRevolute || node.kind == NodeKind::kHelical;
}

/// Angles of doubles that are turned by together.
using FourAngles = LanesOf<4>;

/// Cosines and sines of the joints' angles, of a few nodes from the first on: of doubles several at a time.
template <class T, class S>
[[gnu::always_inline]] inline void turn(const T& tree, TreeWork<S>& work, int first, int last, const S* q) {
  const auto* const node = tree.nodes.data() + first;
  NodeWork<S>* const a = work.nodes.data() + first;
  if constexpr (std::is_same_v<S, double>) {
    const auto angle = [&](int k) { return k < last - first && turns_about_axis(node[k]) ? node[k].theta0 + q[node[k].q] : 0.0; };
    FourAngles sine, cosine;
    sin_cos(FourAngles(FourAngles::Vector{angle(0), angle(1), angle(2), angle(3)}), sine, cosine);
    for (int k = 0; k < std::min(last - first, FourAngles::kCount); ++k)
      if (turns_about_axis(node[k])) a[k].cq = cosine[k], a[k].sq = sine[k];
  } else {
    for (int k = 0; k < last - first; ++k)
      if (turns_about_axis(node[k])) sin_cos(S(node[k].theta0) + q[node[k].q], a[k].sq, a[k].cq);
  }
}
/// How many nodes turn() takes.
inline constexpr int kTurnedTogether = FourAngles::kCount;

/// Where node i is in its parent, after turn().
template <class T, class S>
[[gnu::always_inline]] inline void place(const T& tree, TreeWork<S>& work, int i, const S* q) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (node.kind != NodeKind::kRevolute) return place_other(tree, work, i, q + node.q);
  if (!node.planar) return;
  NodeWork<S>& a = work[i];
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
  for (int first = 1, size = tree.size(); first < size; first += kTurnedTogether) {
    const int last = std::min(first + kTurnedTogether, size);
    turn(tree, work, first, last, q);
    for (int i = first; i < last; ++i) place(tree, work, i, q);
  }
}

template <class T, class S>
void update_velocities(const T& tree, const S* v, TreeWork<S>& work) {
  for (int i = 1; i < tree.size(); ++i) move(tree, work, i, v);
}

template <class T, class S>
void update_motion(const T& tree, const S* q, const S* v, TreeWork<S>& work) {
  work.poses_current = false;
  for (int first = 1, size = tree.size(); first < size; first += kTurnedTogether) {
    const int last = std::min(first + kTurnedTogether, size);
    turn(tree, work, first, last, q);
    for (int i = first; i < last; ++i) {
      place(tree, work, i, q);
      move(tree, work, i, v);
    }
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
    if (velocity_count(node.kind) == 1)
      turn_columns(parent.R, node, work[i], X.R);
    else
      X.R = parent.R * work.block(i).R;
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
  if (tree.nq == tree.nv) {  // no quaternions
    for (int k = 0; k < tree.nv; ++k) qdot[k] = v[k];
    return;
  }
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
