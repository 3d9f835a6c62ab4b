#pragma once

#include "linkwork/tree/planar.h"
#include "linkwork/tree/rnea.h"

/// The wrenches of rnea.h for any tree and any kind of numbers. To be compiled in few places.
namespace linkwork::recursions {

template <class S>
inline void subtract_applied(TreeWork<S>& work, int i) {
  if (!work.any_applied) return;
  work[i].n -= work.applied[static_cast<std::size_t>(i)].n;
  work[i].f -= work.applied[static_cast<std::size_t>(i)].f;
}

/// Sets n, f of node i to the wrench it needs, for accelerations that may go beyond those at vdot = 0, less the applied one.
template <class S, class T>
[[gnu::flatten]] inline void need_wrench(const T& tree, TreeWork<S>& work, int i, const Vec3<S>& w, const Vec3<S>& aw,
                                         const Vec3<S>& ap) {
  NodeWork<S>& a = work[i];
  const Wrench<S> F = tree.nodes[static_cast<std::size_t>(i)].inertia.template needed<S>(w, aw, ap);
  a.n = F.n, a.f = F.f;
  subtract_applied(work, i);
}

template <class T, class S>
void update_bias_wrenches(const T& tree, TreeWork<S>& work) {
  for (int i = 1; i < tree.size(); ++i) {
    const auto& node = tree.nodes[static_cast<std::size_t>(i)];
    if (node.planar) {
      planar::need_wrench(node, work[i]);
      subtract_applied(work, i);
    } else {
      need_wrench<S>(tree, work, i, work[i].w, work[i].aw, work[i].ap);
    }
  }
}

}  // namespace linkwork::recursions
