#pragma once

#include <vector>

#include "linkwork/linalg/sparse_matrix.h"
#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Exact derivatives of the inverse dynamics M vdot + c (without external wrenches): with respect to displacements of the joints
/// as displace() makes them, to velocities, and to accelerations.
class InverseDynamicsDerivatives {
 public:
  explicit InverseDynamicsDerivatives(const Tree& tree);

  /// Places where the three matrices have entries: coordinates of nodes of which one carries the other.
  static std::vector<std::pair<int, int>> pattern(const Tree& tree);

  /// Needs positions. Sets the entries of pattern(), no others.
  void compute(const Tree& tree, TreeWork<double>& work, const VecX<double>& v, const VecX<double>& vdot,
               SparseMatrix& by_position, SparseMatrix& by_velocity, SparseMatrix& mass);

 private:
  /// One velocity coordinate, everything in world axes about the world's origin.
  struct Dof {
    Vec6<double> s = Vec6<double>::Zero();
    Vec6<double> w = Vec6<double>::Zero();  // s x V of what carries it
    Vec6<double> y = Vec6<double>::Zero();
    Vec6<double> z = Vec6<double>::Zero();
    int stage = 0;  // coordinates of one node with the same stage move together: a free node slides, then turns
  };
  struct Composite {  // of a node and all it carries
    Mat6<double> I = Mat6<double>::Zero();
    Mat6<double> B = Mat6<double>::Zero();
    Vec6<double> F = Vec6<double>::Zero();
  };
  void place_node(const Tree& tree, const TreeWork<double>& work, const VecX<double>& v, const VecX<double>& vdot, int i);
  void set_axes(const Tree& tree, const TreeWork<double>& work, int i);
  void couple(const Tree& tree, int i, int ancestor, SparseMatrix& K, SparseMatrix& D, SparseMatrix& M) const;

  std::vector<Dof> dofs_;
  std::vector<Composite> composites_;
  std::vector<Vec6<double>> V_, A_;  // by node
};

}  // namespace linkwork
