#pragma once

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Needs velocities.
template <class S>
S kinetic_energy(const Tree& tree, const TreeWork<S>& work);
/// Of gravity, zero for masses at the world's origin. Needs poses.
template <class S>
S gravity_energy(const Tree& tree, const TreeWork<S>& work);
/// Momentum about the world's origin in world axes: angular, linear. Needs poses and velocities.
template <class S>
Wrench<S> momentum(const Tree& tree, const TreeWork<S>& work);

}  // namespace linkwork
