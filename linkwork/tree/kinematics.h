#pragma once

#include <span>

#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Where each node is in its parent. Quaternions need not be of unit length.
template <class S>
void update_positions(const Tree& tree, const S* q, TreeWork<S>& work);

/// Where each node is in the world. Needs positions; does nothing if it has been done for these.
template <class S>
void update_poses(const Tree& tree, TreeWork<S>& work);

/// Twists, and the accelerations at vdot = 0. Needs positions.
template <class S>
void update_velocities(const Tree& tree, const S* v, TreeWork<S>& work);

/// update_positions() and update_velocities() in one pass.
template <class S>
void update_motion(const Tree& tree, const S* q, const S* v, TreeWork<S>& work);

/// Accelerations beyond those at vdot = 0 (dw, dv), for a given vdot.
template <class S>
void update_accelerations(const Tree& tree, const S* vdot, TreeWork<S>& work);

/// qdot = N(q) v.
template <class S>
void position_rates(const Tree& tree, const S* q, const S* v, S* qdot);

/// Brings quaternions back to unit length.
void normalize_quaternions(const Tree& tree, double* q);

/// q <- q (+) dv: along a small generalized displacement, on the configuration manifold.
void displace(const Tree& tree, double* q, const double* dv);

}  // namespace linkwork
