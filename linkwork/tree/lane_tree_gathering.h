#pragma once

#include "linkwork/tree/lane_tree.h"

/// How numbers come into lanes. To be compiled in few places.
namespace linkwork {

/// Of some number of each tree.
template <class L, class Of>
L gathered(std::span<const Tree* const> trees, Of&& of) {
  L x(0.0);
  for (int lane = 0; lane < L::kCount; ++lane) x.set(lane, of(*trees[static_cast<std::size_t>(lane)]));
  return x;
}

template <class L>
LaneTree<L>::LaneTree(std::span<const Tree* const> trees) : nq(trees.front()->nq), nv(trees.front()->nv) {
  const Tree& first = *trees.front();
  length = gathered<L>(trees, [](const Tree& tree) { return tree.length; });
  for (int k = 0; k < 3; ++k) gravity[k] = gathered<L>(trees, [k](const Tree& tree) { return tree.gravity[k]; });
  for (std::size_t i = 0; i < first.nodes.size(); ++i) {
    const Node& like = first.nodes[i];
    LaneNode<L>& node = nodes.emplace_back();
    const auto of = [&](auto&& number) { return gathered<L>(trees, [&](const Tree& tree) { return number(tree.nodes[i]); }); };
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
}

namespace lanes {

template <class L>
void set_sizes(const Tree& tree, TreeWork<L>& work) {
  const std::size_t size = tree.nodes.size();
  work.nodes.resize(size), work.X_WN.resize(size), work.rigid.resize(size), work.applied.resize(size);
  work.tau = work.u = VecX<L>::Zero(tree.nv);
  work.block_of.assign(size, -1);
  for (std::size_t i = 1; i < size; ++i) {
    if (velocity_count(tree.nodes[i].kind) == 1) continue;
    work.block_of[i] = static_cast<int>(work.blocks.size());
    work.blocks.emplace_back();
  }
}

}  // namespace lanes

/// Sizes only; lane_work() fills in the rest.
template <>
inline TreeWork<LanesOf<4>>::TreeWork(const Tree& tree) {
  lanes::set_sizes(tree, *this);
}
template <>
inline TreeWork<LanesOf<8>>::TreeWork(const Tree& tree) {
  lanes::set_sizes(tree, *this);
}

template <class L>
TreeWork<L> lane_work(std::span<const Tree* const> trees) {
  TreeWork<L> made(*trees.front());
  for (int lane = 0; lane < L::kCount; ++lane) {
    const TreeWork<double> own(*trees[static_cast<std::size_t>(lane)]);
    const auto set = [lane](auto& to, const auto& from) {
      for (Eigen::Index k = 0; k < from.size(); ++k) to.data()[k].set(lane, from.data()[k]);
    };
    const auto set_symmetric = [lane](Sym3<L>& to, const Sym3<double>& from) {
      to.xx.set(lane, from.xx), to.xy.set(lane, from.xy), to.xz.set(lane, from.xz);
      to.yy.set(lane, from.yy), to.yz.set(lane, from.yz), to.zz.set(lane, from.zz);
    };
    for (std::size_t i = 0; i < made.nodes.size(); ++i) {
      NodeWork<L>& node = made.nodes[i];
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
