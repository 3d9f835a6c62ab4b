#pragma once

#include <type_traits>

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Changes of axes between a node and its parent. For one-dof nodes R = Rz(gamma) Rx(alpha) Rz(theta), factor by factor. Trees
/// are Tree or LaneTree, numbers S those of their work.
namespace link {

/// A copy number by number. As a block it would be loaded in wider pieces than the numbers have just been stored in, and the
/// processor would have to wait for the stores.
template <class S>
inline Vec3<S> copy(const Vec3<S>& a) {
  return {a.x(), a.y(), a.z()};
}

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

/// The turn about x by 90 (s = 1) or -90 (s = -1) degrees.
template <class S, class C>
inline void quarter_turn_x(C s, Vec3<S>& a) {
  const S y = a.y();
  a.y() = -s * a.z();
  a.z() = s * y;
}

/// The turn about z by 90 (s = 1) or -90 (s = -1) degrees.
template <class S, class C>
inline void quarter_turn_z(C s, Vec3<S>& a) {
  const S x = a.x();
  a.x() = -s * a.y();
  a.y() = s * x;
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

/// What of a node's work the turns below need.
template <class S>
struct Turn {
  S cq, sq;
};

/// Whether gamma is 90 or -90 degrees. Of lanes it is not asked: they need not agree.
template <class N>
inline bool has_quarter_gamma(const N& node) {
  if constexpr (std::is_same_v<std::remove_cvref_t<decltype(node.cg)>, double>)
    return node.cg == 0.0;
  else
    return false;
}

/// The turn by gamma, towards the parent (s = sin gamma) or towards the child (s = -sin gamma).
template <class N, class S>
inline void turn_gamma(const N& node, S s, Vec3<S>& a) {
  if (has_quarter_gamma(node))
    quarter_turn_z(s, a);
  else
    turn_z(S(node.cg), s, a);
}

/// Vectors of one-dof nodes, several at a time. The turn is a NodeWork or a Turn.
template <class N, template <class> class T, class S, class... V>
inline void to_parent(const N& node, const T<S>& turn, V&... a) {
  (turn_z(turn.cq, turn.sq, a), ...);
  if (node.right_angle)
    (quarter_turn_x(S(node.sa), a), ...);
  else if (node.has_alpha)
    (turn_x(S(node.ca), S(node.sa), a), ...);
  if (node.has_gamma) (turn_gamma(node, S(node.sg), a), ...);
}

template <class N, class S, class... V>
inline void to_child(const N& node, const NodeWork<S>& work, V&... a) {
  if (node.has_gamma) (turn_gamma(node, S(-node.sg), a), ...);
  if (node.right_angle)
    (quarter_turn_x(S(-node.sa), a), ...);
  else if (node.has_alpha)
    (turn_x(S(node.ca), S(-node.sa), a), ...);
  (turn_z(work.cq, S(-work.sq), a), ...);
}

template <class S>
inline void turn_z(S c, S s, ArticulatedInertia<S>& A) {
  turn_z(c, s, A.I);
  turn_z(c, s, A.M);
  turn_plane<0, 1>(c, s, A.H);
}

/// The turn about z by 90 (s = 1) or -90 (s = -1) degrees.
template <class S>
inline void quarter_turn_z(S s, ArticulatedInertia<S>& A) {
  const auto turn = [s](Sym3<S>& B) { B = {B.yy, -B.xy, -s * B.yz, B.xx, s * B.xz, B.zz}; };
  turn(A.I);
  turn(A.M);
  const Mat3<S> H = A.H;
  A.H << H(1, 1), -H(1, 0), -s * H(1, 2), -H(0, 1), H(0, 0), s * H(0, 2), -s * H(2, 1), s * H(2, 0), H(2, 2);
}

/// The turn by gamma, into the parent's axes.
template <class N, class S>
inline void turn_gamma(const N& node, ArticulatedInertia<S>& A) {
  if (has_quarter_gamma(node))
    quarter_turn_z(S(node.sg), A);
  else
    turn_z(S(node.cg), S(node.sg), A);
}

/// Rotation of an articulated inertia into the parent's axes (one-dof nodes).
template <class N, class S>
inline void inertia_to_parent(const N& node, const NodeWork<S>& work, ArticulatedInertia<S>& A) {
  turn_z(work.cq, work.sq, A);
  if (node.has_alpha) {
    turn_x(S(node.ca), S(node.sa), A.I);
    turn_x(S(node.ca), S(node.sa), A.M);
    turn_plane<1, 2>(S(node.ca), S(node.sa), A.H);
  }
  if (node.has_gamma) turn_gamma(node, A);
}

/// What a joint about z leaves of an articulated inertia: rows z of I and H are zero.
template <class S>
struct HingedInertia {
  S xx, xy, yy;    // of I
  Vec3<S> h0, h1;  // rows of H
  Sym3<S> M;
};

template <class S>
inline void turn_z(S c, S s, HingedInertia<S>& A) {
  const S cs = c * s, ss = s * s;
  const S shift = ss * (A.yy - A.xx) - S(2) * cs * A.xy;
  A.xy = cs * (A.xx - A.yy) + (S(1) - S(2) * ss) * A.xy;
  A.xx += shift;
  A.yy -= shift;
  turn_z(c, s, A.M);
  turn_z(c, s, A.h0);
  turn_z(c, s, A.h1);
  const Vec3<S> row = A.h0;
  A.h0 = c * row - s * A.h1;
  A.h1 = s * row + c * A.h1;
}

/// Rotation of a hinged inertia into the parent's axes.
template <class N, class S>
inline ArticulatedInertia<S> inertia_to_parent(const N& node, const NodeWork<S>& work, HingedInertia<S>& A) {
  turn_z(work.cq, work.sq, A);
  ArticulatedInertia<S> B;
  if (node.right_angle) {
    const S s(node.sa);
    quarter_turn_x(s, A.h0);
    quarter_turn_x(s, A.h1);
    B.I = {A.xx, S(0), s * A.xy, S(0), S(0), A.yy};
    B.H << A.h0.transpose(), Vec3<S>::Zero().transpose(), s * A.h1.transpose();
    B.M = {A.M.xx, -s * A.M.xz, s * A.M.xy, A.M.zz, -A.M.yz, A.M.yy};
  } else if (node.has_alpha) {
    const S c(node.ca), s(node.sa);
    turn_x(c, s, A.h0);
    turn_x(c, s, A.h1);
    turn_x(c, s, A.M);
    B.M = {A.M.xx, A.M.xy, A.M.xz, A.M.yy, A.M.yz, A.M.zz};
    B.I = {A.xx, c * A.xy, s * A.xy, c * c * A.yy, c * s * A.yy, s * s * A.yy};
    B.H << A.h0.transpose(), c * A.h1.transpose(), s * A.h1.transpose();
  } else {
    B.I = {A.xx, A.xy, S(0), A.yy, S(0), S(0)};
    B.M = {A.M.xx, A.M.xy, A.M.xz, A.M.yy, A.M.yz, A.M.zz};
    B.H << A.h0.transpose(), A.h1.transpose(), Vec3<S>::Zero().transpose();
  }
  if (node.has_gamma) turn_gamma(node, B);
  return B;
}

/// Adds to `sum` the inertia A with its reference point moved from p to the origin: H += p^ M, I -= Y p^ + (Y p^)' with Y the
/// mean of H before and after. Not inlined: with what comes before it the numbers do not fit the registers.
template <class S>
[[gnu::noinline]] void add_shifted(const Vec3<S>& p, const ArticulatedInertia<S>& A, ArticulatedInertia<S>& sum) {
  const S px = p.x(), py = p.y(), pz = p.z();
  const Sym3<S>& M = A.M;
  const Mat3<S>& H = A.H;
  const S xx = H(0, 0) + (py * M.xz - pz * M.xy), xy = H(0, 1) + (py * M.yz - pz * M.yy), xz = H(0, 2) + (py * M.zz - pz * M.yz);
  const S yx = H(1, 0) + (pz * M.xx - px * M.xz), yy = H(1, 1) + (pz * M.xy - px * M.yz), yz = H(1, 2) + (pz * M.xz - px * M.zz);
  const S zx = H(2, 0) + (px * M.xy - py * M.xx), zy = H(2, 1) + (px * M.yy - py * M.xy), zz = H(2, 2) + (px * M.yz - py * M.xz);
  sum.H(0, 0) += xx, sum.H(0, 1) += xy, sum.H(0, 2) += xz;
  sum.H(1, 0) += yx, sum.H(1, 1) += yy, sum.H(1, 2) += yz;
  sum.H(2, 0) += zx, sum.H(2, 1) += zy, sum.H(2, 2) += zz;
  sum.M += M;

  const S Yxx = H(0, 0) + xx, Yxy = H(0, 1) + xy, Yxz = H(0, 2) + xz;  // twice the mean
  const S Yyx = H(1, 0) + yx, Yyy = H(1, 1) + yy, Yyz = H(1, 2) + yz;
  const S Yzx = H(2, 0) + zx, Yzy = H(2, 1) + zy, Yzz = H(2, 2) + zz;
  const S hx = S(0.5) * px, hy = S(0.5) * py, hz = S(0.5) * pz;
  sum.I.xx += A.I.xx + (Yxz * py - Yxy * pz);
  sum.I.yy += A.I.yy + (Yyx * pz - Yyz * px);
  sum.I.zz += A.I.zz + (Yzy * px - Yzx * py);
  sum.I.xy += A.I.xy + ((Yxx - Yyy) * hz + (Yyz * hy - Yxz * hx));
  sum.I.xz += A.I.xz + ((Yzz - Yxx) * hy + (Yxy * hx - Yzy * hz));
  sum.I.yz += A.I.yz + ((Yyy - Yzz) * hx + (Yzx * hz - Yyx * hy));
}

/// For any kind of node.
template <class T, class S, class... V>
inline void axes_to_parent(const T& tree, const TreeWork<S>& work, int i, V&... a) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (velocity_count(node.kind) == 1)
    to_parent(node, work[i], a...);
  else
    ((a = (work.block(i).R * a).eval()), ...);
}

template <class T, class S, class... V>
inline void axes_to_child(const T& tree, const TreeWork<S>& work, int i, V&... a) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (velocity_count(node.kind) == 1)
    to_child(node, work[i], a...);
  else
    ((a = (work.block(i).R.transpose() * a).eval()), ...);
}

/// Adds an articulated inertia of node i to that of its parent.
template <class T, class S>
inline void add_seen_from_parent(const T& tree, const TreeWork<S>& work, int i, ArticulatedInertia<S> A,
                                 ArticulatedInertia<S>& sum) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (velocity_count(node.kind) == 1) {
    inertia_to_parent(node, work[i], A);
  } else {
    const Mat3<S>& R = work.block(i).R;
    A.I = Sym3<S>::of(R * A.I.matrix() * R.transpose());
    A.H = (R * A.H * R.transpose()).eval();
    A.M = Sym3<S>::of(R * A.M.matrix() * R.transpose());
  }
  add_shifted(work[i].p, A, sum);
}

template <class T, class S>
inline void add_to_parent(const T& tree, TreeWork<S>& work, int i, const ArticulatedInertia<S>& A) {
  add_seen_from_parent(tree, work, i, A, work[tree.nodes[static_cast<std::size_t>(i)].parent].IA);
}

/// A wrench in node i's frame, expressed in its parent's.
template <class T, class S>
inline void wrench_to_parent(const T& tree, const TreeWork<S>& work, int i, Vec3<S>& n, Vec3<S>& f) {
  axes_to_parent(tree, work, i, n, f);
  n += work[i].p.cross(f);
}

/// A motion vector of the parent's frame, seen at node i.
template <class T, class S>
inline void motion_to_child(const T& tree, const TreeWork<S>& work, int i, Vec3<S>& w, Vec3<S>& v) {
  v += w.cross(work[i].p);
  axes_to_child(tree, work, i, w, v);
}

}  // namespace link

/// The joint's motion space: S v as a motion vector, and its transpose on a wrench. For one-dof nodes the vector S is
/// (turn z, slide z).
template <class C>
struct JointAxisOf {
  C turn;
  C slide;
};
using JointAxis = JointAxisOf<double>;

template <class N>
inline auto joint_axis(const N& node) -> JointAxisOf<decltype(node.pitch)> {
  if (node.kind == NodeKind::kRevolute) return {1.0, 0.0};
  if (node.kind == NodeKind::kPrismatic) return {0.0, 1.0};
  return {1.0, node.pitch};
}

/// Generalized force of a wrench on node i: S' F, written to out[0..nv).
template <class T, class S>
inline void joint_force(const T& tree, const TreeWork<S>& work, int i, const Vec3<S>& n, const Vec3<S>& f, S* out) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (node.kind == NodeKind::kSpherical) {
    Eigen::Map<Vec3<S>>{out} = n;
  } else if (node.kind == NodeKind::kFree) {
    Eigen::Map<Vec3<S>>{out} = work.block(i).Rq * f;
    Eigen::Map<Vec3<S>>{out + 3} = n;
  } else {
    const auto axis = joint_axis(node);
    out[0] = axis.turn * n.z() + axis.slide * f.z();
  }
}

/// Adds S x to a motion vector of node i.
template <class T, class S>
inline void add_joint_motion(const T& tree, const TreeWork<S>& work, int i, const S* x, Vec3<S>& w, Vec3<S>& v) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (node.kind == NodeKind::kSpherical) {
    w += Eigen::Map<const Vec3<S>>(x);
  } else if (node.kind == NodeKind::kFree) {
    v += work.block(i).Rq.transpose() * Eigen::Map<const Vec3<S>>(x);
    w += Eigen::Map<const Vec3<S>>(x + 3);
  } else {
    const auto axis = joint_axis(node);
    w.z() += axis.turn * x[0];
    v.z() += axis.slide * x[0];
  }
}

}  // namespace linkwork
