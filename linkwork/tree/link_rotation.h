#pragma once

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Changes of axes between a node and its parent. For one-dof nodes R = Rz(gamma) Rx(alpha) Rz(theta), factor by factor.
namespace link {

template <class S, class C>
inline void turn_z(C c, C s, Vec3<S>& a) {
  const S x = a.x();
  a.x() = c * x - s * a.y();
  a.y() = s * x + c * a.y();
}

template <class S, class C>
inline void turn_x(C c, C s, Vec3<S>& a) {
  const S y = a.y();
  a.y() = c * y - s * a.z();
  a.z() = s * y + c * a.z();
}

/// A <- Rz A Rz'
template <class S, class C>
inline void turn_z(C c, C s, Sym3<S>& A) {
  const S cs = c * s, ss = s * s;
  const S shift = ss * (A.yy - A.xx) - S(2) * cs * A.xy;
  A.xy = cs * (A.xx - A.yy) + (S(1) - S(2) * ss) * A.xy;
  A.xx += shift;
  A.yy -= shift;
  const S xz = A.xz;
  A.xz = c * xz - s * A.yz;
  A.yz = s * xz + c * A.yz;
}

template <class S, class C>
inline void turn_x(C c, C s, Sym3<S>& A) {
  const S cs = c * s, ss = s * s;
  const S shift = ss * (A.zz - A.yy) - S(2) * cs * A.yz;
  A.yz = cs * (A.yy - A.zz) + (S(1) - S(2) * ss) * A.yz;
  A.yy += shift;
  A.zz -= shift;
  const S xy = A.xy;
  A.xy = c * xy - s * A.xz;
  A.xz = s * xy + c * A.xz;
}

/// Rows and columns i, j of A <- R A R' for a plane rotation R.
template <int i, int j, class S, class C>
inline void turn_plane(C c, C s, Mat3<S>& A) {
  for (int k = 0; k < 3; ++k) {
    const S a = A(i, k);
    A(i, k) = c * a - s * A(j, k);
    A(j, k) = s * a + c * A(j, k);
  }
  for (int k = 0; k < 3; ++k) {
    const S a = A(k, i);
    A(k, i) = c * a - s * A(k, j);
    A(k, j) = s * a + c * A(k, j);
  }
}

template <class S>
inline void to_parent(const Node& node, const NodeWork<S>& work, Vec3<S>& a) {
  turn_z(work.cq, work.sq, a);
  if (node.has_alpha) turn_x(S(node.ca), S(node.sa), a);
  if (node.has_gamma) turn_z(S(node.cg), S(node.sg), a);
}

template <class S>
inline void to_child(const Node& node, const NodeWork<S>& work, Vec3<S>& a) {
  if (node.has_gamma) turn_z(S(node.cg), S(-node.sg), a);
  if (node.has_alpha) turn_x(S(node.ca), S(-node.sa), a);
  turn_z(work.cq, S(-work.sq), a);
}

/// Rotation of an articulated inertia into the parent's axes (one-dof nodes).
template <class S>
inline void to_parent(const Node& node, const NodeWork<S>& work, ArticulatedInertia<S>& A) {
  turn_z(work.cq, work.sq, A.I);
  turn_z(work.cq, work.sq, A.M);
  turn_plane<0, 1>(work.cq, work.sq, A.H);
  if (node.has_alpha) {
    turn_x(S(node.ca), S(node.sa), A.I);
    turn_x(S(node.ca), S(node.sa), A.M);
    turn_plane<1, 2>(S(node.ca), S(node.sa), A.H);
  }
  if (node.has_gamma) {
    turn_z(S(node.cg), S(node.sg), A.I);
    turn_z(S(node.cg), S(node.sg), A.M);
    turn_plane<0, 1>(S(node.cg), S(node.sg), A.H);
  }
}

/// Moves the reference point of A from p to the origin: H += p^ M, I -= H p^ + (H p^)' (with H halfway).
template <class S>
inline void shift_origin(const Vec3<S>& p, ArticulatedInertia<S>& A) {
  const S px = p.x(), py = p.y(), pz = p.z();
  const Sym3<S>& M = A.M;
  Mat3<S> pM;
  pM(0, 0) = py * M.xz - pz * M.xy, pM(0, 1) = py * M.yz - pz * M.yy, pM(0, 2) = py * M.zz - pz * M.yz;
  pM(1, 0) = pz * M.xx - px * M.xz, pM(1, 1) = pz * M.xy - px * M.yz, pM(1, 2) = pz * M.xz - px * M.zz;
  pM(2, 0) = px * M.xy - py * M.xx, pM(2, 1) = px * M.yy - py * M.xy, pM(2, 2) = px * M.yz - py * M.xz;
  const Mat3<S> Y = A.H + S(0.5) * pM;
  A.H += pM;
  // Y p^: column 0 = Y1 pz - Y2 py, column 1 = Y2 px - Y0 pz, column 2 = Y0 py - Y1 px
  const auto yp = [&](int i, int j) {
    if (j == 0) return Y(i, 1) * pz - Y(i, 2) * py;
    if (j == 1) return Y(i, 2) * px - Y(i, 0) * pz;
    return Y(i, 0) * py - Y(i, 1) * px;
  };
  A.I.xx -= S(2) * yp(0, 0);
  A.I.yy -= S(2) * yp(1, 1);
  A.I.zz -= S(2) * yp(2, 2);
  A.I.xy -= yp(0, 1) + yp(1, 0);
  A.I.xz -= yp(0, 2) + yp(2, 0);
  A.I.yz -= yp(1, 2) + yp(2, 1);
}

/// For any kind of node.
template <class S>
inline void axes_to_parent(const Tree& tree, const TreeWork<S>& work, int i, Vec3<S>& a) {
  if (work.block_of[static_cast<std::size_t>(i)] < 0)
    to_parent(tree.nodes[static_cast<std::size_t>(i)], work[i], a);
  else
    a = (work.block(i).R * a).eval();
}

template <class S>
inline void axes_to_child(const Tree& tree, const TreeWork<S>& work, int i, Vec3<S>& a) {
  if (work.block_of[static_cast<std::size_t>(i)] < 0)
    to_child(tree.nodes[static_cast<std::size_t>(i)], work[i], a);
  else
    a = (work.block(i).R.transpose() * a).eval();
}

/// An articulated inertia of node i, about its parent's origin in its parent's axes.
template <class S>
inline ArticulatedInertia<S> seen_from_parent(const Tree& tree, const TreeWork<S>& work, int i, ArticulatedInertia<S> A) {
  if (work.block_of[static_cast<std::size_t>(i)] < 0) {
    to_parent(tree.nodes[static_cast<std::size_t>(i)], work[i], A);
  } else {
    const Mat3<S>& R = work.block(i).R;
    A.I = Sym3<S>::of(R * A.I.matrix() * R.transpose());
    A.H = (R * A.H * R.transpose()).eval();
    A.M = Sym3<S>::of(R * A.M.matrix() * R.transpose());
  }
  shift_origin(work[i].p, A);
  return A;
}

/// A wrench in node i's frame, expressed in its parent's.
template <class S>
inline void wrench_to_parent(const Tree& tree, const TreeWork<S>& work, int i, Vec3<S>& n, Vec3<S>& f) {
  axes_to_parent(tree, work, i, n);
  axes_to_parent(tree, work, i, f);
  n += work[i].p.cross(f);
}

/// A motion vector of the parent's frame, seen at node i.
template <class S>
inline void motion_to_child(const Tree& tree, const TreeWork<S>& work, int i, Vec3<S>& w, Vec3<S>& v) {
  v += w.cross(work[i].p);
  axes_to_child(tree, work, i, w);
  axes_to_child(tree, work, i, v);
}

}  // namespace link

/// The joint's motion space: S v as a motion vector, and its transpose on a wrench. For one-dof nodes the vector S is
/// (turn z, slide z).
struct JointAxis {
  double turn;
  double slide;
};

inline JointAxis joint_axis(const Node& node) {
  if (node.kind == NodeKind::kRevolute) return {1.0, 0.0};
  if (node.kind == NodeKind::kPrismatic) return {0.0, 1.0};
  return {1.0, node.pitch};
}

/// Generalized force of a wrench on node i: S' F, written to out[0..nv).
template <class S>
inline void joint_force(const Tree& tree, const TreeWork<S>& work, int i, const Vec3<S>& n, const Vec3<S>& f, S* out) {
  const Node& node = tree.nodes[static_cast<std::size_t>(i)];
  if (node.kind == NodeKind::kSpherical) {
    Eigen::Map<Vec3<S>>{out} = n;
  } else if (node.kind == NodeKind::kFree) {
    Eigen::Map<Vec3<S>>{out} = work.block(i).Rq * f;
    Eigen::Map<Vec3<S>>{out + 3} = n;
  } else {
    const JointAxis axis = joint_axis(node);
    out[0] = axis.turn * n.z() + axis.slide * f.z();
  }
}

/// Adds S x to a motion vector of node i.
template <class S>
inline void add_joint_motion(const Tree& tree, const TreeWork<S>& work, int i, const S* x, Vec3<S>& w, Vec3<S>& v) {
  const Node& node = tree.nodes[static_cast<std::size_t>(i)];
  if (node.kind == NodeKind::kSpherical) {
    w += Eigen::Map<const Vec3<S>>(x);
  } else if (node.kind == NodeKind::kFree) {
    v += work.block(i).Rq.transpose() * Eigen::Map<const Vec3<S>>(x);
    w += Eigen::Map<const Vec3<S>>(x + 3);
  } else {
    const JointAxis axis = joint_axis(node);
    w.z() += axis.turn * x[0];
    v.z() += axis.slide * x[0];
  }
}

}  // namespace linkwork
