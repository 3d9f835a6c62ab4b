#include "linkwork/tree/lane_tree.h"

#include <algorithm>

namespace linkwork {

namespace {

/// Of some number of each tree.
template <class Of>
Lanes gathered(const LaneTrees& trees, Of&& of) {
  Lanes x(0.0);
  for (int lane = 0; lane < Lanes::kCount; ++lane) x.set(lane, of(*trees[static_cast<std::size_t>(lane)]));
  return x;
}

}  // namespace

bool have_same_shape(const Tree& a, const Tree& b) {
  return a.nq == b.nq && a.nv == b.nv && std::ranges::equal(a.nodes, b.nodes, [](const Node& x, const Node& y) {
           return x.parent == y.parent && x.q == y.q && x.v == y.v && x.kind == y.kind && x.has_gamma == y.has_gamma &&
                  x.has_alpha == y.has_alpha && x.right_angle == y.right_angle && x.planar == y.planar;
         });
}

LaneTree in_lanes(const LaneTrees& trees) {
  const Tree& first = *trees.front();
  LaneTree made{{}, first.nq, first.nv, {}, gathered(trees, [](const Tree& tree) { return tree.length; })};
  for (int k = 0; k < 3; ++k) made.gravity[k] = gathered(trees, [k](const Tree& tree) { return tree.gravity[k]; });
  for (std::size_t i = 0; i < first.nodes.size(); ++i) {
    const Node& like = first.nodes[i];
    LaneNode& node = made.nodes.emplace_back();
    const auto of = [&](auto&& number) { return gathered(trees, [&](const Tree& tree) { return number(tree.nodes[i]); }); };
    const auto member = [&](double Node::*at) { return of([at](const Node& each) { return each.*at; }); };
    const auto moment = [&](double Sym3<double>::*at) { return of([at](const Node& each) { return each.inertia.I.*at; }); };
    node.parent = like.parent, node.q = like.q, node.v = like.v, node.kind = like.kind;
    node.has_gamma = like.has_gamma, node.has_alpha = like.has_alpha;
    node.right_angle = like.right_angle, node.planar = like.planar;
    node.cg = member(&Node::cg), node.sg = member(&Node::sg), node.ca = member(&Node::ca), node.sa = member(&Node::sa);
    node.theta0 = member(&Node::theta0), node.pitch = member(&Node::pitch), node.armature = member(&Node::armature);
    node.usual_inertia = member(&Node::usual_inertia);
    for (int k = 0; k < 3; ++k) {
      node.p[k] = of([k](const Node& each) { return each.p[k]; });
      node.inertia.h[k] = of([k](const Node& each) { return each.inertia.h[k]; });
      for (int l = 0; l < 3; ++l) node.R_PF(k, l) = of([k, l](const Node& each) { return each.R_PF(k, l); });
    }
    node.inertia.mass = of([](const Node& each) { return each.inertia.mass; });
    node.inertia.I = {moment(&Sym3<double>::xx), moment(&Sym3<double>::xy), moment(&Sym3<double>::xz),
                      moment(&Sym3<double>::yy), moment(&Sym3<double>::yz), moment(&Sym3<double>::zz)};
  }
  return made;
}

/// Sizes only; lane_work() fills in the rest.
template <>
TreeWork<Lanes>::TreeWork(const Tree& tree)
    : nodes(tree.nodes.size()),
      X_WN(tree.nodes.size()),
      rigid(tree.nodes.size()),
      block_of(tree.nodes.size(), -1),
      tau(VecX<Lanes>::Zero(tree.nv)),
      applied(tree.nodes.size()),
      u(VecX<Lanes>::Zero(tree.nv)) {
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    if (velocity_count(tree.nodes[i].kind) == 1) continue;
    block_of[i] = static_cast<int>(blocks.size());
    blocks.emplace_back();
  }
}

TreeWork<Lanes> lane_work(const LaneTrees& trees) {
  TreeWork<Lanes> made(*trees.front());
  for (int lane = 0; lane < Lanes::kCount; ++lane) {
    const TreeWork<double> own(*trees[static_cast<std::size_t>(lane)]);
    const auto set = [lane](auto& to, const auto& from) {
      for (Eigen::Index k = 0; k < from.size(); ++k) to.data()[k].set(lane, from.data()[k]);
    };
    const auto set_symmetric = [lane](Sym3<Lanes>& to, const Sym3<double>& from) {
      to.xx.set(lane, from.xx), to.xy.set(lane, from.xy), to.xz.set(lane, from.xz);
      to.yy.set(lane, from.yy), to.yz.set(lane, from.yz), to.zz.set(lane, from.zz);
    };
    for (std::size_t i = 0; i < made.nodes.size(); ++i) {
      NodeWork<Lanes>& node = made.nodes[i];
      const NodeWork<double>& like = own.nodes[i];
      node.cq.set(lane, like.cq), node.sq.set(lane, like.sq);
      node.in_plane.x.set(lane, like.in_plane.x), node.in_plane.y.set(lane, like.in_plane.y);
      set(node.p, like.p);
      set(node.ap, like.ap);
      set_symmetric(made.rigid[i].I, own.rigid[i].I);
      set_symmetric(made.rigid[i].M, own.rigid[i].M);
      set(made.rigid[i].H, own.rigid[i].H);
    }
  }
  return made;
}

}  // namespace linkwork
