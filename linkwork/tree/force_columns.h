#pragma once

#include <optional>
#include <span>
#include <vector>

#include "linkwork/linalg/sparse_matrix.h"
#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// A few generalized-force columns that act at the same nodes and joints: the rows of one closure, or the six unit wrenches of
/// a frame. reduce() carries them through the articulated bodies, which gives U = F A' of the factorization M^-1 = F' D^-1 F, so
/// that A M^-1 B' = U_A' D^-1 U_B for any two sets, without M or M^-1.
class ForceColumns {
 public:
  /// Wrenches act on seed_nodes, generalized forces on the velocity coordinates seed_dofs.
  ForceColumns(const Tree& tree, std::vector<int> seed_nodes, std::vector<int> seed_dofs, int columns);

  int columns() const { return columns_; }
  /// The columns that can ever do work on the joints; those behind them never do.
  int working() const { return working_; }
  void set_working(int columns) { working_ = columns; }
  /// The lowest node that contains all seeds: beyond it the rigid columns cancel. The ground for a single frame.
  int root() const { return root_; }
  const std::vector<int>& seed_nodes() const { return seed_nodes_; }
  const std::vector<int>& seed_dofs() const { return seed_dofs_; }
  /// The nodes between the seeds and the root, children first.
  std::vector<int> way() const;
  /// The values, set anew at each state. Wrenches in the node's frame.
  Wrench<double>& wrench(int seed, int column) { return wrenches_[static_cast<std::size_t>(seed * columns_ + column)]; }
  const Wrench<double>& wrench(int seed, int column) const {
    return wrenches_[static_cast<std::size_t>(seed * columns_ + column)];
  }
  /// Of a seed, when the columns are multiplied by lambda, a number each.
  Wrench<double> resultant(int seed, const double* lambda) const {
    Wrench<double> sum;
    for (int c = 0; c < columns_; ++c) sum += Wrench<double>{lambda[c] * wrench(seed, c).n, lambda[c] * wrench(seed, c).f};
    return sum;
  }
  /// Sets a column to zero.
  void clear(int column);
  /// Where the wrenches act: only for the scale of rank decisions.
  void set_point(int node, const Vec3<double>& in_node) { point_node_ = node, point_ = in_node; }
  /// Bounds of the wrenches' squared moments and forces, if they have any that always hold: for the scale of rank decisions, too.
  struct Bounds {
    double moment, force;
  };
  const std::optional<Bounds>& bounds() const { return bounds_; }
  void set_bounds(const Bounds& bounds) { bounds_ = bounds; }
  double& force(int seed_dof, int column) { return forces_[static_cast<std::size_t>(seed_dof * columns_ + column)]; }
  double force(int seed_dof, int column) const { return forces_[static_cast<std::size_t>(seed_dof * columns_ + column)]; }

  /// Needs aba_inertias() or aba_backward().
  void reduce(const Tree& tree, const TreeWork<double>& work);

  /// Velocity coordinates on which reduced columns can be non-zero, ascending.
  const std::vector<int>& support() const { return support_dofs_; }
  const double* reduced(int support_index) const { return &reduced_[static_cast<std::size_t>(support_index * columns_)]; }  // U
  const double* weighted(int support_index) const {
    return &weighted_[static_cast<std::size_t>(support_index * columns_)];
  }  // D^-1 U
  /// How large the column's own u' D^-1 u would be if its forces had their full lever arms about the joints, and its moments lay
  /// along the joint axes: the scale of rank decisions.
  double scale(int column) const { return scale_[static_cast<std::size_t>(column)]; }

  /// Adds the unreduced columns, i.e. A' itself, transposed into the rows of A. Needs positions only.
  void add_rows_to(const Tree& tree, const TreeWork<double>& work, int first_row, MatX<double>& A) const;
  void add_rows_to(const Tree& tree, const TreeWork<double>& work, int first_row, SparseMatrix& A) const;
  /// The entries alone: out[i * columns() + c] for coordinate support()[i].
  void write_rows(const Tree& tree, const TreeWork<double>& work, double* out) const;
  /// Adds the columns times lambda, and a factor, to the applied forces.
  void add_to_forces(const double* lambda, TreeWork<double>& work, double factor = 1.0) const;
  /// The rows of A with upper bounds of the entries, for rank decisions.
  void add_bounds_to(const Tree& tree, const TreeWork<double>& work, int first_row, MatX<double>& bounds) const;
  void write_bounds(const Tree& tree, const TreeWork<double>& work, double* out) const;  // placed as by write_rows()

  /// out += U * lambda.
  void add_reduced_times(const double* lambda, VecX<double>& out) const;
  /// sum += U' x for a vector x over all velocity coordinates, weighted by D^-1.
  void add_weighted_dot(const VecX<double>& x, double* sum) const;

 private:
  struct SupportNode {
    int node;
    int parent;     // position in support_nodes_, -1: the root
    int first_dof;  // position in support_dofs_
  };
  template <class Matrix>
  void add_rows(const Tree& tree, const TreeWork<double>& work, int first_row, Matrix& A) const;
  template <class Add>
  void for_each_bound(const Tree& tree, const TreeWork<double>& work, Add&& add) const;
  template <class Visit>
  void propagate(const Tree& tree, const TreeWork<double>& work, Visit&& visit) const;
  void seed() const;

  int columns_, working_;
  std::optional<Bounds> bounds_;
  int root_ = 0;
  std::vector<int> seed_nodes_, seed_dofs_;
  std::vector<int> seed_positions_;         // of the seed nodes in support_nodes_; -1: the root
  std::vector<int> seed_dof_positions_;     // of the seed dofs in support_dofs_
  std::vector<SupportNode> support_nodes_;  // children first
  std::vector<int> support_dofs_;
  std::vector<Wrench<double>> wrenches_;
  std::vector<double> forces_;
  std::vector<double> reduced_, weighted_, scale_;
  int point_node_ = 0;
  Vec3<double> point_ = Vec3<double>::Zero();
  mutable std::vector<Wrench<double>> carried_;  // by support node and column
};

/// sum over common coordinates of U_a' D^-1 U_b, as a row-major (a.columns x b.columns) block. `common` lists pairs of support
/// positions (see common_support).
void weighted_product(const ForceColumns& a, const ForceColumns& b, std::span<const std::pair<int, int>> common, double* block);
std::vector<std::pair<int, int>> common_support(const ForceColumns& a, const ForceColumns& b);

}  // namespace linkwork
