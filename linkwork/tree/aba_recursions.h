#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>

#include "linkwork/tree/aba.h"
#include "linkwork/tree/link_rotation.h"
#include "linkwork/tree/planar.h"

/// The recursions of aba.h for any tree and any kind of numbers. To be compiled in few places.
namespace linkwork::recursions {

using planar::kMassless;
inline constexpr double kFloor = 1e-9;

/// What a node's inertia about an axis is held against. The trace alone grows with the cube of a chain's length, so that it tells
/// little of what is usual about one axis.
template <class N, class S>
S usual_turning(const N& node, const NodeWork<S>& a) {
  return S(node.usual_inertia) + S(1e-3) * a.IA.I.trace();
}

/// What a joint moves; if that is nothing, little, which work then says. Of lanes, those that move nothing become NaN.
template <class S>
S floored(S D, S scale, int i, TreeWork<S>& work) {
  const auto is_enough = D > S(kMassless) * scale;
  if constexpr (kIsLanes<S>) {
    return select(is_enough, D, S(kNoNumber));
  } else {
    if (is_enough) return D;
    work.massless_node = i;
    return scale > S(0) ? S(kFloor) * scale : S(1);
  }
}

/// Inverts a symmetric positive definite matrix in place; false if it is not, by rounding: a body may have no inertia about an
/// axis that is none of the coordinates'. Of lanes, such become NaN.
template <int N, class S>
bool invert_positive(Eigen::Matrix<S, N, N>& A) {
  using std::sqrt;
  std::array<std::array<S, N>, N> L;  // Cholesky's factor, its diagonal inverted; then its inverse
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      S sum = A(static_cast<int>(i), static_cast<int>(j));
      for (std::size_t k = 0; k < j; ++k) sum -= L[i][k] * L[j][k];
      if (i != j) {
        L[i][j] = sum * L[j][j];
        continue;
      }
      const auto is_enough = sum > S(kMassless) * A(static_cast<int>(i), static_cast<int>(i));
      if constexpr (kIsLanes<S>)
        sum = select(is_enough, sum, S(kNoNumber));
      else if (!is_enough)
        return false;
      L[i][i] = S(1) / sqrt(sum);
    }
  for (std::size_t j = 0; j < N; ++j)
    for (std::size_t i = j + 1; i < N; ++i) {
      S sum(0);
      for (std::size_t k = j; k < i; ++k) sum -= L[i][k] * L[k][j];
      L[i][j] = sum * L[i][i];
    }
  for (std::size_t i = 0; i < N; ++i)
    for (std::size_t j = 0; j <= i; ++j) {
      S sum(0);
      for (std::size_t k = i; k < N; ++k) sum += L[k][i] * L[k][j];
      A(static_cast<int>(i), static_cast<int>(j)) = A(static_cast<int>(j), static_cast<int>(i)) = sum;
    }
  return true;
}

/// Revolute: D = I_zz. Hands what is left of the inertia to the parent.
template <class N, class S>
[[gnu::always_inline]] inline void project_revolute(const N& node, const NodeWork<S>& a, ArticulatedInertia<S>& parent) {
  link::HingedInertia<S> hinged;
  const S hx = a.IA.H(2, 0), hy = a.IA.H(2, 1), hz = a.IA.H(2, 2);
  const S gx = a.Dinv * hx, gy = a.Dinv * hy, gz = a.Dinv * hz;
  const Sym3<S>& I = a.IA.I;
  const S kx = I.xz * a.Dinv, ky = I.yz * a.Dinv;
  hinged.xx = I.xx - kx * I.xz;
  hinged.xy = I.xy - kx * I.yz;
  hinged.yy = I.yy - ky * I.yz;
  hinged.h0 = {a.IA.H(0, 0) - kx * hx, a.IA.H(0, 1) - kx * hy, a.IA.H(0, 2) - kx * hz};
  hinged.h1 = {a.IA.H(1, 0) - ky * hx, a.IA.H(1, 1) - ky * hy, a.IA.H(1, 2) - ky * hz};
  const Sym3<S>& M = a.IA.M;
  hinged.M = {M.xx - gx * hx, M.xy - gx * hy, M.xz - gx * hz, M.yy - gy * hy, M.yz - gy * hz, M.zz - gz * hz};
  link::add_shifted(a.p, link::inertia_to_parent(node, a, hinged), parent);
}

/// Prismatic and helical: the general one-dof projection.
template <class N, class S>
void project_one_dof(const N& node, const NodeWork<S>& a, ArticulatedInertia<S>& parent) {
  ArticulatedInertia<S> A = a.IA;
  const Vec3<S> kw = a.Dinv * a.Uw, kf = a.Dinv * a.Uf;
  A.I.downdate(a.Uw, kw);
  A.H -= a.Uw * kf.transpose();
  A.M.downdate(a.Uf, kf);
  link::inertia_to_parent(node, a, A);
  link::add_shifted(a.p, A, parent);
}

/// Joints other than revolute ones.
template <class T, class S>
[[gnu::noinline]] void articulate_other(const T& tree, TreeWork<S>& work, int i) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  NodeWork<S>& a = work[i];
  const bool to_ground = node.parent == 0;
  switch (node.kind) {
    case NodeKind::kPrismatic:
      a.Uw = a.IA.H.col(2);
      a.Uf = {a.IA.M.xz, a.IA.M.yz, a.IA.M.zz};
      a.Dinv = S(1) / floored(a.IA.M.zz + S(node.armature), a.IA.M.trace() + S(node.armature), i, work);
      if (!to_ground) project_one_dof(node, a, work[node.parent].IA);
      break;
    case NodeKind::kHelical: {
      const S h(node.pitch), rotor(node.armature);
      a.Uw = Vec3<S>(a.IA.I.xz, a.IA.I.yz, a.IA.I.zz) + h * a.IA.H.col(2);
      a.Uf = a.IA.H.row(2).transpose() + h * Vec3<S>(a.IA.M.xz, a.IA.M.yz, a.IA.M.zz);
      a.Dinv = S(1) / floored(a.Uw.z() + h * a.Uf.z() + rotor, a.IA.I.trace() + h * h * a.IA.M.trace() + rotor, i, work);
      if (!to_ground) project_one_dof(node, a, work[node.parent].IA);
      break;
    }
    case NodeKind::kSpherical: {
      Mat3<S> D = a.IA.I.matrix();
      for (int k = 0; k < 3; ++k) D(k, k) = floored(D(k, k), usual_turning(node, a), i, work);
      Mat3<S> Dinv = D;
      if (!invert_positive<3>(Dinv)) {
        work.massless_node = i;
        Dinv = D;
        Dinv.diagonal().array() += S(kFloor) * a.IA.I.trace();
        invert_positive<3>(Dinv);
      }
      work.block(i).IA_inverse.template topLeftCorner<3, 3>() = Dinv;
      if (to_ground) break;
      ArticulatedInertia<S> A;
      A.M = Sym3<S>::of(a.IA.M.matrix() - a.IA.H.transpose() * Dinv * a.IA.H);
      link::add_to_parent(tree, work, i, A);
      break;
    }
    case NodeKind::kFree: {
      Mat6<S> D = a.IA.matrix();
      for (int k = 0; k < 6; ++k) D(k, k) = floored(D(k, k), k < 3 ? usual_turning(node, a) : a.IA.M.trace(), i, work);
      Mat6<S>& Dinv = work.block(i).IA_inverse;
      Dinv = D;
      if (!invert_positive<6>(Dinv)) {
        work.massless_node = i;
        Dinv = D;
        Dinv.template topLeftCorner<3, 3>().diagonal().array() += S(kFloor) * a.IA.I.trace();
        Dinv.template bottomRightCorner<3, 3>().diagonal().array() += S(kFloor) * a.IA.M.trace();
        invert_positive<6>(Dinv);
      }
      break;
    }
    case NodeKind::kRevolute:
    case NodeKind::kGround:
      break;
  }
}

/// A joint that assembly holds still.
template <class T, class S>
[[gnu::noinline]] void pass_on_whole(const T& tree, TreeWork<S>& work, int i) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  work[i].Dinv = S(0);
  if (work.block_of[static_cast<std::size_t>(i)] >= 0) work.block(i).IA_inverse.setZero();
  if (node.parent != 0) link::add_to_parent(tree, work, i, work[i].IA);
}

/// Joints other than revolute ones.
template <class T, class S>
[[gnu::noinline]] void reduce_other_force(const T& tree, TreeWork<S>& work, int i) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  NodeWork<S>& a = work[i];
  S* const u = work.u.data() + node.v;
  joint_force(tree, work, i, a.n, a.f, u);
  for (int k = 0; k < velocity_count(node.kind); ++k) u[k] = work.tau[node.v + k] - u[k];
  if (node.parent == 0) return;
  Vec3<S> n = a.n, f = a.f;
  if (node.kind == NodeKind::kSpherical) {
    const Eigen::Map<const Vec3<S>> us(u);
    f += a.IA.H.transpose() * (work.block(i).IA_inverse.template topLeftCorner<3, 3>() * us);
    n += us;
  } else if (node.kind == NodeKind::kFree) {  // all of it is taken by the joint but the applied force
    f = work.block(i).Rq.transpose() * work.tau.template segment<3>(node.v);
    n = work.tau.template segment<3>(node.v + 3);
  } else {
    const S y = a.Dinv * u[0];
    n += y * a.Uw;
    f += y * a.Uf;
  }
  link::wrench_to_parent(tree, work, i, n, f);
  work[node.parent].n += n;
  work[node.parent].f += f;
}

/// Joints other than revolute ones: x = vdot of the joint, from ui.
template <class T, class S>
[[gnu::noinline]] void accelerate_other(const T& tree, TreeWork<S>& work, int i, const S* ui, S* x) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  NodeWork<S>& a = work[i];
  a.dw = work[node.parent].dw, a.dv = work[node.parent].dv;
  link::motion_to_child(tree, work, i, a.dw, a.dv);
  if (node.kind == NodeKind::kSpherical) {
    const Mat3<S> Dinv = work.block(i).IA_inverse.template topLeftCorner<3, 3>();
    Eigen::Map<Vec3<S>>{x} = Dinv * (Eigen::Map<const Vec3<S>>(ui) - a.IA.I * a.dw - a.IA.H * a.dv);
    a.dw += Eigen::Map<const Vec3<S>>(x);
  } else if (node.kind == NodeKind::kFree) {
    const BlockWork<S>& block = work.block(i);
    Vec6<S> F;
    F << Eigen::Map<const Vec3<S>>(ui + 3), block.Rq.transpose() * Eigen::Map<const Vec3<S>>(ui);
    const Vec6<S> A = block.IA_inverse * F;
    Eigen::Map<Vec3<S>>{x} = block.Rq * (A.template tail<3>() - a.dv);
    Eigen::Map<Vec3<S>>{x + 3} = A.template head<3>() - a.dw;
    a.dw = A.template head<3>(), a.dv = A.template tail<3>();
  } else {
    const auto axis = joint_axis(node);
    x[0] = a.Dinv * (ui[0] - a.Uw.dot(a.dw) - a.Uf.dot(a.dv));
    a.dw.z() += axis.turn * x[0];
    a.dv.z() += axis.slide * x[0];
  }
}

template <class T, class S>
void articulate(const T& tree, TreeWork<S>& work, int i) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (!work.locked.empty() && work.locked[static_cast<std::size_t>(i)]) return pass_on_whole(tree, work, i);
  if (node.kind != NodeKind::kRevolute) return articulate_other(tree, work, i);
  NodeWork<S>& a = work[i];
  if (node.planar) {
    if (!planar::factor(node, a)) a.Dinv = S(1) / floored(S(0), S(node.usual_inertia), i, work);
    if (node.parent != 0) planar::project(a, work[node.parent].IA);
    return;
  }
  a.Uw = {a.IA.I.xz, a.IA.I.yz, a.IA.I.zz};
  a.Uf = a.IA.H.row(2).transpose();
  a.Dinv = S(1) / floored(a.IA.I.zz, usual_turning(node, a), i, work);
  if (node.parent != 0) project_revolute(node, a, work[node.parent].IA);
}

template <class T, class S>
void reduce_force(const T& tree, TreeWork<S>& work, int i) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (node.kind != NodeKind::kRevolute) return reduce_other_force(tree, work, i);
  NodeWork<S>& a = work[i];
  const S u = work.tau[node.v] - a.n.z();
  work.u[node.v] = u;
  if (node.parent == 0) return;
  const S y = a.Dinv * u;
  NodeWork<S>& parent = work[node.parent];
  if (node.planar) return planar::reduce(a, a.n, a.f, y, parent.n, parent.f);
  Vec3<S> n = a.n + y * a.Uw, f = a.f + y * a.Uf;
  link::to_parent(node, a, n, f);
  parent.n += n + a.p.cross(f);
  parent.f += f;
}

/// As bytes, by as wide registers as there are: number by number takes several times as long.
template <class S>
[[gnu::always_inline]] inline void copy_inertia(const ArticulatedInertia<S>& from, ArticulatedInertia<S>& to) {
  using Wide [[gnu::vector_size(32)]] = double;
  constexpr std::size_t kSize = sizeof(ArticulatedInertia<S>), kWide = sizeof(Wide);
  const auto* const source = reinterpret_cast<const std::byte*>(&from);
  auto* const target = reinterpret_cast<std::byte*>(&to);
  std::size_t k = 0;
  for (; k + kWide <= kSize; k += kWide) {
    Wide part;
    std::memcpy(&part, source + k, kWide);
    std::memcpy(target + k, &part, kWide);
  }
  std::memcpy(target + k, source + k, kSize % kWide);
}

template <class T, class S>
void start_inertias(const T& tree, TreeWork<S>& work) {
  work.massless_node = 0;
  const ArticulatedInertia<S>* const rigid = work.rigid.data();
  NodeWork<S>* const nodes = work.nodes.data();
  for (int i = 1, size = tree.size(); i < size; ++i) copy_inertia(rigid[i], nodes[i].IA);
}

template <class T, class S>
void aba_inertias(const T& tree, TreeWork<S>& work) {
  recursions::start_inertias(tree, work);
  for (int i = tree.size() - 1; i > 0; --i) recursions::articulate(tree, work, i);
}

template <class T, class S>
void aba_backward(const T& tree, TreeWork<S>& work) {
  recursions::start_inertias(tree, work);
  for (int i = tree.size() - 1; i > 0; --i) {
    recursions::articulate(tree, work, i);
    recursions::reduce_force(tree, work, i);
  }
}

template <class T, class S>
void accelerate(const T& tree, TreeWork<S>& work, int i, const S* ui, S* x) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  if (node.kind != NodeKind::kRevolute) return accelerate_other(tree, work, i, ui, x);
  NodeWork<S>& a = work[i];
  if (node.parent == 0) {
    x[0] = a.Dinv * ui[0];
    a.dw.z() = x[0];
    return;
  }
  if (node.planar) {
    x[0] = planar::accelerate(work[node.parent], a, ui[0]);
    return;
  }
  const NodeWork<S>& parent = work[node.parent];
  Vec3<S> dw = link::copy(parent.dw), dv = parent.dv + dw.cross(a.p);
  link::to_child(node, a, dw, dv);
  x[0] = a.Dinv * ((ui[0] - a.Uw.dot(dw)) - a.Uf.dot(dv));
  a.dw = {dw.x(), dw.y(), dw.z() + x[0]};
  a.dv = dv;
}

template <class T, class S>
void aba_forward(const T& tree, TreeWork<S>& work, const VecX<S>& u, VecX<S>& vdot) {
  for (int i = 1; i < tree.size(); ++i) {
    const int v = tree.nodes[static_cast<std::size_t>(i)].v;
    recursions::accelerate(tree, work, i, u.data() + v, vdot.data() + v);
  }
}

}  // namespace linkwork::recursions
