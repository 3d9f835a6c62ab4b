#pragma once

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// The articulated-body algorithm, in parts, so that constraints can come between them.
///
/// The bias accelerations are kept apart (NodeWork::aw, av), so both passes are linear: with F = 1 - H psi K of the spatial
/// operator factorization M^-1 = F' D^-1 F [Jain2012], aba_backward() computes u = F (tau - c) and aba_forward()
/// vdot = F' D^-1 u.

/// Articulated inertias (position only). Sets work.massless_node when a joint moves no inertia; such a joint is then given a
/// tiny one, so that the result remains usable as a metric, but not as dynamics. Locked joints pass their inertia on whole.
template <class S>
void aba_inertias(const Tree& tree, TreeWork<S>& work);

/// Articulated inertias and u, from tau and the bias wrenches.
template <class S>
void aba_backward(const Tree& tree, TreeWork<S>& work);

/// vdot from u, and the nodes' accelerations beyond the bias (dw, dv).
template <class S>
void aba_forward(const Tree& tree, TreeWork<S>& work, const VecX<S>& u, VecX<S>& vdot);

/// The steps the passes are made of, for recursions that do more on the way. Inward: rigid inertias to start with; then, node by
/// node, the joint's own inertia is factored and what is left of it handed to the parent; so is the force.
template <class S>
void start_inertias(const Tree& tree, TreeWork<S>& work);
template <class S>
void articulate(const Tree& tree, TreeWork<S>& work, int node);
template <class S>
void reduce_force(const Tree& tree, TreeWork<S>& work, int node);
/// Outward: the joint's acceleration, its part of vdot, and the node's, from its part of u.
template <class S>
void accelerate(const Tree& tree, TreeWork<S>& work, int node, const S* u, S* vdot);

/// The whole algorithm: vdot = M^-1 (tau - c). Needs positions and velocities, tau and applied wrenches.
template <class S>
void forward_dynamics(const Tree& tree, TreeWork<S>& work, VecX<S>& vdot);

}  // namespace linkwork
