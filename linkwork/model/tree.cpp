#include "linkwork/model/tree.h"

#include <cmath>

namespace linkwork {

namespace {

/// The inertia about its parent's axis that a node can have at most, if it has `inertia` and `mass` about its own and is
/// `distance` away: that of all its mass as far away as it can be.
double seen_from_parent(double inertia, double mass, double distance) {
  const double reach = std::sqrt(inertia) + std::sqrt(mass) * distance;
  return reach * reach;
}

}  // namespace

void mark_planar_nodes(Tree& tree) {
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    Node& node = tree.nodes[i];
    const Node& parent = tree.nodes[static_cast<std::size_t>(node.parent)];
    node.planar = node.kind == NodeKind::kRevolute && (node.parent == 0 || (parent.planar && !node.has_alpha && !node.has_gamma));
  }
  std::vector<double> mass(tree.nodes.size(), 0.0);  // of the node and all that hangs on it
  for (Node& node : tree.nodes) node.largest_inertia = node.inertia.I.trace();
  for (std::size_t i = tree.nodes.size(); i-- > 1;) {
    const Node& node = tree.nodes[i];
    mass[i] += node.inertia.mass;
    mass[static_cast<std::size_t>(node.parent)] += mass[i];
    tree.nodes[static_cast<std::size_t>(node.parent)].largest_inertia +=
        seen_from_parent(node.largest_inertia, mass[i], node.p.norm());
  }
}

}  // namespace linkwork
