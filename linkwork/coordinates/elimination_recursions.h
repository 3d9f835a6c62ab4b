#pragma once

#include <algorithm>
#include <array>

#include "linkwork/coordinates/compounds.h"
#include "linkwork/coordinates/elimination_passes.h"
#include "linkwork/linalg/index.h"
#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/spatial/lanes.h"
#include "linkwork/tree/aba_recursions.h"
#include "linkwork/tree/link_rotation.h"
#include "linkwork/tree/planar.h"

/// The passes of LoopElimination, for any tree and any kind of numbers. To be compiled in few places.
namespace linkwork {

template <class S, class T, class C>
EliminationPasses<S, T, C>::EliminationPasses(const EliminationPlan& plan)
    : EliminationPlan(plan),
      sums_(groups_.size()),
      K_(at(wrenches_)),
      u_(at(numbers_)),
      y_(at(numbers_)),
      Lambda_(at(values_)),
      scaled_(at(values_)),
      inverse_(at(diagonals_)),
      rhs_(at(rows_)),
      scale_(at(rows_)),
      force_(VecX<S>::Zero(dofs_)),
      dependent_(at(rows_), 1),
      inconsistency_(at(rows_)) {
  for (const Group& group : groups_) reach_.push_back(group.reach);
}

template <class S, class T, class C>
void EliminationPasses<S, T, C>::start(std::span<const C> groups, const VecX<S>& b, std::span<const C> open) {
  rank_ = {};
  for (int K : cleared_) K_[at(K)] = {};
  for (S& value : Lambda_) value = 0.0;
  const std::size_t given = static_cast<std::size_t>(b.size());
  for (std::size_t row = 0; row < rhs_.size(); ++row) rhs_[row] = row < given ? b.data()[row] : 0.0;
  for (Sums& sums : sums_) sums.turning = sums.sliding = sums.seeded = S(0.0);
  for (const Seed& seed : seeds_) {
    const C& columns = seed.group < closed_ ? groups[at(seed.group)] : open[at(seed.group - closed_)];
    W* const K = &K_[at(seed.K)];
    const W* const F = &columns.wrench(seed.wrench, 0);
    for (int c = 0; c < columns.working(); ++c)
      if (seed.first)
        K[c] = F[c];
      else
        K[c] += F[c];
  }
}

namespace recursions {

/// Of the part that counts: a spherical joint's is in the upper left block, the rest zero.
template <class S>
S largest_of_diagonal(const Mat6<S>& A) {
  using std::max;
  S most = A(0, 0);
  for (int k = 1; k < 6; ++k) most = max(most, A(k, k));
  return most;
}

/// Lambda += u y'. The frequent sizes are written out: a loop costs more than what it does.
template <class S>
inline void add_outer(int rows, int columns, const S* u, const S* y, S* Lambda) {
  if (rows == 2 && columns == 2) {
    const S u0 = u[0], u1 = u[1], y0 = y[0], y1 = y[1];
    Lambda[0] += u0 * y0, Lambda[1] += u0 * y1;
    Lambda[2] += u1 * y0, Lambda[3] += u1 * y1;
    return;
  }
  if (columns == 3) {
    const S y0 = y[0], y1 = y[1], y2 = y[2];
    for (int r = 0; r < rows; ++r, Lambda += 3) Lambda[0] += u[r] * y0, Lambda[1] += u[r] * y1, Lambda[2] += u[r] * y2;
    return;
  }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) *Lambda++ += u[r] * y[c];
}

/// The same as ranked_inverse(), lane by lane. Returns by lane the weakest pivot relative to its row's scale, 0 where rows depend
/// on others.
template <int N>
LanesOf<N> ranked_inverse_in_lanes(LanesOf<N>* a, int m, const LanesOf<N>* scale) {
  using Lanes = LanesOf<N>;
  const Lanes zero(0.0), one(1.0), tolerance(kRankTolerance);
  const auto ratio = [&](int p) { return select(scale[p] > zero, a[p * m + p] / scale[p], zero); };
  if (m == 2) {
    const Lanes ratio0 = ratio(0), ratio1 = ratio(1);
    const LaneMask<N> second_first = ratio1 > ratio0;
    const Lanes best = select(second_first, ratio1, ratio0);
    const Lanes first = one / select(second_first, a[3], a[0]), factor = a[1] * first;
    const Lanes left = select(second_first, a[0], a[3]) - a[1] * factor, left_scale = select(second_first, scale[0], scale[1]);
    const Lanes left_ratio = select(left_scale > zero, left / left_scale, zero), second = one / left;
    const Lanes whole = first + factor * factor * second;
    a[0] = select(second_first, second, whole), a[3] = select(second_first, whole, second);
    a[1] = a[2] = -factor * second;
    return select((best > tolerance) & (left_ratio > tolerance), min(min(one, best), left_ratio), zero);
  }
  // Sweeps with the pivots that a lane chooses. What other lanes choose as well is done with it; the rest have a turn of their
  // own. So what a lane gets does not depend on the others.
  constexpr int kMost = kMaxRows;
  std::array<Lanes, kMost * kMost> given;
  std::copy_n(a, m * m, given.data());
  LaneMask<N> left = LaneMask<N>::of(true);
  Lanes weakest_of_all = zero;
  for (int lane = 0; lane < N; ++lane) {
    if (!left[lane]) continue;
    std::array<Lanes, kMost* kMost> own = given;
    std::array<bool, kMost> swept{};
    Lanes weakest = one;
    LaneMask<N> alike = left;
    for (int count = 0; count < m; ++count) {
      Lanes best = tolerance, place(-1.0);
      for (int i = 0; i < m; ++i) {
        if (swept[at(i)]) continue;
        const Lanes pivot = own[at(i * m + i)], each = select(scale[i] > zero, pivot / scale[i], zero);
        const LaneMask<N> is_better = each > best;
        best = select(is_better, each, best), place = select(is_better, Lanes(i), place);
      }
      alike &= !(place != Lanes(place[lane]));
      const int p = static_cast<int>(place[lane]);
      if (p < 0) {  // nothing is left of the other rows
        weakest = zero;
        break;
      }
      const Lanes inverse = one / own[at(p * m + p)];
      for (int i = 0; i < m; ++i) {
        if (i == p) continue;
        const Lanes factor = own[at(i * m + p)] * inverse;
        for (int j = 0; j < m; ++j)
          if (j != p) own[at(i * m + j)] -= factor * own[at(p * m + j)];
        own[at(i * m + p)] = factor;
      }
      for (int j = 0; j < m; ++j)
        if (j != p) own[at(p * m + j)] = own[at(j * m + p)];
      own[at(p * m + p)] = -inverse;
      swept[at(p)] = true;
      weakest = min(weakest, best);
    }
    for (int i = 0; i < m * m; ++i) a[i] = select(alike, -own[at(i)], a[i]);
    weakest_of_all = select(alike, weakest, weakest_of_all);
    left &= !alike;
  }
  return weakest_of_all;
}

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

/// accelerate(), here for planar nodes.
template <class T, class S>
inline void take_outward(const T& tree, TreeWork<S>& work, int i, const VecX<S>& u, VecX<S>& vdot) {
  const auto& node = tree.nodes[at(i)];
  if (node.planar && node.parent != 0)
    vdot[node.v] = planar::accelerate(work[node.parent], work[i], u[node.v]);
  else
    accelerate(tree, work, i, u, vdot);
}

}  // namespace recursions

/// The columns of one group over the joint of a planar node.
template <class S, class T, class C>
inline void EliminationPasses<S, T, C>::pass_planar(const NodeWork<S>& work, const S& u_joint, const Passage& passage,
                                                    bool seeded) {
  const S cq = work.cq, sq = work.sq, px = work.p.x(), py = work.p.y(), Dinv = work.Dinv;
  const S Uw = work.Uw.z(), Ufx = work.Uf.x(), Ufy = work.Uf.y();
  sums_[at(passage.group)].turning += Dinv;
  const W* K = &K_[at(passage.K)];
  W* above = passage.parent_K < 0 ? nullptr : &K_[at(passage.parent_K)];
  S* const u = &u_[at(passage.u)];
  S* const y = &y_[at(passage.u)];
  S* const rhs = &rhs_[at(passage.first_row)];
  for (int c = 0; c < passage.columns; ++c, ++K) {
    const S uc = seeded ? K->n.z() + u[c] : K->n.z(), yc = Dinv * uc;
    u[c] = uc;
    y[c] = yc;
    rhs[c] -= yc * u_joint;
    if (!above) continue;
    const S x = K->f.x() - yc * Ufx, z = K->f.y() - yc * Ufy;
    const S fx = cq * x - sq * z, fy = sq * x + cq * z, n = (K->n.z() - yc * Uw) + (px * fy - py * fx);
    if (passage.first) {
      *above++ = {{0.0, 0.0, n}, {fx, fy, 0.0}};
    } else {
      above->n.z() += n;
      above->f.x() += fx, above->f.y() += fy;
      ++above;
    }
  }
}

/// The same over any joint with one axis. Numbers that all columns need are kept apart from what is written.
template <class S, class T, class C>
template <class N>
void EliminationPasses<S, T, C>::pass_axis(const N& node, const NodeWork<S>& work, const S& u_joint, const Passage& passage,
                                           bool seeded) {
  const auto axis = joint_axis(node);
  const link::Turn<S> turn{work.cq, work.sq};
  const Vec3<S> p = work.p, Uw = work.Uw, Uf = work.Uf;
  const S Dinv = work.Dinv;
  Sums& sums = sums_[at(passage.group)];
  sums.turning += axis.turn * axis.turn * Dinv;
  sums.sliding += axis.slide * axis.slide * Dinv;
  const W* K = &K_[at(passage.K)];
  W* const above = passage.parent_K < 0 ? nullptr : &K_[at(passage.parent_K)];
  S* const u = &u_[at(passage.u)];
  S* const y = &y_[at(passage.u)];
  S* const rhs = &rhs_[at(passage.first_row)];
  for (int c = 0; c < passage.columns; ++c, ++K) {
    S uc = axis.turn * K->n.z() + axis.slide * K->f.z();
    if (seeded) uc += u[c];
    const S yc = Dinv * uc;
    u[c] = uc;
    y[c] = yc;
    rhs[c] -= yc * u_joint;
    if (!above) continue;
    Vec3<S> n = K->n - yc * Uw, f = K->f - yc * Uf;
    link::to_parent(node, turn, n, f);
    n += p.cross(f);
    if (passage.first)
      above[c] = {n, f};
    else
      above[c] += {n, f};
  }
}

/// Takes all columns at a node over its joint to the parent.  (1)
template <class S, class T, class C>
inline void EliminationPasses<S, T, C>::pass(const T& tree, TreeWork<S>& work, std::span<const C> groups, int i) {
  const auto& node = tree.nodes[at(i)];
  const Station& station = stations_[at(i)];
  const bool is_one = station.first_passage + 1 == station.last_passage && station.first_seed == station.last_seed;
  if (!is_one || velocity_count(node.kind) != 1) return pass_all(tree, work, groups, i);
  const Passage& passage = passages_[at(station.first_passage)];
  if (node.planar)
    pass_planar(work[i], work.u[node.v], passage, false);
  else
    pass_axis(node, work[i], work.u[node.v], passage, false);
  recursions::add_outer(passage.columns, passage.columns, &u_[at(passage.u)], &y_[at(passage.u)],
                        &Lambda_[at(groups_[at(passage.group)].diagonal)]);
}

template <class S, class T, class C>
void EliminationPasses<S, T, C>::inward(const T& tree, TreeWork<S>& work, std::span<const C> groups, const VecX<S>& b,
                                        std::span<const C> open) {
  recursions::start_inertias(tree, work);
  start(groups, b, open);
  for (int node = tree.size() - 1; node >= 0; --node) {
    const Station& station = stations_[at(node)];
    for (int k = station.first_eliminated; k < station.last_eliminated; ++k) eliminate(order_[at(k)], groups, work);
    if (node == 0) break;
    if constexpr (!kIsLanes<S>)
      if (compounds_ && compounds_->owns(node)) {
        compounds_->inward(tree, work, node, b);
        continue;
      }
    recursions::take_inward(tree, work, node);
    if (station.first_passage != station.last_passage) pass(tree, work, groups, node);
  }
}

template <class S, class T, class C>
void EliminationPasses<S, T, C>::inward_unforced(const T& tree, TreeWork<S>& work, std::span<const C> groups, const VecX<S>& b,
                                                 std::span<const C> open) {
  for (NodeWork<S>& node : work.nodes) node.n.setZero(), node.f.setZero();
  work.tau.setZero();
  inward(tree, work, groups, b, open);
}

/// The general case of pass().
template <class S, class T, class C>
void EliminationPasses<S, T, C>::pass_all(const T& tree, TreeWork<S>& work, std::span<const C> groups, int i) {
  const auto& node = tree.nodes[at(i)];
  const Station& station = stations_[at(i)];
  const int nv = velocity_count(node.kind);
  const bool seeded = station.first_seed != station.last_seed;
  if (seeded || nv > 1) {
    const Passage &first = passages_[at(station.first_passage)], &last = passages_[at(station.last_passage - 1)];
    std::fill(&u_[at(first.u)], &u_[at(last.u)] + last.columns * nv, S(0.0));
  }
  for (int s = station.first_seed; s < station.last_seed; ++s) {
    const JointSeed& seed = joint_seeds_[at(s)];
    const Passage& passage = passages_[at(seed.passage)];
    for (int c = 0; c < passage.columns; ++c) {
      const S force = groups[at(seed.group)].force(seed.force, c);
      u_[at(passage.u + c * nv + seed.component)] += force;
      sums_[at(seed.group)].seeded +=
          force * force * (nv == 1 ? work[i].Dinv : recursions::largest_of_diagonal(work.block(i).IA_inverse));
    }
  }
  for (int p = station.first_passage; p < station.last_passage; ++p) {
    if (node.planar)
      pass_planar(work[i], work.u[node.v], passages_[at(p)], seeded);
    else if (nv == 1)
      pass_axis(node, work[i], work.u[node.v], passages_[at(p)], seeded);
    else
      pass_block(tree, work, i, passages_[at(p)]);
  }
  const Coupling* const last = couplings_.data() + station.last_coupling;
  for (const Coupling* coupling = couplings_.data() + station.first_coupling; coupling != last; ++coupling) {
    const S* u = &u_[at(coupling->u)];
    const S* const y = &y_[at(coupling->y)];
    S* Lambda = &Lambda_[at(coupling->values)];
    if (nv == 1) {
      recursions::add_outer(coupling->rows, coupling->columns, u, y, Lambda);
      continue;
    }
    for (int r = 0; r < coupling->rows; ++r, u += nv)
      for (int c = 0; c < coupling->columns; ++c) {
        S sum = 0.0;
        for (int l = 0; l < nv; ++l) sum += u[l] * y[c * nv + l];
        *Lambda++ += sum;
      }
  }
}

/// The same over a spherical or free joint.
template <class S, class T, class C>
void EliminationPasses<S, T, C>::pass_block(const T& tree, const TreeWork<S>& work, int i, const Passage& passage) {
  const auto& node = tree.nodes[at(i)];
  const BlockWork<S>& block = work.block(i);
  const int nv = velocity_count(node.kind);
  Sums& sums = sums_[at(passage.group)];
  sums.turning += block.IA_inverse.template topLeftCorner<3, 3>().trace();
  sums.sliding += block.IA_inverse.template bottomRightCorner<3, 3>().trace();
  for (int c = 0; c < passage.columns; ++c) {
    W K = K_[at(passage.K + c)];
    S* const u = &u_[at(passage.u + c * nv)];
    S* const y = &y_[at(passage.u + c * nv)];
    std::array<S, 6> own;
    joint_force(tree, work, i, K.n, K.f, own.data());
    for (int k = 0; k < nv; ++k) u[k] += own[at(k)];
    const Eigen::Map<const Vec3<S>> u0(u);
    if (node.kind == NodeKind::kSpherical) {
      const Vec3<S> x = block.IA_inverse.template topLeftCorner<3, 3>() * u0;
      Eigen::Map<Vec3<S>>{y} = x;
      K.f -= work[i].IA.H.transpose() * x;
      K.n -= u0;
    } else {
      const Eigen::Map<const Vec3<S>> u1(u + 3);
      Vec6<S> F;
      F << u1, block.Rq.transpose() * u0;
      const Vec6<S> A = block.IA_inverse * F;
      Eigen::Map<Vec3<S>>{y} = block.Rq * A.template tail<3>();
      Eigen::Map<Vec3<S>>{y + 3} = A.template head<3>();
      K.n -= u1;
      K.f -= F.template tail<3>();
    }
    for (int k = 0; k < nv; ++k) rhs_[at(passage.first_row + c)] -= y[k] * work.u[node.v + k];
    if (passage.parent_K < 0) continue;
    link::wrench_to_parent(tree, work, i, K.n, K.f);
    W& above = K_[at(passage.parent_K + c)];
    if (passage.first) above = {};
    above += K;
  }
}

/// How large the diagonal of Lambda would be if the rows' forces had their full lever arms about the joints.
template <class S, class T, class C>
void EliminationPasses<S, T, C>::scale_rows(int index, const C& columns) {
  using std::max;
  const Group& group = groups_[at(index)];
  const Sums& sums = sums_[at(index)];
  const S reach = reach_[at(index)];
  const auto scale_of = [&](const S& moment, const S& force) {
    return sums.turning * (moment + force * reach * reach) + sums.sliding * force;
  };
  if (columns.bounds()) {
    const S scale = sums.seeded + scale_of(columns.bounds()->moment, columns.bounds()->force);
    std::fill_n(&scale_[at(group.first_row)], group.columns, scale);
    return;
  }
  for (int c = 0; c < group.columns; ++c) {
    S scale = sums.seeded;
    for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s) {
      const W& F = columns.wrench(static_cast<int>(s), c);
      scale = max(scale, scale_of(F.n.squaredNorm(), F.f.squaredNorm()));
    }
    scale_[at(group.first_row + c)] = scale;
  }
}

/// (2)
template <class S, class T, class C>
void EliminationPasses<S, T, C>::eliminate(int index, std::span<const C> groups, TreeWork<S>& work) {
  const Group& group = groups_[at(index)];
  const int m = group.columns;
  scale_rows(index, groups[at(index)]);
  S* const P = &inverse_[at(group.diagonal)];
  std::copy_n(&Lambda_[at(group.diagonal)], m * m, P);
  if constexpr (kIsLanes<S>) {
    rank_.weakest = min(rank_.weakest, recursions::ranked_inverse_in_lanes(P, m, &scale_[at(group.first_row)]));
  } else {
    const Rank rank =
        ranked_inverse({P, at(m * m)}, m, {&scale_[at(group.first_row)], at(m)}, {&dependent_[at(group.first_row)], at(m)});
    rank_.rank += rank.rank;
    rank_.weakest = std::min(rank_.weakest, rank.weakest);
  }
  const S* const rhs = &rhs_[at(group.first_row)];

  for (const Later& later : group.later) {
    const Group& h = groups_[at(later.group)];
    const S* const L = &Lambda_[at(later.values)];
    S* const Z = &scaled_[at(later.values)];
    for (int r = 0; r < h.columns; ++r)
      for (int c = 0; c < m; ++c) {
        S sum = 0.0;
        for (int l = 0; l < m; ++l) sum += L[r * m + l] * P[l * m + c];
        Z[r * m + c] = sum;
        rhs_[at(h.first_row + r)] -= sum * rhs[c];
      }
    if (group.K < 0) continue;
    for (int r = 0; r < h.columns; ++r)
      for (int c = 0; c < m; ++c) {
        K_[at(later.K + r)].n -= Z[r * m + c] * K_[at(group.K + c)].n;
        K_[at(later.K + r)].f -= Z[r * m + c] * K_[at(group.K + c)].f;
      }
  }
  for (const Fill& fill : group.fill) {
    const Later& a = group.later[at(fill.a)];
    const Later& b = group.later[at(fill.b)];
    const int rows = groups_[at(a.group)].columns, cols = groups_[at(b.group)].columns;
    const S* const Z = &scaled_[at(a.values)];
    const S* const L = &Lambda_[at(b.values)];
    S* const target = &Lambda_[at(fill.values)];
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        S sum = 0.0;
        for (int l = 0; l < m; ++l) sum += Z[r * m + l] * L[c * m + l];
        target[r * cols + c] -= sum;
      }
  }
  if (group.K < 0) return;
  NodeWork<S>& node = work[group.node];
  for (int c = 0; c < m; ++c) {
    W KP;
    for (int l = 0; l < m; ++l) {
      KP.n += P[l * m + c] * K_[at(group.K + l)].n;
      KP.f += P[l * m + c] * K_[at(group.K + l)].f;
    }
    const W& K = K_[at(group.K + c)];
    node.IA.I.downdate(K.n, Vec3<S>(-KP.n));
    node.IA.M.downdate(K.f, Vec3<S>(-KP.f));
    node.IA.H += KP.n * K.f.transpose();
    node.n -= rhs[c] * KP.n;
    node.f -= rhs[c] * KP.f;
  }
}

/// What the multipliers known so far do at a joint.
template <class S, class T, class C>
template <class N>
inline void EliminationPasses<S, T, C>::add_multipliers(const N& node, const Station& station, const S* lambda) {
  const int nv = velocity_count(node.kind);
  S* const force = force_.data() + node.v;
  for (int p = station.first_passage; p < station.last_passage; ++p) {
    const Passage& passage = passages_[at(p)];
    const S* u = &u_[at(passage.u)];
    if (nv == 1) {
      S sum = force[0];
      for (int c = 0; c < passage.columns; ++c) sum += u[c] * lambda[passage.first_row + c];
      force[0] = sum;
      continue;
    }
    for (int c = 0; c < passage.columns; ++c)
      for (int k = 0; k < nv; ++k) force[k] += *u++ * lambda[passage.first_row + c];
  }
}

template <class S, class T, class C>
void EliminationPasses<S, T, C>::outward(const T& tree, TreeWork<S>& work, VecX<S>& vdot, VecX<S>& lambda) {
  force_ = work.u;
  for (int node = 0; node < tree.size(); ++node) {
    const Station& station = stations_[at(node)];
    if (station.first_passage != station.last_passage) add_multipliers(tree.nodes[at(node)], station, lambda.data());
    bool is_embedded = false;
    if constexpr (!kIsLanes<S>) is_embedded = compounds_ && compounds_->owns(node);
    if constexpr (!kIsLanes<S>)
      if (is_embedded) compounds_->outward(tree, work, node, vdot);
    if (node > 0 && !is_embedded) recursions::take_outward(tree, work, node, force_, vdot);
    for (int k = station.last_eliminated; k-- > station.first_eliminated;) recover(order_[at(k)], work, lambda);
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
  const int m = group.columns;
  std::array<S, kMaxRows> left;
  for (int c = 0; c < m; ++c) {
    left[at(c)] = rhs_[at(group.first_row + c)];
    if (group.K < 0) continue;
    const W& K = K_[at(group.K + c)];
    left[at(c)] -= K.n.dot(work[group.node].dw) + K.f.dot(work[group.node].dv);
  }
  const S* const P = &inverse_[at(group.diagonal)];
  for (int r = 0; r < m; ++r) {
    S sum = 0.0;
    for (int c = 0; c < m; ++c) sum += P[r * m + c] * left[at(c)];
    lambda[group.first_row + r] = sum;
  }
  for (const Later& later : group.later) {
    const Group& h = groups_[at(later.group)];
    const S* const Z = &scaled_[at(later.values)];
    for (int r = 0; r < h.columns; ++r)
      for (int c = 0; c < m; ++c) lambda[group.first_row + c] -= Z[r * m + c] * lambda[h.first_row + r];
  }
  std::fill(lambda.data() + group.first_row + m, lambda.data() + group.last_row, S(0.0));
  if constexpr (!kIsLanes<S>)
    for (int r = 0; r < m; ++r) {
      const std::size_t row = at(group.first_row + r);
      inconsistency_[row] = 0.0;
      if (!dependent_[row]) continue;
      S met = 0.0;
      for (int c = 0; c < m; ++c) met += Lambda_[at(group.diagonal + r * m + c)] * lambda[group.first_row + c];
      for (const Later& later : group.later)
        for (int k = 0; k < groups_[at(later.group)].columns; ++k)
          met += Lambda_[at(later.values + k * m + r)] * lambda[groups_[at(later.group)].first_row + k];
      inconsistency_[row] = left[at(r)] - met;
    }
}

}  // namespace linkwork
