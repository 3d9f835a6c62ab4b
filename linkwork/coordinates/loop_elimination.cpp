#include "linkwork/coordinates/loop_elimination.h"

#include <algorithm>
#include <array>

#include "linkwork/linalg/index.h"
#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/link_rotation.h"
#include "linkwork/tree/planar.h"

namespace linkwork {

namespace {

using W = Wrench<double>;

}  // namespace

void LoopElimination::start(std::span<const ForceColumns> groups, const VecX<double>& b, std::span<const ForceColumns> open) {
  rank_ = {};
  for (int K : cleared_) K_[at(K)] = {};
  for (double& value : Lambda_) value = 0.0;
  const std::size_t given = static_cast<std::size_t>(b.size());
  for (std::size_t row = 0; row < rhs_.size(); ++row) rhs_[row] = row < given ? b.data()[row] : 0.0;
  for (Group& group : groups_) group.turning = group.sliding = group.seeded = 0.0;
  for (const Seed& seed : seeds_) {
    const ForceColumns& columns = seed.group < closed_ ? groups[at(seed.group)] : open[at(seed.group - closed_)];
    W* const K = &K_[at(seed.K)];
    const W* const F = &columns.wrench(seed.wrench, 0);
    for (int c = 0; c < columns.working(); ++c)
      if (seed.first)
        K[c] = F[c];
      else
        K[c] += F[c];
  }
}

namespace {

/// Lambda += u y'. The frequent sizes are written out: a loop costs more than what it does.
inline void add_outer(int rows, int columns, const double* u, const double* y, double* Lambda) {
  if (rows == 2 && columns == 2) {
    const double u0 = u[0], u1 = u[1], y0 = y[0], y1 = y[1];
    Lambda[0] += u0 * y0, Lambda[1] += u0 * y1;
    Lambda[2] += u1 * y0, Lambda[3] += u1 * y1;
    return;
  }
  if (columns == 3) {
    const double y0 = y[0], y1 = y[1], y2 = y[2];
    for (int r = 0; r < rows; ++r, Lambda += 3) Lambda[0] += u[r] * y0, Lambda[1] += u[r] * y1, Lambda[2] += u[r] * y2;
    return;
  }
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < columns; ++c) *Lambda++ += u[r] * y[c];
}

/// A node's inertia and force: articulate() and reduce_force(), here for planar nodes.
inline void take_inward(const Tree& tree, TreeWork<double>& work, int i) {
  const Node& node = tree.nodes[at(i)];
  NodeWork<double>& a = work[i];
  if (!node.planar || !work.locked.empty() || !planar::factor(node, a)) {
    articulate(tree, work, i);
    reduce_force(tree, work, i);
    return;
  }
  const double u = work.tau[node.v] - a.n.z();
  work.u[node.v] = u;
  if (node.parent == 0) return;
  NodeWork<double>& parent = work[node.parent];
  planar::project(a, parent.IA);
  planar::reduce(a, a.n, a.f, a.Dinv * u, parent.n, parent.f);
}

/// accelerate(), here for planar nodes.
inline void take_outward(const Tree& tree, TreeWork<double>& work, int i, const VecX<double>& u, VecX<double>& vdot) {
  const Node& node = tree.nodes[at(i)];
  if (node.planar && node.parent != 0)
    vdot[node.v] = planar::accelerate(work[node.parent], work[i], u[node.v]);
  else
    accelerate(tree, work, i, u, vdot);
}

}  // namespace

/// The columns of one group over the joint of a planar node.
inline void LoopElimination::pass_planar(const NodeWork<double>& work, double u_joint, const Passage& passage, bool seeded) {
  const double cq = work.cq, sq = work.sq, px = work.p.x(), py = work.p.y(), Dinv = work.Dinv;
  const double Uw = work.Uw.z(), Ufx = work.Uf.x(), Ufy = work.Uf.y();
  groups_[at(passage.group)].turning += Dinv;
  const W* K = &K_[at(passage.K)];
  W* above = passage.parent_K < 0 ? nullptr : &K_[at(passage.parent_K)];
  double* const u = &u_[at(passage.u)];
  double* const y = &y_[at(passage.u)];
  double* const rhs = &rhs_[at(passage.first_row)];
  for (int c = 0; c < passage.columns; ++c, ++K) {
    const double uc = seeded ? K->n.z() + u[c] : K->n.z(), yc = Dinv * uc;
    u[c] = uc;
    y[c] = yc;
    rhs[c] -= yc * u_joint;
    if (!above) continue;
    const double x = K->f.x() - yc * Ufx, z = K->f.y() - yc * Ufy;
    const double fx = cq * x - sq * z, fy = sq * x + cq * z, n = (K->n.z() - yc * Uw) + (px * fy - py * fx);
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
void LoopElimination::pass_axis(const Node& node, const NodeWork<double>& work, double u_joint, const Passage& passage,
                                bool seeded) {
  const JointAxis axis = joint_axis(node);
  const link::Turn<double> turn{work.cq, work.sq};
  const Vec3<double> p = work.p, Uw = work.Uw, Uf = work.Uf;
  const double Dinv = work.Dinv;
  Group& group = groups_[at(passage.group)];
  group.turning += axis.turn * axis.turn * Dinv;
  group.sliding += axis.slide * axis.slide * Dinv;
  const W* K = &K_[at(passage.K)];
  W* const above = passage.parent_K < 0 ? nullptr : &K_[at(passage.parent_K)];
  double* const u = &u_[at(passage.u)];
  double* const y = &y_[at(passage.u)];
  double* const rhs = &rhs_[at(passage.first_row)];
  for (int c = 0; c < passage.columns; ++c, ++K) {
    double uc = axis.turn * K->n.z() + axis.slide * K->f.z();
    if (seeded) uc += u[c];
    const double yc = Dinv * uc;
    u[c] = uc;
    y[c] = yc;
    rhs[c] -= yc * u_joint;
    if (!above) continue;
    Vec3<double> n = K->n - yc * Uw, f = K->f - yc * Uf;
    link::to_parent(node, turn, n, f);
    n += p.cross(f);
    if (passage.first)
      above[c] = {n, f};
    else
      above[c] += {n, f};
  }
}

/// Takes all columns at a node over its joint to the parent.  (1)
inline void LoopElimination::pass(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups, int i) {
  const Node& node = tree.nodes[at(i)];
  const Station& station = stations_[at(i)];
  const bool is_one = station.first_passage + 1 == station.last_passage && station.first_seed == station.last_seed;
  if (!is_one || velocity_count(node.kind) != 1) return pass_all(tree, work, groups, i);
  const Passage& passage = passages_[at(station.first_passage)];
  if (node.planar)
    pass_planar(work[i], work.u[node.v], passage, false);
  else
    pass_axis(node, work[i], work.u[node.v], passage, false);
  add_outer(passage.columns, passage.columns, &u_[at(passage.u)], &y_[at(passage.u)],
            &Lambda_[at(groups_[at(passage.group)].diagonal)]);
}

void LoopElimination::inward(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups,
                             const VecX<double>& b, std::span<const ForceColumns> open) {
  start_inertias(tree, work);
  start(groups, b, open);
  for (int node = tree.size() - 1; node >= 0; --node) {
    const Station& station = stations_[at(node)];
    for (int k = station.first_eliminated; k < station.last_eliminated; ++k) eliminate(order_[at(k)], groups, work);
    if (node == 0) break;
    if (compounds_ && compounds_->owns(node)) {
      compounds_->inward(tree, work, node, b);
      continue;
    }
    take_inward(tree, work, node);
    if (station.first_passage != station.last_passage) pass(tree, work, groups, node);
  }
}

void LoopElimination::inward_unforced(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups,
                                      const VecX<double>& b, std::span<const ForceColumns> open) {
  for (NodeWork<double>& node : work.nodes) node.n.setZero(), node.f.setZero();
  work.tau.setZero();
  inward(tree, work, groups, b, open);
}

void LoopElimination::open_response(MatX<double>& D, VecX<double>& R) const {
  const int first = closed_ < static_cast<int>(groups_.size()) ? groups_[at(closed_)].first_row : 0;
  for (const Fill& block : between_) {
    const Group &a = groups_[at(block.a)], &b = groups_[at(block.b)];
    const double* const values = &Lambda_[at(block.values)];
    for (int r = 0; r < a.columns; ++r)
      for (int c = 0; c < b.columns; ++c)
        D(a.first_row - first + r, b.first_row - first + c) = D(b.first_row - first + c, a.first_row - first + r) =
            values[r * b.columns + c];
    if (block.a == block.b)
      for (int r = 0; r < a.columns; ++r) R[a.first_row - first + r] = -rhs_[at(a.first_row + r)];
  }
}

std::pair<double, double> LoopElimination::open_scale(int open, double arm) const {
  const Group& group = groups_[at(closed_ + open)];
  const double reach = group.reach + arm;
  return {group.turning, group.turning * reach * reach + group.sliding};
}

/// The general case of pass().
void LoopElimination::pass_all(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups, int i) {
  const Node& node = tree.nodes[at(i)];
  const Station& station = stations_[at(i)];
  const int nv = velocity_count(node.kind);
  const bool seeded = station.first_seed != station.last_seed;
  if (seeded || nv > 1) {
    const Passage &first = passages_[at(station.first_passage)], &last = passages_[at(station.last_passage - 1)];
    std::fill(&u_[at(first.u)], &u_[at(last.u)] + last.columns * nv, 0.0);
  }
  for (int s = station.first_seed; s < station.last_seed; ++s) {
    const JointSeed& seed = joint_seeds_[at(s)];
    const Passage& passage = passages_[at(seed.passage)];
    for (int c = 0; c < passage.columns; ++c) {
      const double force = groups[at(seed.group)].force(seed.force, c);
      u_[at(passage.u + c * nv + seed.component)] += force;
      groups_[at(seed.group)].seeded += force * force * (nv == 1 ? work[i].Dinv : work.block(i).IA_inverse.diagonal().maxCoeff());
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
    const double* u = &u_[at(coupling->u)];
    const double* const y = &y_[at(coupling->y)];
    double* Lambda = &Lambda_[at(coupling->values)];
    if (nv == 1) {
      add_outer(coupling->rows, coupling->columns, u, y, Lambda);
      continue;
    }
    for (int r = 0; r < coupling->rows; ++r, u += nv)
      for (int c = 0; c < coupling->columns; ++c) {
        double sum = 0.0;
        for (int l = 0; l < nv; ++l) sum += u[l] * y[c * nv + l];
        *Lambda++ += sum;
      }
  }
}

/// The same over a spherical or free joint.
void LoopElimination::pass_block(const Tree& tree, const TreeWork<double>& work, int i, const Passage& passage) {
  const Node& node = tree.nodes[at(i)];
  const BlockWork<double>& block = work.block(i);
  const int nv = velocity_count(node.kind);
  Group& group = groups_[at(passage.group)];
  group.turning += block.IA_inverse.topLeftCorner<3, 3>().trace();
  group.sliding += block.IA_inverse.bottomRightCorner<3, 3>().trace();
  for (int c = 0; c < passage.columns; ++c) {
    W K = K_[at(passage.K + c)];
    double* const u = &u_[at(passage.u + c * nv)];
    double* const y = &y_[at(passage.u + c * nv)];
    std::array<double, 6> own{};
    joint_force(tree, work, i, K.n, K.f, own.data());
    for (int k = 0; k < nv; ++k) u[k] += own[at(k)];
    const Eigen::Map<const Vec3<double>> u0(u);
    if (node.kind == NodeKind::kSpherical) {
      const Vec3<double> x = block.IA_inverse.topLeftCorner<3, 3>() * u0;
      Eigen::Map<Vec3<double>>{y} = x;
      K.f -= work[i].IA.H.transpose() * x;
      K.n -= u0;
    } else {
      const Eigen::Map<const Vec3<double>> u1(u + 3);
      Vec6<double> F;
      F << u1, block.Rq.transpose() * u0;
      const Vec6<double> A = block.IA_inverse * F;
      Eigen::Map<Vec3<double>>{y} = block.Rq * A.tail<3>();
      Eigen::Map<Vec3<double>>{y + 3} = A.head<3>();
      K.n -= u1;
      K.f -= F.tail<3>();
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
void LoopElimination::scale_rows(const Group& group, const ForceColumns& columns) {
  const auto scale_of = [&group](double moment, double force) {
    return group.turning * (moment + force * group.reach * group.reach) + group.sliding * force;
  };
  if (columns.bounds()) {
    const double scale = group.seeded + scale_of(columns.bounds()->moment, columns.bounds()->force);
    std::fill_n(&scale_[at(group.first_row)], group.columns, scale);
    return;
  }
  for (int c = 0; c < group.columns; ++c) {
    double scale = group.seeded;
    for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s) {
      const W& F = columns.wrench(static_cast<int>(s), c);
      scale = std::max(scale, scale_of(F.n.squaredNorm(), F.f.squaredNorm()));
    }
    scale_[at(group.first_row + c)] = scale;
  }
}

/// (2)
void LoopElimination::eliminate(int index, std::span<const ForceColumns> groups, TreeWork<double>& work) {
  const Group& group = groups_[at(index)];
  const int m = group.columns;
  scale_rows(group, groups[at(index)]);
  double* const P = &inverse_[at(group.diagonal)];
  std::copy_n(&Lambda_[at(group.diagonal)], m * m, P);
  const Rank rank =
      ranked_inverse({P, at(m * m)}, m, {&scale_[at(group.first_row)], at(m)}, {&dependent_[at(group.first_row)], at(m)});
  rank_.rank += rank.rank;
  rank_.weakest = std::min(rank_.weakest, rank.weakest);
  const double* const rhs = &rhs_[at(group.first_row)];

  for (const Later& later : group.later) {
    const Group& h = groups_[at(later.group)];
    const double* const L = &Lambda_[at(later.values)];
    double* const T = &scaled_[at(later.values)];
    for (int r = 0; r < h.columns; ++r)
      for (int c = 0; c < m; ++c) {
        double sum = 0.0;
        for (int l = 0; l < m; ++l) sum += L[r * m + l] * P[l * m + c];
        T[r * m + c] = sum;
        rhs_[at(h.first_row + r)] -= sum * rhs[c];
      }
    if (group.K < 0) continue;
    for (int r = 0; r < h.columns; ++r)
      for (int c = 0; c < m; ++c) {
        K_[at(later.K + r)].n -= T[r * m + c] * K_[at(group.K + c)].n;
        K_[at(later.K + r)].f -= T[r * m + c] * K_[at(group.K + c)].f;
      }
  }
  for (const Fill& fill : group.fill) {
    const Later& a = group.later[at(fill.a)];
    const Later& b = group.later[at(fill.b)];
    const int rows = groups_[at(a.group)].columns, cols = groups_[at(b.group)].columns;
    const double* const T = &scaled_[at(a.values)];
    const double* const L = &Lambda_[at(b.values)];
    double* const target = &Lambda_[at(fill.values)];
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) {
        double sum = 0.0;
        for (int l = 0; l < m; ++l) sum += T[r * m + l] * L[c * m + l];
        target[r * cols + c] -= sum;
      }
  }
  if (group.K < 0) return;
  NodeWork<double>& node = work[group.node];
  for (int c = 0; c < m; ++c) {
    W KP;
    for (int l = 0; l < m; ++l) {
      KP.n += P[l * m + c] * K_[at(group.K + l)].n;
      KP.f += P[l * m + c] * K_[at(group.K + l)].f;
    }
    const W& K = K_[at(group.K + c)];
    node.IA.I.downdate(K.n, Vec3<double>(-KP.n));
    node.IA.M.downdate(K.f, Vec3<double>(-KP.f));
    node.IA.H += KP.n * K.f.transpose();
    node.n -= rhs[c] * KP.n;
    node.f -= rhs[c] * KP.f;
  }
}

/// What the multipliers known so far do at a joint.
inline void LoopElimination::add_multipliers(const Node& node, const Station& station, const double* lambda) {
  const int nv = velocity_count(node.kind);
  double* const force = force_.data() + node.v;
  for (int p = station.first_passage; p < station.last_passage; ++p) {
    const Passage& passage = passages_[at(p)];
    const double* u = &u_[at(passage.u)];
    if (nv == 1) {
      double sum = force[0];
      for (int c = 0; c < passage.columns; ++c) sum += u[c] * lambda[passage.first_row + c];
      force[0] = sum;
      continue;
    }
    for (int c = 0; c < passage.columns; ++c)
      for (int k = 0; k < nv; ++k) force[k] += *u++ * lambda[passage.first_row + c];
  }
}

void LoopElimination::outward(const Tree& tree, TreeWork<double>& work, VecX<double>& vdot, VecX<double>& lambda) {
  force_ = work.u;
  for (int node = 0; node < tree.size(); ++node) {
    const Station& station = stations_[at(node)];
    if (station.first_passage != station.last_passage) add_multipliers(tree.nodes[at(node)], station, lambda.data());
    if (compounds_ && compounds_->owns(node))
      compounds_->outward(tree, work, node, vdot);
    else if (node > 0)
      take_outward(tree, work, node, force_, vdot);
    for (int k = station.last_eliminated; k-- > station.first_eliminated;) recover(order_[at(k)], work, lambda);
  }
}

void LoopElimination::subtract_rates(const TreeWork<double>& work, std::span<const ForceColumns> groups, const VecX<double>& vdot,
                                     VecX<double>& x, VecX<double>* size) const {
  for (int g = 0; g < closed_; ++g) {
    const Group& group = groups_[at(g)];
    const ForceColumns& columns = groups[at(g)];
    for (int c = 0; c < group.columns; ++c) {
      double sum = 0.0, uncancelled = 0.0;
      const auto add = [&](double term) { sum += term, uncancelled += std::abs(term); };
      for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s) {
        const W& F = columns.wrench(static_cast<int>(s), c);
        const NodeWork<double>& a = work[columns.seed_nodes()[s]];
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
void LoopElimination::recover(int index, const TreeWork<double>& work, VecX<double>& lambda) {
  const Group& group = groups_[at(index)];
  const int m = group.columns;
  std::array<double, kMaxRows> left;
  for (int c = 0; c < m; ++c) {
    left[at(c)] = rhs_[at(group.first_row + c)];
    if (group.K < 0) continue;
    const W& K = K_[at(group.K + c)];
    left[at(c)] -= K.n.dot(work[group.node].dw) + K.f.dot(work[group.node].dv);
  }
  const double* const P = &inverse_[at(group.diagonal)];
  for (int r = 0; r < m; ++r) {
    double sum = 0.0;
    for (int c = 0; c < m; ++c) sum += P[r * m + c] * left[at(c)];
    lambda[group.first_row + r] = sum;
  }
  for (const Later& later : group.later) {
    const Group& h = groups_[at(later.group)];
    const double* const T = &scaled_[at(later.values)];
    for (int r = 0; r < h.columns; ++r)
      for (int c = 0; c < m; ++c) lambda[group.first_row + c] -= T[r * m + c] * lambda[h.first_row + r];
  }
  std::fill(lambda.data() + group.first_row + m, lambda.data() + group.last_row, 0.0);
  for (int r = 0; r < m; ++r) {
    const std::size_t row = at(group.first_row + r);
    inconsistency_[row] = 0.0;
    if (!dependent_[row]) continue;
    double met = 0.0;
    for (int c = 0; c < m; ++c) met += Lambda_[at(group.diagonal + r * m + c)] * lambda[group.first_row + c];
    for (const Later& later : group.later)
      for (int k = 0; k < groups_[at(later.group)].columns; ++k)
        met += Lambda_[at(later.values + k * m + r)] * lambda[groups_[at(later.group)].first_row + k];
    inconsistency_[row] = left[at(r)] - met;
  }
}

}  // namespace linkwork
