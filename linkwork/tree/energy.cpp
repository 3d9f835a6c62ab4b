#include "linkwork/tree/energy.h"

#include "linkwork/tree/energy_recursions.h"

namespace linkwork {

template <class S>
S kinetic_energy(const Tree& tree, const TreeWork<S>& work) {
  return recursions::kinetic_energy(tree, work);
}

template <class S>
S gravity_energy(const Tree& tree, const TreeWork<S>& work) {
  return recursions::gravity_energy(tree, work);
}

template <class S>
S gravity_energy(const Tree& tree, const TreeWork<S>& work, std::vector<FirstMoment<S>>& moments) {
  moments.resize(tree.nodes.size());
  for (std::size_t i = 0; i < moments.size(); ++i)
    moments[i] = {S(tree.nodes[i].inertia.mass), tree.nodes[i].inertia.h.template cast<S>()};
  for (int i = tree.size() - 1; i > 0; --i) {
    const FirstMoment<S>& own = moments[static_cast<std::size_t>(i)];
    FirstMoment<S>& parent = moments[static_cast<std::size_t>(tree.nodes[static_cast<std::size_t>(i)].parent)];
    Vec3<S> h = link::copy(own.h);
    link::axes_to_parent(tree, work, i, h);
    parent.mass += own.mass;
    parent.h += own.mass * work[i].p + h;
  }
  const Vec3<S> g = tree.gravity.template cast<S>();
  return -g.dot(moments.front().h);
}

template <class S>
Wrench<S> momentum(const Tree& tree, const TreeWork<S>& work) {
  Wrench<S> total;
  for (int i = 1; i < tree.size(); ++i) {
    const NodeWork<S>& a = work[i];
    total += work.X_WN[static_cast<std::size_t>(i)] * tree.nodes[static_cast<std::size_t>(i)].inertia.template apply<S>(a.w, a.v);
  }
  return total;
}

template double kinetic_energy<double>(const Tree&, const TreeWork<double>&);
template long double kinetic_energy<long double>(const Tree&, const TreeWork<long double>&);
template double gravity_energy<double>(const Tree&, const TreeWork<double>&);
template long double gravity_energy<long double>(const Tree&, const TreeWork<long double>&);
template double gravity_energy<double>(const Tree&, const TreeWork<double>&, std::vector<FirstMoment<double>>&);
template Wrench<double> momentum<double>(const Tree&, const TreeWork<double>&);
template Wrench<long double> momentum<long double>(const Tree&, const TreeWork<long double>&);

}  // namespace linkwork
