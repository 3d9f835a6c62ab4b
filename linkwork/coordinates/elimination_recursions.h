#pragma once

#include <algorithm>
#include <array>

#include "linkwork/coordinates/compounds.h"
#include "linkwork/coordinates/elimination_joints.h"
#include "linkwork/coordinates/elimination_numbers.h"
#include "linkwork/coordinates/elimination_passes.h"
#include "linkwork/linalg/index.h"
#include "linkwork/linalg/rank_of_two.h"
#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/spatial/lanes.h"
#include "linkwork/tree/aba_recursions.h"
#include "linkwork/tree/link_rotation.h"
#include "linkwork/tree/planar.h"

/// The passes of LoopElimination, for any tree and any kind of numbers. To be compiled in few places.
namespace linkwork {

namespace recursions {

/// A node's inertia and force: articulate() and reduce_force(), here for planar nodes. Of a Tree, all these are those of aba.h.
template <class T, class S>
inline void take_inward(const T& tree, TreeWork<S>& work, int i) {
  const auto& node = tree.nodes[at(i)];
  NodeWork<S>& a = work[i];
  if (!node.planar || !work.locked.empty() || !planar::factor(node, a)) {
    articulate(tree, work, i);
    reduce_force(tree, work, i);
    return;
  }
  const S u = work.tau[node.v] - a.n.z();
  work.u[node.v] = u;
  if (node.parent == 0) return;
  NodeWork<S>& parent = work[node.parent];
  planar::project(a, parent.IA);
  planar::reduce(a, a.n, a.f, a.Dinv * u, parent.n, parent.f);
}

/// The force alone, where the inertia is known.
template <class T, class S>
inline void take_force_inward(const T& tree, TreeWork<S>& work, int i) {
  reduce_force(tree, work, i);
}

/// accelerate(), here for planar nodes.
template <class T, class S>
inline void take_outward(const T& tree, TreeWork<S>& work, int i, const S* u, S* vdot) {
  const auto& node = tree.nodes[at(i)];
  if (node.planar && node.parent != 0)
    vdot[0] = planar::accelerate(work[node.parent], work[i], u[0]);
  else
    accelerate(tree, work, i, u, vdot);
}

}  // namespace recursions

template <class S, class T, class C>
EliminationPasses<S, T, C>::EliminationPasses(const EliminationPlan& plan)
    : EliminationPlan(plan), numbers_(at(size_), S(0.0)), scale_(at(rows_)), dependent_(at(rows_), 1), inconsistency_(at(rows_)) {
  for (const Group& group : groups_) reach_.push_back(group.reach);
}

template <class S, class T, class C>
inline auto EliminationPasses<S, T, C>::wrench(int K, int column) const -> W {
  constexpr int w = recursions::kTogether<S>;
  const S* const k = &numbers_[at(K + column / w * (6 * w) + column % w)];
  return {{k[0], k[w], k[2 * w]}, {k[3 * w], k[4 * w], k[5 * w]}};
}

template <class S, class T, class C>
void EliminationPasses<S, T, C>::start(std::span<const C> groups, const VecX<S>& b, std::span<const C> open) {
  using recursions::load, recursions::store;
  constexpr int w = recursions::kTogether<S>;
  rank_ = {};
  S* const numbers = numbers_.data();
  for (const Cleared& K : cleared_) std::fill(numbers + K.first, numbers + K.last, S(0.0));
  const S* given = b.data();
  int left = closed_;
  for (const Group& group : groups_) {
    S *const rhs = numbers + group.rhs, *const sums = numbers + group.sums;
    sums[0] = sums[1] = sums[2] = S(0.0);
    for (int c = 0; c < group.columns; ++c) rhs[c] = left > 0 ? given[group.first_row + c] : S(0.0);
    --left;
  }
  for (const Seed& seed : seeds_) {
    const C& columns = seed.group < closed_ ? groups[at(seed.group)] : open[at(seed.group - closed_)];
    const int m = columns.working();
    const W* F = &columns.wrench(seed.wrench, 0);
    S* K = numbers + seed.K;
    if constexpr (!kIsLanes<S>)
      if (m == 2) {
        const W* const second = F + 1;
        const auto put = [&](int k, double x, double y) {
          const recursions::FourColumns term(recursions::FourColumns::Vector{x, y, 0.0, 0.0});
          store(seed.first ? term : load(K + k * w) + term, K + k * w);
        };
        put(2, F->n.z(), second->n.z()), put(3, F->f.x(), second->f.x()), put(4, F->f.y(), second->f.y());
        if (!seed.planar) put(0, F->n.x(), second->n.x()), put(1, F->n.y(), second->n.y()), put(5, F->f.z(), second->f.z());
        continue;
      }
    for (int c = 0; c < m; ++c, ++F) {
      S* const k = K + c / w * (6 * w) + c % w;
      const auto put = [&](int i, const S& x) { k[i * w] = seed.first ? x : k[i * w] + x; };
      put(0, F->n.x()), put(1, F->n.y()), put(2, F->n.z());
      put(3, F->f.x()), put(4, F->f.y()), put(5, F->f.z());
    }
  }
}

template <class S, class T, class C>
inline void EliminationPasses<S, T, C>::add_spinner(const Spinner& spinner, TreeWork<S>& work) const {
  NodeWork<S>& a = work[spinner.node];
  a.Uw = {S(0.0), S(0.0), spinner.inertia};
  a.Uf = {S(0.0), S(0.0), S(0.0)};
  a.Dinv = spinner.inverse;
  work[spinner.parent].IA += spinner.left;
}

template <class S, class T, class C>
void EliminationPasses<S, T, C>::inward(const T& tree, TreeWork<S>& work, std::span<const C> groups, const VecX<S>& b,
                                        std::span<const C> open) {
  recursions::start_inertias(tree, work);
  const bool may_spin = !spinners_.empty() && work.locked.empty();
  for (const Spinner& spinner : spinners_)
    if (may_spin) add_spinner(spinner, work);
  start(groups, b, open);
  for (int node = tree.size() - 1; node >= 0; --node) {
    const Station& station = stations_[at(node)];
    for (int k = station.first_eliminated; k < station.last_eliminated; ++k) eliminate(order_[at(k)], groups, tree, work);
    if (node == 0) break;
    if constexpr (!kIsLanes<S>)
      if (compounds_ && compounds_->owns(node)) {
        compounds_->inward(tree, work, node, b);
        continue;
      }
    if (station.spins && may_spin)
      recursions::take_force_inward(tree, work, node);
    else
      recursions::take_inward(tree, work, node);
    if (station.first_passage == station.last_passage) continue;
    if (station.way <= Way::kPlanar) {
      const S& u = work.u[tree.nodes[at(node)].v];
      if constexpr (!kIsLanes<S>)
        if (station.way == Way::kPlanarOne) {
          pass_planar(work[node], u, passages_[at(station.first_passage)], false, true);
          const Coupling& k = couplings_[at(station.first_coupling)];
          S* const numbers = numbers_.data();
          recursions::add_outer_of_few(k.rows, k.first, numbers + k.u, numbers + k.y, numbers + k.values);
          continue;
        }
      const Passage* const last = passages_.data() + station.last_passage;
      for (const Passage* k = passages_.data() + station.first_passage; k != last; ++k) pass_planar(work[node], u, *k, false);
      couple(station);
    } else if (station.way <= Way::kAxis) {
      pass(tree, work, node);
    } else {
      pass_all(tree, work, groups, node);
    }
  }
}

template <class S, class T, class C>
void EliminationPasses<S, T, C>::inward_unforced(const T& tree, TreeWork<S>& work, std::span<const C> groups, const VecX<S>& b,
                                                 std::span<const C> open) {
  for (NodeWork<S>& node : work.nodes) node.n.setZero(), node.f.setZero();
  work.tau.setZero();
  inward(tree, work, groups, b, open);
}

/// Nothing is pushed inward but from where something has been eliminated.
template <class S, class T, class C>
void EliminationPasses<S, T, C>::respond_again(const T& tree, TreeWork<S>& work, const VecX<S>& b, VecX<S>& x, VecX<S>& lambda) {
  work.u.setZero();
  S* const numbers = numbers_.data();
  bool is_pushed = false;
  for (const Group& group : groups_) {
    for (int c = 0; c < group.columns; ++c) numbers[group.rhs + c] = b.data()[group.first_row + c];
    is_pushed |= group.K >= 0;
  }
  if (!is_pushed) {  // all meet at the ground
    for (const int g : order_) push(groups_[at(g)], false, work[0]);
    return outward(tree, work, x, lambda);
  }
  for (NodeWork<S>& node : work.nodes) node.n.setZero(), node.f.setZero();
  work.tau.setZero();
  is_pushed = false;
  for (int i = tree.size() - 1; i >= 0; --i) {
    const Station& station = stations_[at(i)];
    for (int k = station.first_eliminated; k < station.last_eliminated; ++k) {
      const Group& group = groups_[at(order_[at(k)])];
      push(group, tree.nodes[at(i)].planar, work[i]);
      is_pushed |= group.K >= 0;
    }
    if (i == 0 || !is_pushed) continue;
    const auto& node = tree.nodes[at(i)];
    recursions::take_force_inward(tree, work, i);
    for (int p = station.first_passage; p < station.last_passage; ++p) {
      const Passage& passage = passages_[at(p)];
      for (int k = 0; k < velocity_count(node.kind); ++k)
        for (int c = 0; c < passage.columns; ++c)
          numbers[passage.rhs + c] -= numbers[passage.y + k * padded(passage.columns) + c] * work.u[node.v + k];
    }
  }
  outward(tree, work, x, lambda);
}

/// What a group's elimination does to the right-hand sides of groups that reach further, and to the forces on its node.
template <class S, class T, class C>
void EliminationPasses<S, T, C>::push(const Group& group, bool planar, NodeWork<S>& node) {
  const int m = group.columns, stride = padded(m);
  S* const numbers = numbers_.data();
  const S *const P = numbers + group.inverse, *const rhs = numbers + group.rhs;
  for (const Later& later : group.later)
    for (int r = 0; r < later.columns; ++r)
      for (int c = 0; c < m; ++c) numbers[later.rhs + r] -= numbers[later.scaled + r * stride + c] * rhs[c];
  if (group.K < 0) return;
  for (int c = 0; c < m; ++c) {
    S force(0.0);
    for (int l = 0; l < m; ++l) force += P[c * stride + l] * rhs[l];
    const W K = wrench(group.K, c);
    node.n.z() -= K.n.z() * force, node.f.x() -= K.f.x() * force, node.f.y() -= K.f.y() * force;
    if (planar) continue;
    node.n.x() -= K.n.x() * force, node.n.y() -= K.n.y() * force, node.f.z() -= K.f.z() * force;
  }
}

/// How large the diagonal of Lambda would be if the rows' forces had their full lever arms about the joints.
template <class S, class T, class C>
void EliminationPasses<S, T, C>::scale_rows(int index, const C& columns) {
  using std::max;
  const Group& group = groups_[at(index)];
  const S* const sums = &numbers_[at(group.sums)];
  const S turning = sums[0], sliding = sums[1], seeded = sums[2], reach = reach_[at(index)];
  const auto scale_of = [&](const S& moment, const S& force) {
    return turning * (moment + force * reach * reach) + sliding * force;
  };
  S* const scale = &scale_[at(group.first_row)];
  if (columns.bounds()) {
    const S bound = seeded + scale_of(columns.bounds()->moment, columns.bounds()->force);
    for (int c = 0; c < group.columns; ++c) scale[c] = bound;
    return;
  }
  for (int c = 0; c < group.columns; ++c) {
    S most = seeded;
    for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s) {
      const W& F = columns.wrench(static_cast<int>(s), c);
      most = max(most, scale_of(F.n.squaredNorm(), F.f.squaredNorm()));
    }
    scale[c] = most;
  }
}

/// The inverse of a group's own block. kColumns: 0 if there are more than the numbers it is compiled for.
template <class S, class T, class C>
template <int kColumns>
[[gnu::always_inline]] inline void EliminationPasses<S, T, C>::invert(int index) {
  const Group& group = groups_[at(index)];
  const int m = kColumns > 0 ? kColumns : group.columns, stride = padded(m);
  const S* const Lambda = &numbers_[at(group.diagonal)];
  S* const inverse = &numbers_[at(group.inverse)];
  std::array<S, kMaxRows * kMaxRows> P;
  for (int r = 0; r < m; ++r)
    for (int c = 0; c < m; ++c) P[at(r * m + c)] = Lambda[r * stride + c];
  if constexpr (kIsLanes<S>) {
    rank_.weakest = min(rank_.weakest, recursions::ranked_inverse_in_lanes(P.data(), m, &scale_[at(group.first_row)]));
  } else {
    const double* const scale = &scale_[at(group.first_row)];
    char* const dependent = &dependent_[at(group.first_row)];
    const Rank rank = kColumns == 2 ? ranked_inverse_of_two(P.data(), scale, dependent)
                                    : ranked_inverse({P.data(), at(m * m)}, m, {scale, at(m)}, {dependent, at(m)});
    rank_.rank += rank.rank;
    rank_.weakest = std::min(rank_.weakest, rank.weakest);
  }
  for (int r = 0; r < m; ++r)
    for (int c = 0; c < m; ++c) inverse[r * stride + c] = P[at(r * m + c)];
}

/// (2)
template <class S, class T, class C>
void EliminationPasses<S, T, C>::eliminate(int index, std::span<const C> groups, const T& tree, TreeWork<S>& work) {
  const Group& group = groups_[at(index)];
  if (group.columns == 0) return;
  scale_rows(index, groups[at(index)]);
  const bool planar = tree.nodes[at(group.node)].planar;
  if (group.columns == 2)
    invert<2>(index), eliminate_columns<2>(group, planar, work[group.node]);
  else if (group.columns == 3)
    invert<3>(index), eliminate_columns<3>(group, planar, work[group.node]);
  else
    invert<0>(index), eliminate_columns<0>(group, planar, work[group.node]);
}

/// What the inverse does to groups that reach further, and to the node.
template <class S, class T, class C>
template <int kColumns>
[[gnu::always_inline]] inline void EliminationPasses<S, T, C>::eliminate_columns(const Group& group, bool planar,
                                                                                 NodeWork<S>& node) {
  using recursions::load, recursions::store;
  using Loaded = recursions::Loaded<S>;
  constexpr int w = recursions::kTogether<S>;
  const int m = kColumns > 0 ? kColumns : group.columns, stride = padded(m);
  S* const numbers = numbers_.data();
  const S *const P = numbers + group.inverse, *const rhs = numbers + group.rhs;
  for (const Later& later : group.later) {
    const S* L = numbers + later.values;
    S *Z = numbers + later.scaled, *const rhs_h = numbers + later.rhs;
    for (int r = 0; r < later.columns; ++r, L += stride, Z += stride) {
      S all(0.0);
      if (kIsLanes<S> || kColumns == 0 || kColumns > kColumnsAtATime) {
        for (int c = 0; c < m; ++c) {
          S sum = L[0] * P[c];
          for (int l = 1; l < m; ++l) sum += L[l] * P[l * stride + c];
          Z[c] = sum;
          all += sum * rhs[c];
        }
      } else {
        Loaded sum = Loaded(L[0]) * load(P);
        for (int l = 1; l < m; ++l) sum += Loaded(L[l]) * load(P + l * stride);
        store(sum, Z);
        for (int c = 0; c < m; ++c) all += Z[c] * rhs[c];
      }
      rhs_h[r] -= all;
    }
    if (group.K < 0) continue;
    Z = numbers + later.scaled;
    for (int r = 0; r < later.columns; ++r, Z += stride)
      for (int c = 0; c < m; ++c) {
        S* const of_h = numbers + later.K + r / w * (6 * w) + r % w;
        const S* const own = numbers + group.K + c / w * (6 * w) + c % w;
        for (int k = 0; k < 6; ++k) of_h[k * w] -= Z[c] * own[k * w];
      }
  }
  for (const Fill& fill : group.fill) {
    const S *Z = numbers + fill.scaled, *const values = numbers + fill.values;
    S* target = numbers + fill.target;
    const int target_stride = padded(fill.columns);
    for (int r = 0; r < fill.rows; ++r, Z += stride, target += target_stride) {
      const S* L = values;
      for (int c = 0; c < fill.columns; ++c, L += stride) {
        S sum = Z[0] * L[0];
        for (int l = 1; l < m; ++l) sum += Z[l] * L[l];
        target[c] -= sum;
      }
    }
  }
  if (group.K < 0) return;
  // IA += K Lambda^+ K', (n, f) -= K Lambda^+ rhs
  std::array<std::array<S, kColumns == 0 ? kMaxRows : kColumns>, 6> k, kp;
  const int first = planar ? 2 : 0, last = planar ? 5 : 6;
  for (int i = first; i < last; ++i)
    for (int c = 0; c < m; ++c) k[at(i)][at(c)] = numbers[group.K + c / w * (6 * w) + i * w + c % w];
  for (int i = first; i < last; ++i)
    for (int c = 0; c < m; ++c) {
      S sum = P[c] * k[at(i)][0];
      for (int l = 1; l < m; ++l) sum += P[l * stride + c] * k[at(i)][at(l)];
      kp[at(i)][at(c)] = sum;
    }
  const auto product = [&](std::size_t i, std::size_t j) {
    S sum = kp[i][0] * k[j][0];
    for (int c = 1; c < m; ++c) sum += kp[i][at(c)] * k[j][at(c)];
    return sum;
  };
  const auto load_of = [&](std::size_t i) {
    S sum = kp[i][0] * rhs[0];
    for (int c = 1; c < m; ++c) sum += kp[i][at(c)] * rhs[c];
    return sum;
  };
  Sym3<S>&I = node.IA.I, &M = node.IA.M;
  Mat3<S>& H = node.IA.H;
  I.zz += product(2, 2);
  H(2, 0) += product(2, 3), H(2, 1) += product(2, 4);
  M.xx += product(3, 3), M.xy += product(3, 4), M.yy += product(4, 4);
  node.n.z() -= load_of(2), node.f.x() -= load_of(3), node.f.y() -= load_of(4);
  if (planar) return;
  I.xx += product(0, 0), I.xy += product(0, 1), I.xz += product(0, 2), I.yy += product(1, 1), I.yz += product(1, 2);
  M.xz += product(3, 5), M.yz += product(4, 5), M.zz += product(5, 5);
  H(0, 0) += product(0, 3), H(0, 1) += product(0, 4), H(0, 2) += product(0, 5);
  H(1, 0) += product(1, 3), H(1, 1) += product(1, 4), H(1, 2) += product(1, 5), H(2, 2) += product(2, 5);
  node.n.x() -= load_of(0), node.n.y() -= load_of(1), node.f.z() -= load_of(5);
}

template <class S, class T, class C>
void EliminationPasses<S, T, C>::outward(const T& tree, TreeWork<S>& work, VecX<S>& vdot, VecX<S>& lambda) {
  const S* const numbers = numbers_.data();
  S* const multipliers = lambda.data();
  const Station* station = stations_.data();
  const Passage* const passages = passages_.data();
  for (int node = 0, size = tree.size(); node < size; ++node, ++station) {
    bool is_embedded = false;
    if constexpr (!kIsLanes<S>) is_embedded = compounds_ && compounds_->owns(node);
    if constexpr (!kIsLanes<S>)
      if (is_embedded) compounds_->outward(tree, work, node, vdot);
    if (node > 0 && !is_embedded) {
      const auto& joint = tree.nodes[at(node)];
      S* const x = vdot.data() + joint.v;
      const Passage *const first = passages + station->first_passage, *const last = passages + station->last_passage;
      // What the joint is given, by the multipliers known so far too.
      const auto given = [&](const Passage& passage, int k, S force) {
        const S *const u = numbers + passage.u + k * padded(passage.columns), *const own = multipliers + passage.first_row;
        if (passage.columns == 2) return force + (u[0] * own[0] + u[1] * own[1]);
        for (int c = 0; c < passage.columns; ++c) force += u[c] * own[c];
        return force;
      };
      if (station->way == Way::kPlanarOne || station->way == Way::kAxisOne) {
        const S force = given(*first, 0, work.u[joint.v]);
        recursions::take_outward(tree, work, node, &force, x);
      } else if (const int nv = velocity_count(joint.kind); nv == 1) {
        S force = work.u[joint.v];
        for (const Passage* p = first; p != last; ++p) force = given(*p, 0, force);
        recursions::take_outward(tree, work, node, &force, x);
      } else {
        std::array<S, 6> forces;
        for (int k = 0; k < nv; ++k) {
          forces[at(k)] = work.u[joint.v + k];
          for (const Passage* p = first; p != last; ++p) forces[at(k)] = given(*p, k, forces[at(k)]);
        }
        recursions::take_outward(tree, work, node, forces.data(), x);
      }
    }
    for (int k = station->last_eliminated; k-- > station->first_eliminated;) recover(order_[at(k)], work, lambda);
  }
}

template <class S, class T, class C>
void EliminationPasses<S, T, C>::subtract_rates(const TreeWork<S>& work, std::span<const C> groups, const VecX<S>& vdot,
                                                VecX<S>& x, VecX<S>* size) const {
  for (int g = 0; g < closed_; ++g) {
    const Group& group = groups_[at(g)];
    const C& columns = groups[at(g)];
    for (int c = 0; c < group.columns; ++c) {
      S sum = 0.0, uncancelled = 0.0;
      using std::abs;
      const auto add = [&](const S& term) { sum += term, uncancelled += abs(term); };
      for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s) {
        const W& F = columns.wrench(static_cast<int>(s), c);
        const NodeWork<S>& a = work[columns.seed_nodes()[s]];
        if (columns.seed_nodes()[s] != 0) add(F.n.dot(a.dw) + F.f.dot(a.dv));
      }
      for (std::size_t s = 0; s < columns.seed_dofs().size(); ++s)
        add(columns.force(static_cast<int>(s), c) * vdot[columns.seed_dofs()[s]]);
      x[group.first_row + c] -= sum;
      if (size) (*size)[group.first_row + c] = uncancelled;
    }
  }
}

/// lambda of a group, once its node's acceleration and the later multipliers are known.
template <class S, class T, class C>
void EliminationPasses<S, T, C>::recover(int index, const TreeWork<S>& work, VecX<S>& lambda) {
  const Group& group = groups_[at(index)];
  if (group.columns == 2)
    recover_columns<2>(group, work, lambda.data());
  else if (group.columns == 3)
    recover_columns<3>(group, work, lambda.data());
  else if (group.columns > 0)
    recover_columns<0>(group, work, lambda.data());
  for (int row = group.first_row + group.columns; row < group.last_row; ++row) lambda.data()[row] = S(0.0);
}

template <class S, class T, class C>
template <int kColumns>
[[gnu::always_inline]] inline void EliminationPasses<S, T, C>::recover_columns(const Group& group, const TreeWork<S>& work,
                                                                               S* lambda) {
  using recursions::load, recursions::store;
  using Loaded = recursions::Loaded<S>;
  constexpr int w = recursions::kTogether<S>;
  const int m = kColumns > 0 ? kColumns : group.columns, stride = padded(m);
  const S* const numbers = numbers_.data();
  S* const own = lambda + group.first_row;
  std::array<S, padded(kMaxRows)> left;
  for (int k = 0; k < recursions::steps<S>(m); ++k) {
    Loaded rest = load(numbers + group.rhs + k * w);
    if (group.K >= 0) {
      const S* const K = numbers + group.K + k * (6 * w);
      const Vec3<S>&dw = work[group.node].dw, &dv = work[group.node].dv;
      for (int i = 0; i < 3; ++i) rest -= load(K + i * w) * Loaded(dw[i]) + load(K + (i + 3) * w) * Loaded(dv[i]);
    }
    store(rest, &left[at(k * w)]);
  }
  const S* P = numbers + group.inverse;
  for (int r = 0; r < m; ++r, P += stride) {
    S sum = P[0] * left[0];
    for (int c = 1; c < m; ++c) sum += P[c] * left[at(c)];
    own[r] = sum;
  }
  for (const Later& later : group.later) {
    const S* Z = numbers + later.scaled;
    for (int r = 0; r < later.columns; ++r, Z += stride) {
      const S of_h = lambda[later.first_row + r];
      for (int c = 0; c < m; ++c) own[c] -= Z[c] * of_h;
    }
  }
  if constexpr (!kIsLanes<S>)
    for (int r = 0; r < m; ++r) {
      const std::size_t row = at(group.first_row + r);
      inconsistency_[row] = 0.0;
      if (!dependent_[row]) continue;
      S met = 0.0;
      for (int c = 0; c < m; ++c) met += numbers[group.diagonal + r * stride + c] * own[c];
      for (const Later& later : group.later)
        for (int k = 0; k < later.columns; ++k) met += numbers[later.values + k * stride + r] * lambda[later.first_row + k];
      inconsistency_[row] = left[at(r)] - met;
    }
}

}  // namespace linkwork
