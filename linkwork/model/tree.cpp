#include "linkwork/model/tree.h"

namespace linkwork {

void mark_planar_nodes(Tree& tree) {
  for (std::size_t i = 1; i < tree.nodes.size(); ++i) {
    Node& node = tree.nodes[i];
    const Node& parent = tree.nodes[static_cast<std::size_t>(node.parent)];
    node.planar = node.kind == NodeKind::kRevolute && (node.parent == 0 || (parent.planar && !node.has_alpha && !node.has_gamma));
  }
  std::vector<double> mass(tree.nodes.size(), 0.0);  // of the node and all that hangs on it
  for (Node& node : tree.nodes) node.usual_inertia = node.inertia.I.trace();
  for (std::size_t i = tree.nodes.size(); i-- > 1;) {
    const Node& node = tree.nodes[i];
    mass[i] += node.inertia.mass;
    mass[static_cast<std::size_t>(node.parent)] += mass[i];
    tree.nodes[static_cast<std::size_t>(node.parent)].usual_inertia += mass[i] * node.p.squaredNorm() + node.usual_inertia;
  }
}

}  // namespace linkwork
