#include "linkwork/tree/aba.h"

#include "linkwork/tree/aba_recursions.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

template <class S>
void articulate(const Tree& tree, TreeWork<S>& work, int node) {
  recursions::articulate(tree, work, node);
}

template <class S>
void reduce_force(const Tree& tree, TreeWork<S>& work, int node) {
  recursions::reduce_force(tree, work, node);
}

template <class S>
void start_inertias(const Tree& tree, TreeWork<S>& work) {
  recursions::start_inertias(tree, work);
}

template <class S>
void aba_inertias(const Tree& tree, TreeWork<S>& work) {
  recursions::aba_inertias(tree, work);
}

template <class S>
void aba_backward(const Tree& tree, TreeWork<S>& work) {
  recursions::aba_backward(tree, work);
}

template <class S>
void accelerate(const Tree& tree, TreeWork<S>& work, int node, const S* u, S* vdot) {
  recursions::accelerate(tree, work, node, u, vdot);
}

template <class S>
void aba_forward(const Tree& tree, TreeWork<S>& work, const VecX<S>& u, VecX<S>& vdot) {
  recursions::aba_forward(tree, work, u, vdot);
}

template <class S>
void forward_dynamics(const Tree& tree, TreeWork<S>& work, VecX<S>& vdot) {
  update_bias_wrenches(tree, work);
  aba_backward(tree, work);
  vdot.resize(tree.nv);
  aba_forward(tree, work, work.u, vdot);
}

template void start_inertias<double>(const Tree&, TreeWork<double>&);
template void articulate<double>(const Tree&, TreeWork<double>&, int);
template void reduce_force<double>(const Tree&, TreeWork<double>&, int);
template void accelerate<double>(const Tree&, TreeWork<double>&, int, const double*, double*);
template void aba_inertias<double>(const Tree&, TreeWork<double>&);
template void aba_inertias<long double>(const Tree&, TreeWork<long double>&);
template void aba_backward<double>(const Tree&, TreeWork<double>&);
template void aba_backward<long double>(const Tree&, TreeWork<long double>&);
template void aba_forward<double>(const Tree&, TreeWork<double>&, const VecX<double>&, VecX<double>&);
template void aba_forward<long double>(const Tree&, TreeWork<long double>&, const VecX<long double>&, VecX<long double>&);
template void forward_dynamics<double>(const Tree&, TreeWork<double>&, VecX<double>&);
template void forward_dynamics<long double>(const Tree&, TreeWork<long double>&, VecX<long double>&);

}  // namespace linkwork
