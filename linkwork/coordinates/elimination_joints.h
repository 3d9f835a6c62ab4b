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
    const S *const u = numbers + coupling.u, *const y = numbers + coupling.y;
    if (nv == 6)
      recursions::add_outers<6>(coupling.rows, coupling.columns, coupling.first, u, y, numbers + coupling.values);
    else
      recursions::add_outers<3>(coupling.rows, coupling.columns, coupling.first, u, y, numbers + coupling.values);
  }
}

/// The same over a spherical or free joint.
template <class S, class T, class C>
void EliminationPasses<S, T, C>::pass_block(const T& tree, const TreeWork<S>& work, int i, const Passage& passage) {
  using recursions::load, recursions::store;
  using Lanes = recursions::Loaded<S>;
  constexpr int w = recursions::kTogether<S>;
  using V3 = Vec3<Lanes>;
  const auto& node = tree.nodes[at(i)];
  const BlockWork<S>& block = work.block(i);
  const bool floats = node.kind == NodeKind::kFree, goes_on = passage.parent_K >= 0;
  const int stride = padded(passage.columns);
  S* const numbers = numbers_.data();
  numbers[passage.sums] += block.IA_inverse.template topLeftCorner<3, 3>().trace();
  numbers[passage.sums + 1] += block.IA_inverse.template bottomRightCorner<3, 3>().trace();
  const S* K = numbers + passage.K;
  S* above = numbers + passage.parent_K;
  S *u = numbers + passage.u, *y = numbers + passage.y, *rhs = numbers + passage.rhs;
  for (int left = recursions::steps<S>(passage.columns); left > 0; --left) {
    V3 n(load(K), load(K + w), load(K + 2 * w)), f(load(K + 3 * w), load(K + 4 * w), load(K + 5 * w));
    const auto seeds = [&](int k) { return V3(load(u + k * stride), load(u + (k + 1) * stride), load(u + (k + 2) * stride)); };
    std::array<V3, 2> force, answer;  // three coordinates at a time
    if (floats) {
      force = {recursions::times(block.Rq, f) + seeds(0), n + seeds(3)};
      const V3 pushes = recursions::times(block.Rq.transpose(), force[0]);
      const auto part = [&](int row, int column) { return block.IA_inverse.template block<3, 3>(row, column); };
      answer = {recursions::times(block.Rq, V3(recursions::times(part(3, 0), force[1]) + recursions::times(part(3, 3), pushes))),
                recursions::times(part(0, 0), force[1]) + recursions::times(part(0, 3), pushes)};
      n -= force[1], f -= pushes;
    } else {
      force[0] = n + seeds(0);
      answer[0] = recursions::times(block.IA_inverse.template topLeftCorner<3, 3>(), force[0]);
      n -= force[0], f -= recursions::times(work[i].IA.H.transpose(), answer[0]);
    }
    Lanes rest = load(rhs);
    for (int k = 0; k < velocity_count(node.kind); ++k) {
      const Lanes &own = force[at(k / 3)][k % 3], &moves = answer[at(k / 3)][k % 3];
      store(own, u + k * stride), store(moves, y + k * stride);
      rest -= moves * Lanes(work.u[node.v + k]);
    }
    store(rest, rhs);
    if (goes_on) {
      n = recursions::times(block.R, n), f = recursions::times(block.R, f);
      const Lanes px(work[i].p.x()), py(work[i].p.y()), pz(work[i].p.z());
      n.x() += py * f.z() - pz * f.y(), n.y() += pz * f.x() - px * f.z(), n.z() += px * f.y() - py * f.x();
      for (int k = 0; k < 3; ++k) {
        S *const to_n = above + k * w, *const to_f = above + (k + 3) * w;
        store(passage.first ? n[k] : n[k] + load(to_n), to_n);
        store(passage.first ? f[k] : f[k] + load(to_f), to_f);
      }
    }
    K += 6 * w, above += 6 * w, u += w, y += w, rhs += w;
  }
}

}  // namespace linkwork
