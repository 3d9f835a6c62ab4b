#include "linkwork/tree/rnea_derivatives.h"

#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/link_rotation.h"

namespace linkwork {

// In world axes about the world's origin, with s_j the axis of coordinate j, V and A the twist and acceleration of what carries
// it (A of the ground is -gravity), a displacement of j carries everything beyond it along s_j, except what V and A were before.
// With the Jacobi identity the derivatives of V_i = V + sum S v, A_i = A + sum (S vdot + V_k x S v) and F_i = I A_i + V_i x* I
// V_i then are, for every body i that j carries,
//   (1)  dF_i/dq_j = s_j x* F_i - I_i y_j - B_i w_j,   w_j = s_j x V,   y_j = s_j x A - w_j x V,
//   (2)  dF_i/dv_j = B_i s_j + I_i z_j,                z_j = (V + V_j) x s_j,  V_j just after the joint,
// where B(I, V) x = V x* I x + x x* (I V) - I (V x x). Summed over what a node carries, I, B and F become composites. The force
// in joint r is s_r . F_r; where r itself is carried by j the first term of (1) cancels against the turning of s_r.

namespace {

using V3 = Vec3<double>;
using V6 = Vec6<double>;

Mat6<double> cross_motion_matrix(const V6& a) {
  const Mat3<double> w = skew<double>(a.head<3>()), v = skew<double>(a.tail<3>());
  Mat6<double> m;
  m << w, Mat3<double>::Zero(), v, w;
  return m;
}

/// The matrix of x -> x x* h.
Mat6<double> cross_force_by_first(const V6& h) {
  const Mat3<double> n = skew<double>(h.head<3>()), f = skew<double>(h.tail<3>());
  Mat6<double> m;
  m << -n, -f, -f, Mat3<double>::Zero();
  return m;
}

V6 to_world(const Pose<double>& X, const V3& w, const V3& v) {
  const V3 turned = X.R * w;
  V6 out;
  out << turned, X.R * v + X.p.cross(turned);
  return out;
}

}  // namespace

InverseDynamicsDerivatives::InverseDynamicsDerivatives(const Tree& tree)
    : dofs_(static_cast<std::size_t>(tree.nv)),
      composites_(tree.nodes.size()),
      V_(tree.nodes.size(), V6::Zero()),
      A_(tree.nodes.size(), V6::Zero()) {
  for (const Node& node : tree.nodes)
    if (node.kind == NodeKind::kFree)
      for (int k = 3; k < 6; ++k) dofs_[static_cast<std::size_t>(node.v + k)].stage = 1;
}

std::vector<std::pair<int, int>> InverseDynamicsDerivatives::pattern(const Tree& tree) {
  std::vector<std::pair<int, int>> places;
  for (int i = 1; i < tree.size(); ++i)
    for (int a = i; a != 0; a = tree.nodes[static_cast<std::size_t>(a)].parent) {
      const Node& node = tree.nodes[static_cast<std::size_t>(i)];
      const Node& ancestor = tree.nodes[static_cast<std::size_t>(a)];
      for (int r = node.v; r < node.v + velocity_count(node.kind); ++r)
        for (int c = ancestor.v; c < ancestor.v + velocity_count(ancestor.kind); ++c) {
          places.emplace_back(r, c);
          if (a != i) places.emplace_back(c, r);
        }
    }
  return places;
}

void InverseDynamicsDerivatives::set_axes(const Tree& tree, const TreeWork<double>& work, int i) {
  const Node& node = tree.nodes[static_cast<std::size_t>(i)];
  const Pose<double>& X = work.X_WN[static_cast<std::size_t>(i)];
  Dof* const dofs = dofs_.data() + node.v;
  if (velocity_count(node.kind) == 1) {
    const JointAxis axis = joint_axis(node);
    dofs[0].s = to_world(X, axis.turn * V3::UnitZ(), axis.slide * V3::UnitZ());
    return;
  }
  const int slides = node.kind == NodeKind::kFree ? 3 : 0;
  for (int k = 0; k < slides; ++k) dofs[k].s << V3::Zero(), X.R * work.block(i).Rq.transpose().col(k);
  for (int k = 0; k < 3; ++k) dofs[slides + k].s = to_world(X, V3::Unit(k), V3::Zero());
}

void InverseDynamicsDerivatives::place_node(const Tree& tree, const TreeWork<double>& work, const VecX<double>& v,
                                            const VecX<double>& vdot, int i) {
  const Node& node = tree.nodes[static_cast<std::size_t>(i)];
  const auto at = static_cast<std::size_t>(i);
  set_axes(tree, work, i);
  V6 V = V_[static_cast<std::size_t>(node.parent)];
  V6 A = A_[static_cast<std::size_t>(node.parent)];
  const int end = node.v + velocity_count(node.kind);
  for (int first = node.v, last = first; first < end; first = last) {
    V6 moves = V6::Zero(), accelerates = V6::Zero();
    for (; last < end && dofs_[static_cast<std::size_t>(last)].stage == dofs_[static_cast<std::size_t>(first)].stage; ++last) {
      moves += v[last] * dofs_[static_cast<std::size_t>(last)].s;
      accelerates += vdot[last] * dofs_[static_cast<std::size_t>(last)].s;
    }
    const V6 V_after = V + moves;
    for (int j = first; j < last; ++j) {
      Dof& dof = dofs_[static_cast<std::size_t>(j)];
      dof.w = cross_motion(dof.s, V);
      dof.y = cross_motion(dof.s, A) - cross_motion(dof.w, V);
      dof.z = cross_motion(V + V_after, dof.s);
    }
    A += accelerates + cross_motion(V_after, moves);
    V = V_after;
  }
  V_[at] = V;
  A_[at] = A;

  Composite& c = composites_[at];
  c.I = ArticulatedInertia<double>::of(node.inertia.seen_from(work.X_WN[at])).matrix();
  const V6 h = c.I * V;
  c.F = c.I * A + cross_force(V, h);
  const Mat6<double> Vx = cross_motion_matrix(V);
  c.B = cross_force_by_first(h) - Vx.transpose() * c.I - c.I * Vx;  // x* is minus the transpose of x
}

template <class Matrix>
void InverseDynamicsDerivatives::couple(const Tree& tree, int i, int ancestor, Matrix& K, Matrix& D, Matrix& M) const {
  const Node& node = tree.nodes[static_cast<std::size_t>(i)];
  const Node& before = tree.nodes[static_cast<std::size_t>(ancestor)];
  const Composite& c = composites_[static_cast<std::size_t>(i)];
  for (int r = node.v; r < node.v + velocity_count(node.kind); ++r) {
    const Dof& a = dofs_[static_cast<std::size_t>(r)];
    const V6 Is = c.I * a.s;
    const V6 Bs = c.B.transpose() * a.s;
    const V6 by_q = cross_force(a.s, c.F) - c.I * a.y - c.B * a.w;  // (1)
    const V6 by_v = c.B * a.s + c.I * a.z;                          // (2)
    for (int j = before.v; j < before.v + velocity_count(before.kind); ++j) {
      const Dof& b = dofs_[static_cast<std::size_t>(j)];
      const bool same_node = i == ancestor;
      if (!same_node || b.stage <= a.stage) {  // b carries a
        K.coeffRef(r, j) = -(Is.dot(b.y) + Bs.dot(b.w));
        D.coeffRef(r, j) = Bs.dot(b.s) + Is.dot(b.z);
        M.coeffRef(r, j) = Is.dot(b.s);
      }
      if (same_node && b.stage >= a.stage) continue;
      K.coeffRef(j, r) = b.s.dot(by_q);
      D.coeffRef(j, r) = b.s.dot(by_v);
      M.coeffRef(j, r) = Is.dot(b.s);
    }
  }
}

template <class Matrix>
void InverseDynamicsDerivatives::compute(const Tree& tree, TreeWork<double>& work, const VecX<double>& v,
                                         const VecX<double>& vdot, Matrix& by_position, Matrix& by_velocity, Matrix& mass) {
  update_poses(tree, work);
  A_[0] << V3::Zero(), -tree.gravity;
  for (int i = 1; i < tree.size(); ++i) place_node(tree, work, v, vdot, i);
  for (int i = tree.size() - 1; i > 0; --i) {
    const int parent = tree.nodes[static_cast<std::size_t>(i)].parent;
    for (int a = i; a != 0; a = tree.nodes[static_cast<std::size_t>(a)].parent)
      couple(tree, i, a, by_position, by_velocity, mass);
    const Node& node = tree.nodes[static_cast<std::size_t>(i)];
    if (node.armature != 0.0) mass.coeffRef(node.v, node.v) += node.armature;
    if (parent == 0) continue;
    Composite& sum = composites_[static_cast<std::size_t>(parent)];
    const Composite& c = composites_[static_cast<std::size_t>(i)];
    sum.I += c.I, sum.B += c.B, sum.F += c.F;
  }
}

template void InverseDynamicsDerivatives::compute(const Tree&, TreeWork<double>&, const VecX<double>&, const VecX<double>&,
                                                  SparseMatrix&, SparseMatrix&, SparseMatrix&);
template void InverseDynamicsDerivatives::compute(const Tree&, TreeWork<double>&, const VecX<double>&, const VecX<double>&,
                                                  RowMatX&, RowMatX&, RowMatX&);

}  // namespace linkwork
