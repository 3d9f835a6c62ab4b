#include "linkwork/coordinates/compounds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <set>

#include "linkwork/linalg/index.h"
#include "linkwork/model/sliding.h"
#include "linkwork/tree/aba.h"
#include "linkwork/tree/link_rotation.h"

namespace linkwork {

namespace {

/// Inverts the k x k row-major matrix in place. Returns the smallest pivot relative to the largest entry; 0 if it is singular.
double invert(double* a, int k, double* scratch) {
  if (k == 1) {
    const double pivot = a[0];
    a[0] = 1.0 / pivot;
    return pivot != 0.0 ? 1.0 : 0.0;
  }
  if (k == 2) {
    const double det = a[0] * a[3] - a[1] * a[2];
    const double largest = std::max({std::abs(a[0]), std::abs(a[1]), std::abs(a[2]), std::abs(a[3])});
    const double inverse = 1.0 / det;
    const double b[4] = {a[3] * inverse, -a[1] * inverse, -a[2] * inverse, a[0] * inverse};
    std::copy(b, b + 4, a);
    return largest > 0.0 ? std::abs(det) / (largest * largest) : 0.0;
  }
  // Gauss-Jordan with row pivoting on [a | 1], the right half in scratch.
  double largest = 0.0, smallest = std::numeric_limits<double>::infinity();
  for (int i = 0; i < k * k; ++i) largest = std::max(largest, std::abs(a[i])), scratch[i] = 0.0;
  for (int i = 0; i < k; ++i) scratch[i * k + i] = 1.0;
  for (int p = 0; p < k; ++p) {
    int best = p;
    for (int r = p + 1; r < k; ++r)
      if (std::abs(a[r * k + p]) > std::abs(a[best * k + p])) best = r;
    const double pivot = a[best * k + p];
    smallest = std::min(smallest, std::abs(pivot));
    if (pivot == 0.0) return 0.0;
    for (int c = 0; c < k; ++c) {
      std::swap(a[p * k + c], a[best * k + c]);
      std::swap(scratch[p * k + c], scratch[best * k + c]);
    }
    for (int c = 0; c < k; ++c) a[p * k + c] /= pivot, scratch[p * k + c] /= pivot;
    for (int r = 0; r < k; ++r) {
      const double factor = a[r * k + p];
      if (r == p || factor == 0.0) continue;
      for (int c = 0; c < k; ++c) a[r * k + c] -= factor * a[p * k + c], scratch[r * k + c] -= factor * scratch[p * k + c];
    }
  }
  std::copy_n(scratch, k * k, a);
  return smallest / largest;
}

Wrench<double> operator*(const ArticulatedInertia<double>& I, const Twist<double>& V) {
  return {I.I * V.w + I.H * V.v, I.H.transpose() * V.w + I.M * V.v};
}

}  // namespace

std::vector<int> loop_clusters(const Tree& tree, std::span<const ForceColumns> groups) {
  std::vector<int> leader(groups.size());
  std::iota(leader.begin(), leader.end(), 0);
  const std::function<int(int)> find = [&](int g) { return leader[at(g)] == g ? g : leader[at(g)] = find(leader[at(g)]); };
  std::vector<int> first_on(tree.nodes.size(), -1);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (int node : groups[g].way()) {
      int& first = first_on[at(node)];
      if (first < 0)
        first = static_cast<int>(g);
      else
        leader[at(find(static_cast<int>(g)))] = find(first);
    }
  std::vector<int> number(groups.size(), -1), cluster(groups.size());
  int count = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    int& n = number[at(find(static_cast<int>(g)))];
    if (n < 0) n = count++;
    cluster[g] = n;
  }
  return cluster;
}

Compounds::Compounds(const Tree& tree, std::span<const ForceColumns> groups, std::span<const char> embed)
    : compound_of_(tree.nodes.size(), -1), local_(tree.nodes.size(), -1), embedded_(embed.begin(), embed.end()) {
  std::vector<int> first_rows;
  int rows = 0, values = 0;
  for (const ForceColumns& group : groups) {
    first_rows.push_back(rows);
    first_values_.push_back(values);
    rows += group.columns();
    values += group.columns() * static_cast<int>(group.support().size());
  }
  A_.resize(at(values));
  dependent_.resize(at(rows), 0);

  const std::vector<int> cluster = loop_clusters(tree, groups);
  const int clusters = cluster.empty() ? 0 : *std::ranges::max_element(cluster) + 1;
  std::vector<std::vector<int>> members(at(clusters));
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (embed[g]) members[at(cluster[g])].push_back(static_cast<int>(g));
  for (const std::vector<int>& of_one : members)
    if (!of_one.empty()) add_compound(tree, groups, of_one, first_rows, first_values_);
  share_scratch();
}

/// Follows the inward pass: a compound takes the first scratch that is not in use.
void Compounds::share_scratch() {
  std::vector<char> in_use;
  for (std::size_t node = compound_of_.size(); node-- > 1;) {
    if (compound_of_[node] < 0) continue;
    Compound& compound = compounds_[at(compound_of_[node])];
    if (local_[node] + 1 == static_cast<int>(compound.nodes.size())) {
      const auto unused = std::ranges::find(in_use, 0);
      compound.scratch = static_cast<int>(unused - in_use.begin());
      if (unused == in_use.end()) in_use.push_back(0);
      in_use[at(compound.scratch)] = 1;
    }
    if (local_[node] == 0) in_use[at(compound.scratch)] = 0;
  }
  scratch_.resize(in_use.size());
}

void Compounds::add_compound(const Tree& tree, std::span<const ForceColumns> groups, const std::vector<int>& members,
                             std::span<const int> first_rows, std::span<const int> first_values) {
  Compound compound;
  compound.groups = members;
  std::set<int> nodes;
  compound.base = groups[at(members.front())].root();
  for (int g : members) compound.base = common_ancestor(tree, compound.base, groups[at(g)].root());
  for (int g : members)
    for (int node : groups[at(g)].way())
      for (; node != compound.base; node = tree.nodes[at(node)].parent) nodes.insert(node);
  if (nodes.empty()) return;
  compound.nodes.assign(nodes.begin(), nodes.end());
  for (std::size_t i = 0; i < compound.nodes.size(); ++i) {
    const int index = compound.nodes[i];
    const Node& node = tree.nodes[at(index)];
    compound_of_[at(index)] = static_cast<int>(compounds_.size());
    local_[at(index)] = static_cast<int>(i);
    for (int k = 0; k < velocity_count(node.kind); ++k) {
      compound.dofs.push_back(node.v + k);
      compound.unit.push_back(k < sliding_count(node.kind) ? tree.length : 1.0);
    }
  }
  for (int g : members) {
    const ForceColumns& group = groups[at(g)];
    for (int c = 0; c < group.columns(); ++c) {
      Row row{first_rows[at(g)] + c, {}};
      for (std::size_t s = 0; s < group.support().size(); ++s) {
        const auto dof = std::ranges::lower_bound(compound.dofs, group.support()[s]) - compound.dofs.begin();
        row.entries.push_back({static_cast<int>(dof), first_values[at(g)] + static_cast<int>(s) * group.columns() + c});
      }
      compound.rows.push_back(std::move(row));
    }
  }
  shift_.resize(std::max(shift_.size(), compound.dofs.size()));
  compounds_.push_back(std::move(compound));
}

void Compounds::update_rows(const Tree& tree, const TreeWork<double>& work, std::span<const ForceColumns> groups) {
  for (std::size_t g = 0; g < groups.size(); ++g)
    if (embedded_[g]) groups[g].write_rows(tree, work, &A_[at(first_values_[g])]);
}

std::span<const Compounds::Block> Compounds::blocks(const Compound& compound) const {
  return {blocks_.data() + compound.first_block, blocks_.data() + compound.last_block};
}

/// Solves A_d x_d = right_side(row) - A_i x_i for the dependent entries of x, which stand `stride` apart.
template <class Known>
void Compounds::solve_blocks(const Compound& compound, Known&& right_side, double* x, int stride) const {
  for (const Block& block : blocks(compound)) {
    const int k = block.size;
    double* const rhs = solving_.data();
    for (int r = 0; r < k; ++r) {
      const SolvedRow& row = solved_rows_[at(block.first_row + r)];
      double sum = right_side(row.row);
      for (int o = row.first_other; o < row.last_other; ++o) sum -= A_[at(others_[at(o)].value)] * x[others_[at(o)].dof * stride];
      rhs[r] = sum;
    }
    const double* const inverse = &inverse_[at(block.inverse)];
    const int* const dependents = &indices_[at(block.dependents)];
    for (int d = 0; d < k; ++d) {
      double sum = 0.0;
      for (int r = 0; r < k; ++r) sum += inverse[d * k + r] * rhs[r];
      x[dependents[d] * stride] = sum;
    }
  }
}

double Compounds::factor(Compound& compound) {
  for (const Block& block : blocks(compound)) {
    const int k = block.size;
    double* const inverse = &inverse_[at(block.inverse)];
    const int* const entries = &indices_[at(block.entries)];
    for (int i = 0; i < k * k; ++i) inverse[i] = entries[i] < 0 ? 0.0 : A_[at(entries[i])];
    if (!(invert(inverse, k, solving_.data()) > 0.0)) return std::numeric_limits<double>::infinity();
  }
  double fastest = 0.0;
  const int columns = compound.columns();
  for (int k = 0; k + 1 < columns; ++k) {
    solve_blocks(
        compound, [](int) { return 0.0; }, &compound.G[at(k)], columns);
    const double unit = compound.unit[at(compound.independent[at(k)])];
    for (const Block& block : blocks(compound))
      for (int d = 0; d < block.size; ++d) {
        const int dof = indices_[at(block.dependents + d)];
        fastest = std::max(fastest, std::abs(compound.G[at(dof * columns + k)]) * unit / compound.unit[at(dof)]);
      }
  }
  return std::isfinite(fastest) ? fastest : std::numeric_limits<double>::infinity();
}

double Compounds::factor() {
  double fastest = 0.0;
  for (Compound& compound : compounds_) fastest = std::max(fastest, factor(compound));
  return fastest;
}

double Compounds::settle(const Tree& tree, const TreeWork<double>& work, std::span<const ForceColumns> groups,
                         const VecX<double>& u, VecX<double>& v) {
  double fastest = 0.0;
  for (Compound& compound : compounds_) {
    for (int g : compound.groups) groups[at(g)].write_rows(tree, work, &A_[at(first_values_[at(g)])]);
    fastest = std::max(fastest, factor(compound));
    settle_velocities(compound, u, v);
  }
  return fastest;
}

void Compounds::correction(const VecX<double>& phi, VecX<double>& dq) const {
  dq.setZero();
  for (const Compound& compound : compounds_) {
    // The coordinates of a compound need not be consecutive.
    std::ranges::fill(shift_, 0.0);
    solve_blocks(
        compound, [&](int row) { return -phi[row]; }, shift_.data(), 1);
    for (std::size_t d = 0; d < compound.dofs.size(); ++d) dq[compound.dofs[d]] = shift_[d];
  }
}

void Compounds::settle_velocities(const Compound& compound, const VecX<double>& u, VecX<double>& v) const {
  for (std::size_t d = 0; d < compound.dofs.size(); ++d) shift_[d] = v[compound.dofs[d]];
  solve_blocks(
      compound, [&](int row) { return u[row]; }, shift_.data(), 1);
  for (std::size_t d = 0; d < compound.dofs.size(); ++d) v[compound.dofs[d]] = shift_[d];
}

/// Rotors turn with a coordinate alone: D += G' a G, and they resist a g.
void Compounds::add_armatures(const Tree& tree, Compound& compound, MatX<double>& D) {
  const int columns = compound.columns(), n = columns - 1;
  int dof = 0;
  for (const int index : compound.nodes) {
    const Node& node = tree.nodes[at(index)];
    const double* const G = &compound.G[at(dof * columns)];
    for (int k = 0; node.armature != 0.0 && k < n; ++k) {
      for (int l = 0; l <= k; ++l) D(k, l) += node.armature * G[k] * G[l];
      compound.force[k] -= node.armature * G[k] * G[n];
    }
    dof += velocity_count(node.kind);
  }
}

/// g, and the bodies' motions per unit of the independent coordinates.
void Compounds::start_inward(const Tree& tree, const TreeWork<double>& work, Compound& compound, const VecX<double>& b) {
  Scratch& scratch = scratch_[at(compound.scratch)];
  const int columns = compound.columns();
  solve_blocks(
      compound, [&](int row) { return b[row]; }, &compound.G[at(columns - 1)], columns);
  int dof = 0;
  for (std::size_t i = 0; i < compound.nodes.size(); ++i) {
    const int index = compound.nodes[i];
    const Node& node = tree.nodes[at(index)];
    const int nv = velocity_count(node.kind);
    Twist<double>* const V = &scratch.V[i * at(columns)];
    const Twist<double>* const V_parent =
        node.parent == compound.base ? nullptr : &scratch.V[at(local_[at(node.parent)] * columns)];
    std::array<double, 6> x{};
    for (int k = 0; k < columns; ++k) {
      V[k] = V_parent ? V_parent[k] : Twist<double>{};
      if (V_parent) link::motion_to_child(tree, work, index, V[k].w, V[k].v);
      for (int c = 0; c < nv; ++c) x[at(c)] = compound.G[at((dof + c) * columns + k)];
      add_joint_motion(tree, work, index, x.data(), V[k].w, V[k].v);
    }
    dof += nv;
  }
  scratch.D.setZero(columns - 1, columns - 1);
  compound.force.setZero();
  add_armatures(tree, compound, scratch.D);
  if (compound.base == 0) return;
  const std::size_t nodes = compound.nodes.size();
  std::fill_n(scratch.carried.begin(), nodes * at(columns), Wrench<double>{});
  std::fill_n(scratch.composite.begin(), nodes, ArticulatedInertia<double>{});
  std::fill_n(scratch.bias.begin(), nodes, Wrench<double>{});
  std::ranges::fill(compound.U, Wrench<double>{});
}

void Compounds::inward(const Tree& tree, TreeWork<double>& work, int index, const VecX<double>& b) {
  Compound& compound = compounds_[at(compound_of_[at(index)])];
  Scratch& scratch = scratch_[at(compound.scratch)];
  const std::size_t i = at(local_[at(index)]);
  if (i + 1 == compound.nodes.size()) start_inward(tree, work, compound, b);  // its last node comes first
  const int n = compound.columns() - 1;
  NodeWork<double>& a = work[index];
  const Twist<double>* const V = &scratch.V[i * at(n + 1)];
  const Wrench<double> rest = a.IA * V[n];
  a.n += rest.n;
  a.f += rest.f;
  const bool is_free = compound.base == 0;
  Wrench<double>* const carried = &scratch.carried[i * at(n + 1)];
  for (int k = 0; k < n; ++k) {
    const Wrench<double> F = a.IA * V[k];
    for (int l = 0; l <= k; ++l) scratch.D(k, l) += F.n.dot(V[l].w) + F.f.dot(V[l].v);
    compound.force[k] -= a.n.dot(V[k].w) + a.f.dot(V[k].v);
    if (!is_free) carried[k] += F;
  }
  if (!is_free) {
    scratch.composite[i] += a.IA;
    scratch.bias[i] += Wrench<double>{a.n, a.f};
    const int parent = tree.nodes[at(index)].parent;
    Wrench<double> F = scratch.bias[i];
    link::wrench_to_parent(tree, work, index, F.n, F.f);
    const bool at_base = parent == compound.base;
    const std::size_t p = at_base ? 0 : at(local_[at(parent)]);
    Wrench<double>* const above = at_base ? compound.U.data() : &scratch.carried[p * at(n + 1)];
    for (int k = 0; k < n; ++k) {
      link::wrench_to_parent(tree, work, index, carried[k].n, carried[k].f);
      above[k] += carried[k];
    }
    link::add_seen_from_parent(tree, work, index, scratch.composite[i], at_base ? work[parent].IA : scratch.composite[p]);
    if (at_base) {
      work[parent].n += F.n;
      work[parent].f += F.f;
    } else {
      scratch.bias[p] += F;
    }
  }
  if (i == 0) finish_inward(work, compound);
}

/// (2), once all nodes of the compound are in.
void Compounds::finish_inward(TreeWork<double>& work, Compound& compound) {
  const int columns = compound.columns(), n = columns - 1;
  if (n == 0) return;
  for (std::size_t d = 0; d < compound.dofs.size(); ++d) {
    const double tau = work.tau[compound.dofs[d]];
    if (tau == 0.0) continue;
    for (int k = 0; k < n; ++k) compound.force[k] += compound.G[d * at(columns) + at(k)] * tau;
  }
  const MatX<double>& D = scratch_[at(compound.scratch)].D;
  if (n == 1) {
    compound.D = D(0, 0);
    if (!(compound.D > 0.0)) work.massless_node = compound.nodes.front();
    compound.solved[0] = compound.force[0] / compound.D;
  } else {
    compound.factor.compute(D);
    if (compound.factor.info() != Eigen::Success) work.massless_node = compound.nodes.front();
    compound.solved = compound.factor.solve(compound.force);
  }
  if (compound.base == 0) return;
  NodeWork<double>& base = work[compound.base];
  for (int k = 0; k < n; ++k) {
    base.n += compound.solved[k] * compound.U[at(k)].n;
    base.f += compound.solved[k] * compound.U[at(k)].f;
    Wrench<double> UD;  // column k of U D^-1
    if (n == 1) {
      UD = {compound.U[0].n / compound.D, compound.U[0].f / compound.D};
    } else {
      column_.setZero(n);
      column_[k] = 1.0;
      compound.factor.solveInPlace(column_);
      for (int l = 0; l < n; ++l) UD += {column_[l] * compound.U[at(l)].n, column_[l] * compound.U[at(l)].f};
    }
    base.IA.I.downdate(compound.U[at(k)].n, UD.n);
    base.IA.M.downdate(compound.U[at(k)].f, UD.f);
    base.IA.H -= UD.n * compound.U[at(k)].f.transpose();
  }
}

void Compounds::outward(const Tree& tree, TreeWork<double>& work, int index, VecX<double>& vdot) {
  Compound& compound = compounds_[at(compound_of_[at(index)])];
  const int columns = compound.columns(), n = columns - 1;
  if (local_[at(index)] == 0) {
    if (n > 0 && compound.base != 0) {
      const NodeWork<double>& base = work[compound.base];
      for (int k = 0; k < n; ++k) compound.force[k] -= compound.U[at(k)].n.dot(base.dw) + compound.U[at(k)].f.dot(base.dv);
      if (n == 1)
        compound.solved[0] = compound.force[0] / compound.D;
      else
        compound.solved = compound.factor.solve(compound.force);
    }
    for (std::size_t d = 0; d < compound.dofs.size(); ++d) {
      const double* const G = &compound.G[d * at(columns)];
      double sum = G[n];
      for (int k = 0; k < n; ++k) sum += G[k] * compound.solved[k];
      vdot[compound.dofs[d]] = sum;
    }
  }
  const Node& node = tree.nodes[at(index)];
  NodeWork<double>& a = work[index];
  a.dw = work[node.parent].dw, a.dv = work[node.parent].dv;
  if (node.parent != 0) link::motion_to_child(tree, work, index, a.dw, a.dv);
  add_joint_motion(tree, work, index, vdot.data() + node.v, a.dw, a.dv);
}

/// A_d' lambda = r_d, block by block in the opposite order.
void Compounds::multipliers(const VecX<double>& residual, VecX<double>& lambda) const {
  for (const Compound& compound : compounds_) {
    for (std::size_t d = 0; d < compound.dofs.size(); ++d) shift_[d] = residual[compound.dofs[d]];
    for (const Row& row : compound.rows) lambda[row.row] = 0.0;
    for (int i = compound.last_block; i-- > compound.first_block;) {
      const Block& block = blocks_[at(i)];
      const double* const inverse = &inverse_[at(block.inverse)];
      for (int r = 0; r < block.size; ++r) {
        const SolvedRow& row = solved_rows_[at(block.first_row + r)];
        double sum = 0.0;
        for (int d = 0; d < block.size; ++d) sum += inverse[d * block.size + r] * shift_[at(indices_[at(block.dependents + d)])];
        lambda[row.row] = sum;
        for (int o = row.first_other; o < row.last_other; ++o)
          shift_[at(others_[at(o)].dof)] -= A_[at(others_[at(o)].value)] * sum;
      }
    }
  }
}

std::vector<int> Compounds::independent() const {
  std::vector<int> all;
  for (const Compound& compound : compounds_)
    for (int dof : compound.independent) all.push_back(compound.dofs[at(dof)]);
  return all;
}

std::vector<Compounds::Cost> Compounds::costs() const {
  constexpr double kPerGroup = 700, kPerRow = 60, kPerEntry = 60, kPerNode = 200, kPerColumn = 190, kPerPair = 14;
  constexpr double kOnBody = 330, kColumnOnBody = 90, kSolve = 4, kSolvePair = 2;
  std::vector<Cost> costs;
  for (const Compound& compound : compounds_) {
    const auto nodes = static_cast<double>(compound.nodes.size()), columns = static_cast<double>(compound.columns());
    const double n = columns - 1.0;
    Cost& cost = costs.emplace_back();
    cost.groups = compound.groups;
    cost.joints = static_cast<int>(compound.nodes.size());
    cost.rows = static_cast<int>(compound.rows.size());
    cost.independent = compound.columns() - 1;
    double sum =
        kPerGroup * static_cast<double>(compound.groups.size()) + nodes * (kPerNode + kPerColumn * columns + kPerPair * n * n);
    if (compound.base != 0) sum += nodes * (kOnBody + kColumnOnBody * n) + 30.0 * n * n;
    sum += n * n * n / 3.0 + 4.0 * n * n;
    for (const Row& row : compound.rows) sum += kPerRow + kPerEntry * static_cast<double>(row.entries.size());
    for (const Block& block : blocks(compound)) {
      const double k = block.size;
      sum += kSolve * k * k * k;
      for (int r = 0; r < block.size; ++r) {
        const SolvedRow& row = solved_rows_[at(block.first_row + r)];
        sum += kSolvePair * columns * (k + row.last_other - row.first_other);
      }
    }
    cost.instructions = sum;
  }
  return costs;
}

std::vector<Compounds::Solved> Compounds::order_of_solution() const {
  std::vector<Solved> order;
  for (const Compound& compound : compounds_)
    for (const Block& block : blocks(compound)) {
      Solved& solved = order.emplace_back();
      for (int r = 0; r < block.size; ++r) {
        solved.rows.push_back(solved_rows_[at(block.first_row + r)].row);
        solved.dofs.push_back(compound.dofs[at(indices_[at(block.dependents + r)])]);
      }
    }
  return order;
}

}  // namespace linkwork
