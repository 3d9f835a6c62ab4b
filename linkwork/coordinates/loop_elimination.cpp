#include "linkwork/coordinates/loop_elimination.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "linkwork/model/closures/frame_closure.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/link_rotation.h"

namespace linkwork {

namespace {

using W = Wrench<double>;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

/// Machine instructions, fitted to measurements.
constexpr double kPass = 110, kPassBlock = 330, kCouple = 5, kPerGroup = 500, kPerRow = 130, kEliminate = 4, kAtNode = 80;

/// How far a group's wrenches can be from the joints they pass, beyond their arms in the last link: the lengths of the other
/// links on the way.
double reach_of(const Tree& tree, const ForceColumns& group) {
  double reach = 0.0;
  for (int node : group.way())
    if (tree.nodes[at(node)].parent != group.root()) reach += tree.nodes[at(node)].p.norm();
  return reach;
}

/// The node at which a loop is known as a whole: the lowest that contains it. Between bodies that float apart from one another it
/// is the one of them that comes last: nothing is fixed to the ground, and its free joint carries nothing further.
int end_of(const Tree& tree, const ForceColumns& group) {
  if (group.root() != 0 || !group.seed_dofs().empty()) return group.root();
  std::set<int> floating;
  for (int node : group.seed_nodes()) {
    if (node == 0) return 0;
    while (tree.nodes[at(node)].parent != 0) node = tree.nodes[at(node)].parent;
    if (tree.nodes[at(node)].kind != NodeKind::kFree) return 0;
    floating.insert(node);
  }
  return floating.size() > 1 ? *floating.begin() : 0;
}

}  // namespace

LoopElimination::LoopElimination(const Tree& tree, std::span<const ForceColumns> groups, Compounds* compounds)
    : LoopElimination(tree, groups, compounds, true) {
  const auto floats = [&](const ForceColumns& group) { return end_of(tree, group) != group.root(); };
  if (std::ranges::none_of(groups, floats)) return;
  LoopElimination all_at_ground(tree, groups, compounds, false);
  if (all_at_ground.work_ < work_) *this = std::move(all_at_ground);
}

LoopElimination::LoopElimination(const Tree& tree, std::span<const ForceColumns> groups, Compounds* compounds, bool early)
    : compounds_(compounds), stations_(tree.nodes.size()) {
  const int count = static_cast<int>(groups.size());
  std::vector<std::map<int, int>> K_of(groups.size());  // by group: node -> first wrench
  std::vector<std::set<int>> present(tree.nodes.size());
  std::vector<std::vector<int>> ending(tree.nodes.size());
  int rows = 0, wrenches = 0, diagonal = 0;
  const auto appear = [&](int g, int node) {
    const auto [entry, added] = K_of[at(g)].try_emplace(node, wrenches);
    if (added) {
      wrenches += groups[at(g)].columns();
      present[at(node)].insert(g);
    }
    return entry->second;
  };
  for (int g = 0; g < count; ++g) {
    const ForceColumns& columns = groups[at(g)];
    const int m = columns.columns();
    const bool is_embedded = compounds_ && compounds_->embeds(g);
    const int end = is_embedded ? -1 : early ? end_of(tree, columns) : columns.root();
    groups_.push_back({m, rows, end, -1, diagonal, is_embedded ? 0.0 : reach_of(tree, columns), 0.0, 0.0, 0.0, {}, {}});
    rows += m;
    if (is_embedded) continue;
    for (int node : columns.way()) appear(g, node);
    if (end != 0) groups_.back().K = appear(g, end);
    ending[at(end)].push_back(g);
    diagonal += m * m;
    for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s)
      if (const auto found = K_of[at(g)].find(columns.seed_nodes()[s]); found != K_of[at(g)].end())
        seeds_.push_back({g, static_cast<int>(s), found->second});
  }

  // Node by node, inward: groups that end there go, by least degree; those they were coupled with are coupled among one another
  // from then on, and act on the node. Groups that pass a joint together are coupled as well.
  std::vector<std::set<int>> neighbours(groups.size());
  std::map<std::pair<int, int>, int> values_of;  // (later, earlier) -> Lambda_
  int values = diagonal;
  const auto coupling_of = [&](int later, int earlier) {
    const auto [entry, added] = values_of.try_emplace({later, earlier}, values);
    if (added) values += groups_[at(later)].columns * groups_[at(earlier)].columns;
    return entry->second;
  };
  std::vector<int> rank_in_order(groups.size(), -1);
  std::vector<std::vector<int>> passing(tree.nodes.size());
  for (int node = tree.size() - 1; node >= 0; --node) {
    stations_[at(node)].first_eliminated = static_cast<int>(order_.size());
    std::set<std::pair<std::size_t, int>> by_degree;
    for (int g : ending[at(node)]) by_degree.insert({neighbours[at(g)].size(), g});
    while (!by_degree.empty()) {
      const int g = by_degree.begin()->second;
      by_degree.erase(by_degree.begin());
      rank_in_order[at(g)] = static_cast<int>(order_.size());
      order_.push_back(g);
      present[at(node)].erase(g);
      for (int h : neighbours[at(g)]) {
        std::set<int>& of_h = neighbours[at(h)];
        const bool waits = by_degree.erase({of_h.size(), h}) > 0;
        of_h.erase(g);
        for (int other : neighbours[at(g)])
          if (other != h) of_h.insert(other);
        if (waits) by_degree.insert({of_h.size(), h});
        groups_[at(g)].later.push_back({h, node == 0 ? -1 : appear(h, node), coupling_of(h, g)});
      }
      double beyond = node == 0 ? 0.0 : 6.0;  // rows and coordinates that its elimination couples
      for (int h : neighbours[at(g)]) beyond += groups_[at(h)].columns;
      work_ += groups_[at(g)].columns * beyond * beyond;
    }
    stations_[at(node)].last_eliminated = static_cast<int>(order_.size());
    passing[at(node)].assign(present[at(node)].begin(), present[at(node)].end());
    for (int g : passing[at(node)])
      for (int h : passing[at(node)])
        if (g != h) neighbours[at(g)].insert(h);
  }
  for (Group& group : groups_)
    for (std::size_t a = 0; a < group.later.size(); ++a)
      for (std::size_t b = 0; b < group.later.size(); ++b) {
        const int ga = group.later[a].group, gb = group.later[b].group;
        if (ga == gb)
          group.fill.push_back({static_cast<int>(a), static_cast<int>(b), groups_[at(ga)].diagonal});
        else if (rank_in_order[at(ga)] > rank_in_order[at(gb)])
          group.fill.push_back({static_cast<int>(a), static_cast<int>(b), coupling_of(ga, gb)});
      }

  costs_.resize(groups.size(), 0.0);
  for (int g : order_) {
    const Group& group = groups_[at(g)];
    double beyond = group.columns;
    for (const Later& later : group.later) beyond += groups_[at(later.group)].columns;
    costs_[at(g)] = kPerGroup + group.columns * (kPerRow + (group.K < 0 ? 0.0 : kAtNode) + kEliminate * beyond * beyond);
  }
  int numbers = 0;
  for (int node = 0; node < tree.size(); ++node) {
    Station& station = stations_[at(node)];
    station.first_passage = static_cast<int>(passages_.size());
    station.first_coupling = static_cast<int>(couplings_.size());
    station.first_seed = static_cast<int>(joint_seeds_.size());
    const Node& joint = tree.nodes[at(node)];
    for (int g : passing[at(node)]) {
      const auto above = joint.parent == 0 ? K_of[at(g)].end() : K_of[at(g)].find(joint.parent);
      const int m = groups_[at(g)].columns;
      for (std::size_t s = 0; s < groups[at(g)].seed_dofs().size(); ++s) {
        const int component = groups[at(g)].seed_dofs()[s] - joint.v;
        if (component >= 0 && component < velocity_count(joint.kind))
          joint_seeds_.push_back({g, static_cast<int>(s), component, static_cast<int>(passages_.size())});
      }
      passages_.push_back(
          {g, m, K_of[at(g)].at(node), above == K_of[at(g)].end() ? -1 : above->second, numbers, groups_[at(g)].first_row});
      costs_[at(g)] += m * (velocity_count(joint.kind) == 1 ? kPass : kPassBlock);
      numbers += m * velocity_count(joint.kind);
    }
    station.last_passage = static_cast<int>(passages_.size());
    for (int a = station.first_passage; a < station.last_passage; ++a)
      for (int b = station.first_passage; b < station.last_passage; ++b) {
        const Passage &pa = passages_[at(a)], &pb = passages_[at(b)];
        if (rank_in_order[at(pa.group)] >= rank_in_order[at(pb.group)])
          costs_[at(pa.group)] += kCouple * pa.columns * pb.columns * velocity_count(joint.kind);
        if (a == b)
          couplings_.push_back({pa.columns, pb.columns, pa.u, pb.u, groups_[at(pa.group)].diagonal});
        else if (rank_in_order[at(pa.group)] > rank_in_order[at(pb.group)])
          couplings_.push_back({pa.columns, pb.columns, pa.u, pb.u, coupling_of(pa.group, pb.group)});
      }
    station.last_coupling = static_cast<int>(couplings_.size());
    station.last_seed = static_cast<int>(joint_seeds_.size());
  }

  K_.resize(at(wrenches));
  u_.resize(at(numbers));
  y_.resize(at(numbers));
  Lambda_.resize(at(values));
  scaled_.resize(at(values));
  inverse_.resize(at(diagonal));
  rhs_.resize(at(rows));
  scale_.resize(at(rows));
  dependent_.resize(at(rows));
  inconsistency_.resize(at(rows));
  force_ = VecX<double>::Zero(tree.nv);
}

void LoopElimination::start(std::span<const ForceColumns> groups, const VecX<double>& b) {
  rank_ = {};
  std::ranges::fill(K_, W{});
  std::ranges::fill(Lambda_, 0.0);
  std::copy(b.data(), b.data() + b.size(), rhs_.begin());
  for (Group& group : groups_) group.turning = group.sliding = group.seeded = 0.0;
  for (const Seed& seed : seeds_)
    for (int c = 0; c < groups_[at(seed.group)].columns; ++c) K_[at(seed.K + c)] += groups[at(seed.group)].wrench(seed.wrench, c);
}

void LoopElimination::inward(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups,
                             const VecX<double>& b) {
  start_inertias(tree, work);
  start(groups, b);
  for (int node = tree.size() - 1; node >= 0; --node) {
    const Station& station = stations_[at(node)];
    for (int k = station.first_eliminated; k < station.last_eliminated; ++k) eliminate(order_[at(k)], groups, work);
    if (node == 0) break;
    if (compounds_ && compounds_->owns(node)) {
      compounds_->inward(tree, work, node);
      continue;
    }
    articulate(tree, work, node);
    reduce_force(tree, work, node);
    if (station.first_passage != station.last_passage) pass(tree, work, groups, node);
  }
}

void LoopElimination::inward_unforced(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups,
                                      const VecX<double>& b) {
  for (NodeWork<double>& node : work.nodes) node.n.setZero(), node.f.setZero();
  work.tau.setZero();
  inward(tree, work, groups, b);
}

/// Takes all columns at a node over its joint to the parent.  (1)
void LoopElimination::pass(const Tree& tree, TreeWork<double>& work, std::span<const ForceColumns> groups, int i) {
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
    if (nv == 1)
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
      for (int r = 0; r < coupling->rows; ++r)
        for (int c = 0; c < coupling->columns; ++c) *Lambda++ += u[r] * y[c];
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

/// The columns of one group over a joint with one axis.
void LoopElimination::pass_axis(const Node& node, const NodeWork<double>& a, double u_joint, const Passage& passage,
                                bool seeded) {
  const JointAxis axis = joint_axis(node);
  Group& group = groups_[at(passage.group)];
  group.turning += axis.turn * axis.turn * a.Dinv;
  group.sliding += axis.slide * axis.slide * a.Dinv;
  const W* K = &K_[at(passage.K)];
  W* const above = passage.parent_K < 0 ? nullptr : &K_[at(passage.parent_K)];
  double* const u = &u_[at(passage.u)];
  double* const y = &y_[at(passage.u)];
  double* const rhs = &rhs_[at(passage.first_row)];
  for (int c = 0; c < passage.columns; ++c, ++K) {
    double uc = axis.turn * K->n.z() + axis.slide * K->f.z();
    if (seeded) uc += u[c];
    const double yc = a.Dinv * uc;
    u[c] = uc;
    y[c] = yc;
    rhs[c] -= yc * u_joint;
    if (!above) continue;
    Vec3<double> n = K->n - yc * a.Uw, f = K->f - yc * a.Uf;
    link::to_parent(node, a, n, f);
    above[c].n += n + a.p.cross(f);
    above[c].f += f;
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
    K_[at(passage.parent_K + c)] += K;
  }
}

/// How large the diagonal of Lambda would be if the rows' forces had their full lever arms about the joints.
void LoopElimination::scale_rows(const Group& group, const ForceColumns& columns) {
  for (int c = 0; c < group.columns; ++c) {
    double scale = group.seeded;
    for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s) {
      const W& F = columns.wrench(static_cast<int>(s), c);
      const double force = F.f.squaredNorm(), moment = F.n.squaredNorm();
      const double seeded = group.turning * (moment + force * group.reach * group.reach) + group.sliding * force;
      scale = std::max(scale, seeded);
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

void LoopElimination::outward(const Tree& tree, TreeWork<double>& work, VecX<double>& vdot, VecX<double>& lambda) {
  force_ = work.u;
  for (int node = 0; node < tree.size(); ++node) {
    const Station& station = stations_[at(node)];
    if (station.first_passage != station.last_passage) add_multipliers(tree.nodes[at(node)], station, lambda.data());
    if (compounds_ && compounds_->owns(node))
      compounds_->outward(tree, work, node, vdot);
    else if (node > 0)
      accelerate(tree, work, node, force_, vdot);
    for (int k = station.last_eliminated; k-- > station.first_eliminated;) recover(order_[at(k)], work, lambda);
  }
}

/// What the multipliers known so far do at a joint.
void LoopElimination::add_multipliers(const Node& node, const Station& station, const double* lambda) {
  const int nv = velocity_count(node.kind);
  double* const force = force_.data() + node.v;
  for (int p = station.first_passage; p < station.last_passage; ++p) {
    const Passage& passage = passages_[at(p)];
    const double* u = &u_[at(passage.u)];
    for (int c = 0; c < passage.columns; ++c)
      for (int k = 0; k < nv; ++k) force[k] += *u++ * lambda[passage.first_row + c];
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
