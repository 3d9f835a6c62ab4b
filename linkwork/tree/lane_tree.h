#pragma once

#include <span>
#include <vector>

#include "linkwork/spatial/lanes.h"
#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Constants of instances of a mechanism, in lanes: see Node, RigidInertia and Tree for what they are.
template <class L>
struct LaneInertia {
  L mass;
  Vec3<L> h;
  Sym3<L> I;

  template <class S>
  Wrench<S> needed(const Vec3<S>& w, const Vec3<S>& aw, const Vec3<S>& ap) const {
    return {I * aw + h.cross(ap) + w.cross(I * w), mass * ap + aw.cross(h) + w.cross(w.cross(h))};
  }
  template <class S>
  Wrench<S> apply(const Vec3<S>& w, const Vec3<S>& v) const {
    return {I * w + h.cross(v), mass * v - h.cross(w)};
  }
};

template <class L>
struct LaneNode {
  int parent, q, v;
  NodeKind kind;
  bool has_gamma, has_alpha, right_angle, planar;
  L cg, sg, ca, sa, theta0, pitch, armature;
  Vec3<L> p;
  Mat3<L> R_PF;
  LaneInertia<L> inertia;
  L usual_inertia;
};

template <class L>
struct LaneTree {
  /// Of trees of the same shape, as many as there are lanes.
  explicit LaneTree(std::span<const Tree* const> trees);

  std::vector<LaneNode<L>> nodes;
  int nq, nv;
  Vec3<L> gravity;
  L length;

  int size() const { return static_cast<int>(nodes.size()); }
};

/// Whether two trees are the same but for numbers: the recursions then go the same way through both.
bool have_same_shape(const Tree& a, const Tree& b);

/// Scratch for them, with what of it never changes.
template <class L>
TreeWork<L> lane_work(std::span<const Tree* const> trees);

}  // namespace linkwork
