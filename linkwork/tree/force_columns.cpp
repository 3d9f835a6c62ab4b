#include "linkwork/tree/force_columns.h"

#include <algorithm>
#include <array>

#include "linkwork/linalg/rank.h"
#include "linkwork/tree/link_rotation.h"

namespace linkwork {

namespace {

int node_of(const Tree& tree, int dof) {
  const auto last = std::ranges::upper_bound(tree.nodes, dof, {}, &Node::v);
  return static_cast<int>(last - tree.nodes.begin()) - 1;
}

}  // namespace

ForceColumns::ForceColumns(const Tree& tree, std::vector<int> seed_nodes, std::vector<int> seed_dofs, int columns)
    : columns_(columns),
      working_(columns),
      seed_nodes_(std::move(seed_nodes)),
      seed_dofs_(std::move(seed_dofs)),
      wrenches_(seed_nodes_.size() * static_cast<std::size_t>(columns)),
      forces_(seed_dofs_.size() * static_cast<std::size_t>(columns), 0.0),
      scale_(static_cast<std::size_t>(columns), 0.0) {
  std::vector<int> ends(seed_nodes_), tips(seed_nodes_);
  for (int dof : seed_dofs_) {
    tips.push_back(node_of(tree, dof));
    ends.push_back(tree.nodes[static_cast<std::size_t>(tips.back())].parent);
  }
  const bool is_single_frame = ends.size() == 1 && seed_dofs_.empty();
  root_ = is_single_frame || ends.empty() ? 0 : ends.front();
  for (int end : ends) root_ = common_ancestor(tree, root_, end);

  std::vector<int> way;
  for (int tip : tips)
    for (; tip != root_; tip = tree.nodes[static_cast<std::size_t>(tip)].parent) way.push_back(tip);
  std::ranges::sort(way, std::greater<>());
  const auto repeated = std::unique(way.begin(), way.end());
  way.erase(repeated, way.end());
  const auto position = [&](int node) {
    const auto found = std::ranges::lower_bound(way, node, std::greater<>());
    return found != way.end() && *found == node ? static_cast<int>(found - way.begin()) : -1;
  };
  for (int node : way) support_nodes_.push_back({node, position(tree.nodes[static_cast<std::size_t>(node)].parent), 0});
  for (auto s = support_nodes_.rbegin(); s != support_nodes_.rend(); ++s) {
    const Node& node = tree.nodes[static_cast<std::size_t>(s->node)];
    s->first_dof = static_cast<int>(support_dofs_.size());
    for (int k = 0; k < velocity_count(node.kind); ++k) support_dofs_.push_back(node.v + k);
  }
  for (int node : seed_nodes_) seed_positions_.push_back(position(node));
  for (int dof : seed_dofs_)
    seed_dof_positions_.push_back(static_cast<int>(std::ranges::lower_bound(support_dofs_, dof) - support_dofs_.begin()));
  carried_.resize(support_nodes_.size() * static_cast<std::size_t>(columns));
  reduced_.resize(support_dofs_.size() * static_cast<std::size_t>(columns));
  weighted_.resize(reduced_.size());
}

std::vector<int> ForceColumns::way() const {
  std::vector<int> nodes;
  for (const SupportNode& s : support_nodes_) nodes.push_back(s.node);
  return nodes;
}

void ForceColumns::seed() const {
  for (Wrench<double>& F : carried_) F = {};
  for (std::size_t s = 0; s < seed_positions_.size(); ++s) {
    if (seed_positions_[s] < 0) continue;
    for (int c = 0; c < columns_; ++c)
      carried_[static_cast<std::size_t>(seed_positions_[s] * columns_ + c)] +=
          wrenches_[s * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(c)];
  }
}

/// Carries the wrenches from children to parents. visit(support node, column, n, f) may change them on the way.
template <class Visit>
void ForceColumns::propagate(const Tree& tree, const TreeWork<double>& work, Visit&& visit) const {
  seed();
  for (std::size_t s = 0; s < support_nodes_.size(); ++s) {
    const SupportNode& at = support_nodes_[s];
    for (int c = 0; c < columns_; ++c) {
      Wrench<double>& F = carried_[s * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(c)];
      visit(at, c, F.n, F.f);
      if (at.parent < 0) continue;
      link::wrench_to_parent(tree, work, at.node, F.n, F.f);
      carried_[static_cast<std::size_t>(at.parent * columns_ + c)] += F;
    }
  }
}

void ForceColumns::reduce(const Tree& tree, const TreeWork<double>& work) {
  std::ranges::fill(scale_, 0.0);
  std::ranges::fill(reduced_, 0.0);
  for (std::size_t s = 0; s < seed_dof_positions_.size(); ++s)
    for (int c = 0; c < columns_; ++c)
      reduced_[static_cast<std::size_t>(seed_dof_positions_[s] * columns_ + c)] +=
          forces_[s * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(c)];

  const Vec3<double> point = work.X_WN[static_cast<std::size_t>(point_node_)] * point_;
  propagate(tree, work, [&](const SupportNode& at, int c, Vec3<double>& n, Vec3<double>& f) {
    const Node& node = tree.nodes[static_cast<std::size_t>(at.node)];
    const NodeWork<double>& a = work[at.node];
    const auto first = static_cast<std::size_t>(at.first_dof * columns_ + c);
    const auto stride = static_cast<std::size_t>(columns_);
    double& scale = scale_[static_cast<std::size_t>(c)];
    const double arm = std::max((work.X_WN[static_cast<std::size_t>(at.node)].p - point).norm(), kShortestArm * tree.length);
    const double turning = n.squaredNorm() + f.squaredNorm() * arm * arm;
    if (velocity_count(node.kind) == 1) {
      const JointAxis axis = joint_axis(node);
      const double seeded = reduced_[first];
      const double u = seeded + axis.turn * n.z() + axis.slide * f.z();
      const double y = a.Dinv * u;
      scale += a.Dinv * (seeded * seeded + axis.turn * axis.turn * turning + axis.slide * axis.slide * f.squaredNorm());
      reduced_[first] = u;
      weighted_[first] = y;
      n -= y * a.Uw;
      f -= y * a.Uf;
      return;
    }
    const BlockWork<double>& block = work.block(at.node);
    std::array<double, 6> u{};
    joint_force(tree, work, at.node, n, f, u.data());
    const int nv = velocity_count(node.kind);
    for (int k = 0; k < nv; ++k) {
      double& r = reduced_[first + static_cast<std::size_t>(k) * stride];
      u[static_cast<std::size_t>(k)] += r;
      r = u[static_cast<std::size_t>(k)];
    }
    std::array<double, 6> y{};
    const Eigen::Map<const Vec3<double>> u0(u.data()), u1(u.data() + 3);
    if (node.kind == NodeKind::kSpherical) {
      const Mat3<double> Dinv = block.IA_inverse.topLeftCorner<3, 3>();
      const Vec3<double> x = Dinv * u0;
      Eigen::Map<Vec3<double>>{y.data()} = x;
      scale += Dinv.trace() * (u0.squaredNorm() + turning);
      f -= a.IA.H.transpose() * x;
      n -= u0;
    } else {
      Vec6<double> F;
      F << u1, block.Rq.transpose() * u0;
      const Vec6<double> A = block.IA_inverse * F;
      Eigen::Map<Vec3<double>>{y.data()} = block.Rq * A.tail<3>();
      Eigen::Map<Vec3<double>>{y.data() + 3} = A.head<3>();
      scale += F.dot(A);
      n -= u1;
      f -= block.Rq.transpose() * u0;
    }
    for (int k = 0; k < nv; ++k) weighted_[first + static_cast<std::size_t>(k) * stride] = y[static_cast<std::size_t>(k)];
  });
}

template <class Matrix>
void ForceColumns::add_rows(const Tree& tree, const TreeWork<double>& work, int first_row, Matrix& A) const {
  propagate(tree, work, [&](const SupportNode& at, int c, Vec3<double>& n, Vec3<double>& f) {
    const Node& node = tree.nodes[static_cast<std::size_t>(at.node)];
    std::array<double, 6> u{};
    joint_force(tree, work, at.node, n, f, u.data());
    for (int k = 0; k < velocity_count(node.kind); ++k) A.coeffRef(first_row + c, node.v + k) += u[static_cast<std::size_t>(k)];
  });
  for (std::size_t s = 0; s < seed_dof_positions_.size(); ++s)
    for (int c = 0; c < columns_; ++c)
      A.coeffRef(first_row + c, support_dofs_[static_cast<std::size_t>(seed_dof_positions_[s])]) +=
          forces_[s * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(c)];
}

void ForceColumns::write_rows(const Tree& tree, const TreeWork<double>& work, double* out) const {
  propagate(tree, work, [&](const SupportNode& at, int c, Vec3<double>& n, Vec3<double>& f) {
    std::array<double, 6> u{};
    joint_force(tree, work, at.node, n, f, u.data());
    for (int k = 0; k < velocity_count(tree.nodes[static_cast<std::size_t>(at.node)].kind); ++k)
      out[(at.first_dof + k) * columns_ + c] = u[static_cast<std::size_t>(k)];
  });
  for (std::size_t s = 0; s < seed_dof_positions_.size(); ++s)
    for (int c = 0; c < columns_; ++c)
      out[seed_dof_positions_[s] * columns_ + c] += forces_[s * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(c)];
}

void ForceColumns::add_rows_to(const Tree& tree, const TreeWork<double>& work, int first_row, MatX<double>& A) const {
  add_rows(tree, work, first_row, A);
}

void ForceColumns::add_rows_to(const Tree& tree, const TreeWork<double>& work, int first_row, SparseMatrix& A) const {
  add_rows(tree, work, first_row, A);
}

void ForceColumns::clear(int column) {
  for (int s = 0; s < static_cast<int>(seed_nodes_.size()); ++s) wrench(s, column) = {};
  for (int s = 0; s < static_cast<int>(seed_dofs_.size()); ++s) force(s, column) = 0.0;
}

void ForceColumns::add_to_forces(const double* lambda, TreeWork<double>& work, double factor) const {
  for (int c = 0; c < columns_; ++c) {
    for (std::size_t s = 0; s < seed_nodes_.size(); ++s) {
      const Wrench<double>& F = wrench(static_cast<int>(s), c);
      work.apply(seed_nodes_[s], {factor * lambda[c] * F.n, factor * lambda[c] * F.f});
    }
    for (std::size_t s = 0; s < seed_dofs_.size(); ++s)
      work.tau[seed_dofs_[s]] += factor * lambda[c] * force(static_cast<int>(s), c);
  }
}

template <class Add>
void ForceColumns::for_each_bound(const Tree& tree, const TreeWork<double>& work, Add&& add) const {
  const Vec3<double> point = work.X_WN[static_cast<std::size_t>(point_node_)] * point_;
  propagate(tree, work, [&](const SupportNode& at, int c, Vec3<double>& n, Vec3<double>& f) {
    const Node& node = tree.nodes[static_cast<std::size_t>(at.node)];
    const double arm = std::max((work.X_WN[static_cast<std::size_t>(at.node)].p - point).norm(), kShortestArm * tree.length);
    const double turning = std::hypot(n.norm(), f.norm() * arm);
    for (int k = 0; k < velocity_count(node.kind); ++k) {
      const bool linear = node.kind == NodeKind::kFree && k < 3;
      const JointAxis axis =
          velocity_count(node.kind) == 1 ? joint_axis(node) : JointAxis{linear ? 0.0 : 1.0, linear ? 1.0 : 0.0};
      add(at.first_dof + k, c, std::abs(axis.turn) * turning + std::abs(axis.slide) * f.norm());
    }
  });
  for (std::size_t s = 0; s < seed_dof_positions_.size(); ++s)
    for (int c = 0; c < columns_; ++c) add(seed_dof_positions_[s], c, std::abs(force(static_cast<int>(s), c)));
}

void ForceColumns::add_bounds_to(const Tree& tree, const TreeWork<double>& work, int first_row, MatX<double>& bounds) const {
  for_each_bound(tree, work, [&](int position, int c, double bound) {
    bounds(first_row + c, support_dofs_[static_cast<std::size_t>(position)]) += bound;
  });
}

void ForceColumns::write_bounds(const Tree& tree, const TreeWork<double>& work, double* out) const {
  std::fill_n(out, support_dofs_.size() * static_cast<std::size_t>(columns_), 0.0);
  for_each_bound(tree, work, [&](int position, int c, double bound) { out[position * columns_ + c] += bound; });
}

void ForceColumns::add_reduced_times(const double* lambda, VecX<double>& out) const {
  for (std::size_t s = 0; s < support_dofs_.size(); ++s) {
    const double* const row = reduced(static_cast<int>(s));
    double sum = 0.0;
    for (int c = 0; c < columns_; ++c) sum += row[c] * lambda[c];
    out[support_dofs_[s]] += sum;
  }
}

void ForceColumns::add_weighted_dot(const VecX<double>& x, double* sum) const {
  for (std::size_t s = 0; s < support_dofs_.size(); ++s) {
    const double* const row = weighted(static_cast<int>(s));
    const double xs = x[support_dofs_[s]];
    for (int c = 0; c < columns_; ++c) sum[c] += row[c] * xs;
  }
}

std::vector<std::pair<int, int>> common_support(const ForceColumns& a, const ForceColumns& b) {
  std::vector<std::pair<int, int>> pairs;
  std::size_t i = 0, j = 0;
  while (i < a.support().size() && j < b.support().size()) {
    const int da = a.support()[i], db = b.support()[j];
    if (da == db) pairs.emplace_back(static_cast<int>(i), static_cast<int>(j));
    if (da <= db) ++i;
    if (db <= da) ++j;
  }
  return pairs;
}

void weighted_product(const ForceColumns& a, const ForceColumns& b, std::span<const std::pair<int, int>> common, double* block) {
  const int rows = a.columns(), cols = b.columns();
  std::fill(block, block + rows * cols, 0.0);
  for (const auto& [i, j] : common) {
    const double* const u = a.reduced(i);
    const double* const y = b.weighted(j);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) block[r * cols + c] += u[r] * y[c];
  }
}

}  // namespace linkwork
