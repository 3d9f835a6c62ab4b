#pragma once

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Needs velocities.
template <class S>
S kinetic_energy(const Tree& tree, const TreeWork<S>& work);
/// Of gravity, zero for masses at the world's origin. Needs poses.
template <class S>
S gravity_energy(const Tree& tree, const TreeWork<S>& work);
/// The same from positions alone, at less cost than that of poses: masses and first moments are added up from the tips to the
/// ground, in `moments`, which is scratch.
template <class S>
struct FirstMoment {
  S mass{0};
  Vec3<S> h = Vec3<S>::Zero();
};
template <class S>
S gravity_energy(const Tree& tree, const TreeWork<S>& work, std::vector<FirstMoment<S>>& moments);
/// Momentum about the world's origin in world axes: angular, linear. Needs poses and velocities.
template <class S>
Wrench<S> momentum(const Tree& tree, const TreeWork<S>& work);

}  // namespace linkwork
