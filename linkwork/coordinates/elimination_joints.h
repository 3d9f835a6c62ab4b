#pragma once

#include <algorithm>
#include <array>

#include "linkwork/coordinates/elimination_numbers.h"
#include "linkwork/coordinates/elimination_passes.h"
#include "linkwork/linalg/index.h"
#include "linkwork/spatial/lanes.h"
#include "linkwork/tree/link_rotation.h"

/// How the columns of EliminationPasses pass the joints on their way inward.
namespace linkwork {

/// The columns of one group over the joint of a planar node.
template <class S, class T, class C>
[[gnu::always_inline]] inline void EliminationPasses<S, T, C>::pass_planar(const NodeWork<S>& work, const S& u_joint,
                                                                           const Passage& passage, bool seeded, bool is_one) {
  using recursions::load, recursions::store;
  using Lanes = recursions::Loaded<S>;
  constexpr int w = recursions::kTogether<S>;
  S* const numbers = numbers_.data();
  numbers[passage.sums] += work.Dinv;
  const S* K = numbers + passage.K;
  S* above = numbers + passage.parent_K;
  S *u = numbers + passage.u, *y = numbers + passage.y, *rhs = numbers + passage.rhs;
  const bool goes_on = passage.parent_K >= 0;
  int left = is_one ? 1 : recursions::steps<S>(passage.columns);
  do {
    const Lanes n = load(K + 2 * w), uc = seeded ? n + load(u) : n, yc = Lanes(work.Dinv) * uc;
    store(uc, u), store(yc, y);
    store(load(rhs) - yc * Lanes(u_joint), rhs);
    if (goes_on) {
      const Lanes x = load(K + 3 * w) - yc * Lanes(work.Uf.x()), z = load(K + 4 * w) - yc * Lanes(work.Uf.y());
      const Lanes cq(work.cq), sq(work.sq);
      Lanes fx = cq * x - sq * z, fy = sq * x + cq * z;
      Lanes moment = (n - yc * Lanes(work.Uw.z())) + (Lanes(work.p.x()) * fy - Lanes(work.p.y()) * fx);
      if (!passage.first) moment += load(above + 2 * w), fx += load(above + 3 * w), fy += load(above + 4 * w);
      store(moment, above + 2 * w), store(fx, above + 3 * w), store(fy, above + 4 * w);
    }
    if (is_one) return;
    K += 6 * w, above += 6 * w, u += w, y += w, rhs += w;
  } while (--left > 0);
}

/// The same over any joint with one axis.
template <class S, class T, class C>
template <class N>
[[gnu::always_inline]] inline void EliminationPasses<S, T, C>::pass_axis(const N& node, const NodeWork<S>& work, const S& u_joint,
                                                                         const Passage& passage, bool seeded, bool is_one) {
  using recursions::load, recursions::store;
  using Lanes = recursions::Loaded<S>;
  constexpr int w = recursions::kTogether<S>;
  using V3 = Vec3<Lanes>;
  const auto axis = joint_axis(node);
  const bool is_revolute = node.kind == NodeKind::kRevolute;
  S* const numbers = numbers_.data();
  numbers[passage.sums] += axis.turn * axis.turn * work.Dinv;
  if (!is_revolute) numbers[passage.sums + 1] += axis.slide * axis.slide * work.Dinv;
  const S* K = numbers + passage.K;
  S* above = numbers + passage.parent_K;
  S *u = numbers + passage.u, *y = numbers + passage.y, *rhs = numbers + passage.rhs;
  const bool goes_on = passage.parent_K >= 0;
  int left = is_one ? 1 : recursions::steps<S>(passage.columns);
  do {
    Lanes uc = is_revolute ? load(K + 2 * w) : Lanes(axis.turn) * load(K + 2 * w) + Lanes(axis.slide) * load(K + 5 * w);
    if (seeded) uc += load(u);
    const Lanes yc = Lanes(work.Dinv) * uc;
    store(uc, u), store(yc, y);
    store(load(rhs) - yc * Lanes(u_joint), rhs);
    if (goes_on) {
      const auto left_of = [&](int k, const S& U) { return load(K + k * w) - yc * Lanes(U); };
      V3 n(left_of(0, work.Uw.x()), left_of(1, work.Uw.y()), left_of(2, work.Uw.z()));
      V3 f(left_of(3, work.Uf.x()), left_of(4, work.Uf.y()), left_of(5, work.Uf.z()));
      link::to_parent(node, link::Turn<Lanes>{Lanes(work.cq), Lanes(work.sq)}, n, f);
      const Lanes px(work.p.x()), py(work.p.y()), pz(work.p.z());
      n.x() += py * f.z() - pz * f.y(), n.y() += pz * f.x() - px * f.z(), n.z() += px * f.y() - py * f.x();
      for (int k = 0; k < 3; ++k) {
        S *const to_n = above + k * w, *const to_f = above + (k + 3) * w;
        store(passage.first ? n[k] : n[k] + load(to_n), to_n);
        store(passage.first ? f[k] : f[k] + load(to_f), to_f);
      }
    }
    if (is_one) return;
    K += 6 * w, above += 6 * w, u += w, y += w, rhs += w;
  } while (--left > 0);
}

/// What columns that pass a joint together do to one another.
template <class S, class T, class C>
[[gnu::always_inline]] inline void EliminationPasses<S, T, C>::couple(const Station& station) {
  S* const numbers = numbers_.data();
  const Coupling* const last = couplings_.data() + station.last_coupling;
  for (const Coupling* k = couplings_.data() + station.first_coupling; k != last; ++k)
    recursions::add_outer(k->rows, k->columns, k->first, numbers + k->u, numbers + k->y, numbers + k->values);
}

/// Takes all columns at a node over its joint to the parent, which has one axis.  (1)
template <class S, class T, class C>
void EliminationPasses<S, T, C>::pass(const T& tree, TreeWork<S>& work, int i) {
  const auto& node = tree.nodes[at(i)];
  const Station& station = stations_[at(i)];
  if constexpr (!kIsLanes<S>)
    if (station.way == Way::kAxisOne) {
      pass_axis(node, work[i], work.u[node.v], passages_[at(station.first_passage)], false, true);
      const Coupling& k = couplings_[at(station.first_coupling)];
      S* const numbers = numbers_.data();
      return recursions::add_outer_of_few(k.rows, k.first, numbers + k.u, numbers + k.y, numbers + k.values);
    }
  const Passage* const last = passages_.data() + station.last_passage;
  for (const Passage* k = passages_.data() + station.first_passage; k != last; ++k)
    pass_axis(node, work[i], work.u[node.v], *k, false);
  couple(station);
}

/// The general case of pass().
template <class S, class T, class C>
void EliminationPasses<S, T, C>::pass_all(const T& tree, TreeWork<S>& work, std::span<const C> groups, int i) {
  const auto& node = tree.nodes[at(i)];
  const Station& station = stations_[at(i)];
  const int nv = velocity_count(node.kind);
  const Passage &first = passages_[at(station.first_passage)], &last = passages_[at(station.last_passage - 1)];
  S* const numbers = numbers_.data();
  for (const Passage* p = &first; p <= &last; ++p) std::fill_n(numbers + p->u, padded(p->columns) * nv, S(0.0));
  for (int s = station.first_seed; s < station.last_seed; ++s) {
    const JointSeed& seed = joint_seeds_[at(s)];
    const Passage& passage = passages_[at(seed.passage)];
    for (int c = 0; c < passage.columns; ++c) {
      const S force = groups[at(seed.group)].force(seed.force, c);
      numbers[passage.u + seed.component * padded(passage.columns) + c] += force;
      numbers[passage.sums + 2] +=
          force * force * (nv == 1 ? work[i].Dinv : recursions::largest_of_diagonal(work.block(i).IA_inverse));
    }
  }
  for (int p = station.first_passage; p < station.last_passage; ++p) {
    if (node.planar)
      pass_planar(work[i], work.u[node.v], passages_[at(p)], true);
    else if (nv == 1)
      pass_axis(node, work[i], work.u[node.v], passages_[at(p)], true);
    else
      pass_block(tree, work, i, passages_[at(p)]);
  }
  if (nv == 1) return couple(station);
  for (int k = station.first_coupling; k < station.last_coupling; ++k) {
    const Coupling& coupling = couplings_[at(k)];
    for (int l = 0; l < nv; ++l)
      recursions::add_outer(coupling.rows, coupling.columns, coupling.first && l == 0,
                            numbers + coupling.u + l * padded(coupling.rows), numbers + coupling.y + l * padded(coupling.columns),
                            numbers + coupling.values);
  }
}

/// The same over a spherical or free joint.
template <class S, class T, class C>
void EliminationPasses<S, T, C>::pass_block(const T& tree, const TreeWork<S>& work, int i, const Passage& passage) {
  constexpr int w = recursions::kTogether<S>;
  const auto& node = tree.nodes[at(i)];
  const BlockWork<S>& block = work.block(i);
  const int nv = velocity_count(node.kind), stride = padded(passage.columns);
  S* const numbers = numbers_.data();
  numbers[passage.sums] += block.IA_inverse.template topLeftCorner<3, 3>().trace();
  numbers[passage.sums + 1] += block.IA_inverse.template bottomRightCorner<3, 3>().trace();
  for (int c = 0; c < passage.columns; ++c) {
    W K = wrench(passage.K, c);
    std::array<S, 6> u, y;
    joint_force(tree, work, i, K.n, K.f, u.data());
    for (int k = 0; k < nv; ++k) u[at(k)] += numbers[passage.u + k * stride + c];
    const Eigen::Map<const Vec3<S>> u0(u.data());
    if (node.kind == NodeKind::kSpherical) {
      const Vec3<S> x = block.IA_inverse.template topLeftCorner<3, 3>() * u0;
      Eigen::Map<Vec3<S>>{y.data()} = x;
      K.f -= work[i].IA.H.transpose() * x;
      K.n -= u0;
    } else {
      const Eigen::Map<const Vec3<S>> u1(u.data() + 3);
      Vec6<S> F;
      F << u1, block.Rq.transpose() * u0;
      const Vec6<S> A = block.IA_inverse * F;
      Eigen::Map<Vec3<S>>{y.data()} = block.Rq * A.template tail<3>();
      Eigen::Map<Vec3<S>>{y.data() + 3} = A.template head<3>();
      K.n -= u1;
      K.f -= F.template tail<3>();
    }
    for (int k = 0; k < nv; ++k) {
      numbers[passage.u + k * stride + c] = u[at(k)], numbers[passage.y + k * stride + c] = y[at(k)];
      numbers[passage.rhs + c] -= y[at(k)] * work.u[node.v + k];
    }
    if (passage.parent_K < 0) continue;
    link::wrench_to_parent(tree, work, i, K.n, K.f);
    S* const above = numbers + passage.parent_K + c / w * (6 * w) + c % w;
    for (int k = 0; k < 3; ++k) {
      above[k * w] = passage.first ? K.n[k] : above[k * w] + K.n[k];
      above[(k + 3) * w] = passage.first ? K.f[k] : above[(k + 3) * w] + K.f[k];
    }
  }
}

}  // namespace linkwork
