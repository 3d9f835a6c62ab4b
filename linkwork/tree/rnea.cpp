#include "linkwork/tree/rnea.h"

#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/link_rotation.h"
#include "linkwork/tree/rnea_recursions.h"

namespace linkwork {

namespace {

template <class S>
void add_armatures(const Tree& tree, const S* x, VecX<S>& tau) {
  for (const Node& node : tree.nodes)
    if (node.armature != 0.0) tau[node.v] += S(node.armature) * x[node.v];
}

/// Hands the wrenches down to the root and reads off the joints' shares.
template <class S>
void collect_joint_forces(const Tree& tree, TreeWork<S>& work, VecX<S>& tau) {
  tau.resize(tree.nv);
  for (int i = tree.size() - 1; i > 0; --i) {
    const Node& node = tree.nodes[static_cast<std::size_t>(i)];
    joint_force(tree, work, i, work[i].n, work[i].f, tau.data() + node.v);
    if (node.parent == 0) continue;
    Vec3<S> n = work[i].n, f = work[i].f;
    link::wrench_to_parent(tree, work, i, n, f);
    work[node.parent].n += n;
    work[node.parent].f += f;
  }
}

}  // namespace

template <class S>
void update_bias_wrenches(const Tree& tree, TreeWork<S>& work) {
  recursions::update_bias_wrenches(tree, work);
}

template <class S>
void bias_forces(const Tree& tree, TreeWork<S>& work, VecX<S>& c) {
  update_bias_wrenches(tree, work);
  collect_joint_forces(tree, work, c);
}

template <class S>
void generalized_forces(const Tree& tree, TreeWork<S>& work, VecX<S>& tau) {
  for (int i = 1; i < tree.size(); ++i) {
    work[i].n = work.applied[static_cast<std::size_t>(i)].n;
    work[i].f = work.applied[static_cast<std::size_t>(i)].f;
  }
  collect_joint_forces(tree, work, tau);
}

template <class S>
void inverse_dynamics(const Tree& tree, const S* vdot, TreeWork<S>& work, VecX<S>& tau) {
  update_accelerations(tree, vdot, work);
  for (int i = 1; i < tree.size(); ++i)
    recursions::need_wrench<S>(tree, work, i, work[i].w, work[i].aw + work[i].dw, work[i].ap + work[i].dv);
  collect_joint_forces(tree, work, tau);
  add_armatures(tree, vdot, tau);
}

template <class S>
void momentum_change(const Tree& tree, const S* x, TreeWork<S>& work, VecX<S>& tau) {
  update_accelerations(tree, x, work);
  for (int i = 1; i < tree.size(); ++i) recursions::need_wrench<S>(tree, work, i, Vec3<S>::Zero(), work[i].dw, work[i].dv);
  collect_joint_forces(tree, work, tau);
  add_armatures(tree, x, tau);
}

template void update_bias_wrenches<double>(const Tree&, TreeWork<double>&);
template void update_bias_wrenches<long double>(const Tree&, TreeWork<long double>&);
template void bias_forces<double>(const Tree&, TreeWork<double>&, VecX<double>&);
template void bias_forces<long double>(const Tree&, TreeWork<long double>&, VecX<long double>&);
template void generalized_forces<double>(const Tree&, TreeWork<double>&, VecX<double>&);
template void momentum_change<double>(const Tree&, const double*, TreeWork<double>&, VecX<double>&);
template void inverse_dynamics<double>(const Tree&, const double*, TreeWork<double>&, VecX<double>&);
template void inverse_dynamics<long double>(const Tree&, const long double*, TreeWork<long double>&, VecX<long double>&);

}  // namespace linkwork
