#include "linkwork/tree/tree_work.h"

#include <cmath>

namespace linkwork {

template <class S>
TreeWork<S>::TreeWork(const Tree& tree)
    : nodes(tree.nodes.size()),
      block_of(tree.nodes.size(), -1),
      tau(VecX<S>::Zero(tree.nv)),
      external(tree.nodes.size()),
      u(VecX<S>::Zero(tree.nv)) {
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    const Node& node = tree.nodes[i];
    nodes[i].cq = std::cos(S(node.theta0));  // stays so for prismatic nodes
    nodes[i].sq = std::sin(S(node.theta0));
    if (velocity_count(node.kind) == 1) continue;
    block_of[i] = static_cast<int>(blocks.size());
    blocks.emplace_back();
  }
}

template <class S>
void TreeWork<S>::clear_forces() {
  tau.setZero();
  for (Wrench<S>& F : external) F = {};
}

template struct TreeWork<double>;
template struct TreeWork<long double>;

}  // namespace linkwork
