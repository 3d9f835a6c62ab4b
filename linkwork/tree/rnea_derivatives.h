#pragma once

#include <vector>

#include "linkwork/linalg/row_major.h"
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

  /// Needs positions. Sets the entries of pattern(), no others. For SparseMatrix and RowMatX.
  template <class Matrix>
  void compute(const Tree& tree, TreeWork<double>& work, const VecX<double>& v, const VecX<double>& vdot, Matrix& by_position,
               Matrix& by_velocity, Matrix& mass);

  /// One velocity coordinate, everything in world axes about the world's origin. Of a node i that it carries, twist V and
  /// acceleration A change by
  ///   dV/dq = s x V - w,  dA/dq = s x A - y + V x w,  dV/dv = s,  dA/dv = z - V x s.
  struct Dof {
    Vec6<double> s = Vec6<double>::Zero();
    Vec6<double> w = Vec6<double>::Zero();  // s x V of what carries it
    Vec6<double> y = Vec6<double>::Zero();
    Vec6<double> z = Vec6<double>::Zero();
    int stage = 0;  // coordinates of one node with the same stage move together: a free node slides, then turns
  };
  const Dof& dof(int v) const { return dofs_[static_cast<std::size_t>(v)]; }
  const Vec6<double>& twist(int node) const { return V_[static_cast<std::size_t>(node)]; }
  /// The ground's is minus gravity.
  const Vec6<double>& acceleration(int node) const { return A_[static_cast<std::size_t>(node)]; }

 private:
  struct Composite {  // of a node and all it carries
    Mat6<double> I = Mat6<double>::Zero();
    Mat6<double> B = Mat6<double>::Zero();
    Vec6<double> F = Vec6<double>::Zero();
  };
  void place_node(const Tree& tree, const TreeWork<double>& work, const VecX<double>& v, const VecX<double>& vdot, int i);
  void set_axes(const Tree& tree, const TreeWork<double>& work, int i);
  template <class Matrix>
  void couple(const Tree& tree, int i, int ancestor, Matrix& K, Matrix& D, Matrix& M) const;

  std::vector<Dof> dofs_;
  std::vector<Composite> composites_;
  std::vector<Vec6<double>> V_, A_;  // by node
};

/// Six-vectors, the angular part first: a x b of motions, and a x* F of a motion and a force.
inline Vec6<double> cross_motion(const Vec6<double>& a, const Vec6<double>& b) {
  const Vec3<double> aw = a.head<3>(), av = a.tail<3>(), bw = b.head<3>(), bv = b.tail<3>();
  Vec6<double> c;
  c << aw.cross(bw), aw.cross(bv) + av.cross(bw);
  return c;
}
inline Vec6<double> cross_force(const Vec6<double>& a, const Vec6<double>& F) {
  const Vec3<double> aw = a.head<3>(), av = a.tail<3>(), n = F.head<3>(), f = F.tail<3>();
  Vec6<double> c;
  c << aw.cross(n) + av.cross(f), aw.cross(f);
  return c;
}

}  // namespace linkwork
