#include "linkwork/tree/crba.h"

#include <array>

#include "linkwork/tree/link_rotation.h"

namespace linkwork {

template <class S>
void mass_matrix(const Tree& tree, TreeWork<S>& work, MatX<S>& M) {
  M.setZero(tree.nv, tree.nv);
  for (int i = 1; i < tree.size(); ++i) work[i].IA = ArticulatedInertia<S>::of(tree.nodes[static_cast<std::size_t>(i)].inertia);
  std::array<S, 6> force;
  for (int i = tree.size() - 1; i > 0; --i) {
    const Node& node = tree.nodes[static_cast<std::size_t>(i)];
    const ArticulatedInertia<S>& IC = work[i].IA;
    for (int k = 0; k < velocity_count(node.kind); ++k) {
      std::array<S, 6> unit{};
      unit[static_cast<std::size_t>(k)] = S(1);
      Vec3<S> w = Vec3<S>::Zero(), v = Vec3<S>::Zero();
      add_joint_motion(tree, work, i, unit.data(), w, v);
      Vec3<S> n = IC.I * w + IC.H * v;
      Vec3<S> f = IC.H.transpose() * w + IC.M * v;
      for (int j = i; j != 0; j = tree.nodes[static_cast<std::size_t>(j)].parent) {
        const Node& at = tree.nodes[static_cast<std::size_t>(j)];
        joint_force(tree, work, j, n, f, force.data());
        for (int l = 0; l < velocity_count(at.kind); ++l) {
          M(at.v + l, node.v + k) = force[static_cast<std::size_t>(l)];
          M(node.v + k, at.v + l) = force[static_cast<std::size_t>(l)];
        }
        link::wrench_to_parent(tree, work, j, n, f);
      }
    }
    if (node.armature != 0.0) M(node.v, node.v) += S(node.armature);
    if (node.parent != 0) link::add_to_parent(tree, work, i, work[i].IA);
  }
}

template void mass_matrix<double>(const Tree&, TreeWork<double>&, MatX<double>&);
template void mass_matrix<long double>(const Tree&, TreeWork<long double>&, MatX<long double>&);

}  // namespace linkwork
