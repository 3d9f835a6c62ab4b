#include "linkwork/tree/tree_work.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

template <class S>
TreeWork<S>::TreeWork(const Tree& tree)
    : nodes(tree.nodes.size()),
      X_WN(tree.nodes.size()),
      block_of(tree.nodes.size(), -1),
      tau(VecX<S>::Zero(tree.nv)),
      applied(tree.nodes.size()),
      u(VecX<S>::Zero(tree.nv)) {
  nodes[0].ap = -tree.gravity.template cast<S>();
  for (const Node& node : tree.nodes) rigid.push_back(ArticulatedInertia<S>::of(node.inertia));
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    nodes[i].p = node.p.template cast<S>();
    nodes[i].cq = std::cos(S(node.theta0));  // stays so for prismatic nodes
    nodes[i].sq = std::sin(S(node.theta0));
    if (node.planar && node.parent == 0) {
      const double x = node.cg * node.p.x() + node.sg * node.p.y(), y = node.cg * node.p.y() - node.sg * node.p.x();
      nodes[i].in_plane.x = S(x), nodes[i].in_plane.y = S(node.ca * y + node.sa * node.p.z());
    }
    if (velocity_count(node.kind) == 1) continue;
    block_of[i] = static_cast<int>(blocks.size());
    blocks.emplace_back();
  }
}

template <class S>
void TreeWork<S>::clear_forces() {
  tau.setZero();
  if (any_applied) std::ranges::fill(applied, Wrench<S>{});
  any_applied = false;
}

template struct TreeWork<double>;
template struct TreeWork<long double>;

}  // namespace linkwork
