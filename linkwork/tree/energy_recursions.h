#pragma once

#include "linkwork/spatial/lanes.h"
#include "linkwork/tree/energy.h"
#include "linkwork/tree/link_rotation.h"

/// The energies of energy.h for any tree and any kind of numbers. To be compiled in few places.
namespace linkwork::recursions {

/// The velocity of a joint with one axis, from the motions of its two sides.
template <class T, class S>
S joint_velocity(const T& tree, const TreeWork<S>& work, int i) {
  const auto& node = tree.nodes[static_cast<std::size_t>(i)];
  Vec3<S> w = work[node.parent].w, v = work[node.parent].v;
  link::motion_to_child(tree, work, i, w, v);
  return node.kind == NodeKind::kPrismatic ? work[i].v.z() - v.z() : work[i].w.z() - w.z();
}

template <class T, class S>
S kinetic_energy(const T& tree, const TreeWork<S>& work) {
  S energy(0);
  for (int i = 1; i < tree.size(); ++i) {
    const NodeWork<S>& a = work[i];
    const auto& inertia = tree.nodes[static_cast<std::size_t>(i)].inertia;
    if (tree.nodes[static_cast<std::size_t>(i)].planar) {
      const S m(inertia.mass), hx(inertia.h.x()), hy(inertia.h.y()), w = a.w.z(), vx = a.v.x(), vy = a.v.y();
      const S n = S(inertia.I.zz) * w + (hx * vy - hy * vx);
      energy += S(0.5) * (n * w + ((m * vx - hy * w) * vx + (m * vy + hx * w) * vy));
      continue;
    }
    const Wrench<S> momentum = inertia.template apply<S>(a.w, a.v);
    energy += S(0.5) * (momentum.n.dot(a.w) + momentum.f.dot(a.v));
    if (const S rotor(tree.nodes[static_cast<std::size_t>(i)].armature); any(rotor != S(0))) {
      const S rate = joint_velocity(tree, work, i);
      energy += S(0.5) * rotor * rate * rate;
    }
  }
  return energy;
}

template <class T, class S>
S gravity_energy(const T& tree, const TreeWork<S>& work) {
  const Vec3<S> g = tree.gravity.template cast<S>();
  S energy(0);
  for (int i = 1; i < tree.size(); ++i) {
    const auto& inertia = tree.nodes[static_cast<std::size_t>(i)].inertia;
    const Pose<S>& X = work.X_WN[static_cast<std::size_t>(i)];
    energy -= g.dot(S(inertia.mass) * X.p + X.R * inertia.h.template cast<S>());
  }
  return energy;
}

}  // namespace linkwork::recursions
