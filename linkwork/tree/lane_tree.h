#pragma once

#include <array>
#include <vector>

#include "linkwork/spatial/lanes.h"
#include "linkwork/tree/tree_work.h"

namespace linkwork {

/// Constants of four instances of a mechanism, in lanes: see Node, RigidInertia and Tree for what they are.
struct LaneInertia {
  Lanes mass;
  Vec3<Lanes> h;
  Sym3<Lanes> I;

  template <class S>
  Wrench<S> needed(const Vec3<S>& w, const Vec3<S>& aw, const Vec3<S>& ap) const {
    return {I * aw + h.cross(ap) + w.cross(I * w), mass * ap + aw.cross(h) + w.cross(w.cross(h))};
  }
  template <class S>
  Wrench<S> apply(const Vec3<S>& w, const Vec3<S>& v) const {
    return {I * w + h.cross(v), mass * v - h.cross(w)};
  }
};

struct LaneNode {
  int parent, q, v;
  NodeKind kind;
  bool has_gamma, has_alpha, right_angle, planar;
  Lanes cg, sg, ca, sa, theta0, pitch, armature;
  Vec3<Lanes> p;
  Mat3<Lanes> R_PF;
  LaneInertia inertia;
  Lanes usual_inertia;
};

struct LaneTree {
  std::vector<LaneNode> nodes;
  int nq, nv;
  Vec3<Lanes> gravity;
  Lanes length;

  int size() const { return static_cast<int>(nodes.size()); }
};

using LaneTrees = std::array<const Tree*, Lanes::kCount>;

/// Whether two trees are the same but for numbers: the recursions then go the same way through both.
bool have_same_shape(const Tree& a, const Tree& b);

/// Of trees of the same shape.
LaneTree in_lanes(const LaneTrees& trees);

/// Scratch for them, with what of it never changes.
TreeWork<Lanes> lane_work(const LaneTrees& trees);

template <>
TreeWork<Lanes>::TreeWork(const Tree& tree);

}  // namespace linkwork
