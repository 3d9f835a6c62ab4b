#pragma once

#include <vector>

#include "linkwork/model/tree.h"

namespace linkwork {

/// A pose in a plane: cosine and sine of the heading, place of the origin.
template <class S>
struct PlanePose {
  S c{1}, s{0}, x{0}, y{0};
};

/// What the recursions compute for one node, in the node's frame, grouped by what it depends on.
template <class S>
struct NodeWork {
  // Position: update_positions(). What of it never changes is set at construction.
  S cq{1}, sq{0};               // cos, sin of theta0 + angle (one-dof kinds)
  Vec3<S> p = Vec3<S>::Zero();  // origin in the parent's frame
  PlanePose<S> in_plane;        // planar nodes: in the ground's frame, turned so that its z is that of the node

  // Velocity: update_velocities().
  Vec3<S> w = Vec3<S>::Zero();  // twist
  Vec3<S> v = Vec3<S>::Zero();
  Vec3<S> aw = Vec3<S>::Zero();  // at vdot = 0: angular acceleration, and
  Vec3<S> ap = Vec3<S>::Zero();  // acceleration of the origin (a point's, not the derivative of v); the ground has -gravity

  // Force: the wrench that must act on the node at vdot = 0, less what does act. update_bias_wrenches(), then aba_backward().
  Vec3<S> n = Vec3<S>::Zero();
  Vec3<S> f = Vec3<S>::Zero();

  // Articulated body: aba_backward(). For one-dof kinds U = IA S and D = S' U + armature.
  ArticulatedInertia<S> IA;
  Vec3<S> Uw = Vec3<S>::Zero();
  Vec3<S> Uf = Vec3<S>::Zero();
  S Dinv{0};

  // Acceleration beyond the one at vdot = 0: aba_forward().
  Vec3<S> dw = Vec3<S>::Zero();
  Vec3<S> dv = Vec3<S>::Zero();
};

/// The same for nodes with several dof.
template <class S>
struct BlockWork {
  Mat3<S> R = Mat3<S>::Identity();       // from the parent's frame
  Mat3<S> Rq = Mat3<S>::Identity();      // the quaternion's part of it
  Mat6<S> IA_inverse = Mat6<S>::Zero();  // free: of the 6x6; spherical: of I, in the upper left block
};

/// The scratch of the tree recursions. A model can have many, one per thread.
template <class S>
struct TreeWork {
  explicit TreeWork(const Tree& tree);

  std::vector<NodeWork<S>> nodes;
  std::vector<Pose<S>> X_WN;  // update_poses(): no recursion needs them
  bool poses_current = false;
  std::vector<ArticulatedInertia<S>> rigid;  // the nodes' own inertias
  std::vector<BlockWork<S>> blocks;
  std::vector<int> block_of;       // by node; -1 for one-dof kinds
  VecX<S> tau;                     // applied generalized force; the caller's to fill
  std::vector<Wrench<S>> applied;  // wrench by node; add with apply()
  bool any_applied = false;
  VecX<S> u;                 // generalized force not yet balanced at each joint: aba_backward()
  std::vector<char> locked;  // by node: joints held still by aba_inertias(), for assembly; empty: none
  int massless_node = 0;     // a node that could be accelerated by no force at all, or 0: aba_backward()

  BlockWork<S>& block(int node) { return blocks[static_cast<std::size_t>(block_of[static_cast<std::size_t>(node)])]; }
  const BlockWork<S>& block(int node) const { return blocks[static_cast<std::size_t>(block_of[static_cast<std::size_t>(node)])]; }
  NodeWork<S>& operator[](int node) { return nodes[static_cast<std::size_t>(node)]; }
  const NodeWork<S>& operator[](int node) const { return nodes[static_cast<std::size_t>(node)]; }
  void apply(int node, const Wrench<S>& F) {
    applied[static_cast<std::size_t>(node)] += F;
    any_applied = true;
  }
  void clear_forces();
};

extern template struct TreeWork<double>;
extern template struct TreeWork<long double>;

}  // namespace linkwork
