#pragma once

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Recursive Newton-Euler. All need positions and velocities up to date.

/// Sets n, f of every node to the wrench needed at vdot = 0, less the applied one.
template <class S>
void update_bias_wrenches(const Tree& tree, TreeWork<S>& work);

/// c(q, v): the generalized force needed for vdot = 0 (Coriolis, gravity), applied wrenches taken into account.
template <class S>
void bias_forces(const Tree& tree, TreeWork<S>& work, VecX<S>& c);

/// The generalized force of the external wrenches alone. Needs positions only.
template <class S>
void generalized_forces(const Tree& tree, TreeWork<S>& work, VecX<S>& tau);

/// Inverse dynamics: M vdot + c.
template <class S>
void inverse_dynamics(const Tree& tree, const S* vdot, TreeWork<S>& work, VecX<S>& tau);

/// M x, less applied wrenches: what impulses miss of a jump x of the velocities. Needs positions only.
template <class S>
void momentum_change(const Tree& tree, const S* x, TreeWork<S>& work, VecX<S>& tau);

}  // namespace linkwork
