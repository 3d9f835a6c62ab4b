#include "linkwork/modules/group_plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "linkwork/linalg/index.h"

namespace linkwork {

namespace {

/// The tree with what its nodes have to do, all of it: only needed while plans are made.
class Outline {
 public:
  Outline(const AssemblyOutline& assembly, const GroupTree& tree)
      : assembly_(assembly), tree_(tree), nodes_(tree.nodes.size()), leaf_node_(assembly.port_counts.size()) {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const GroupNode& node = tree.nodes[n];
      if (node.module >= 0) {
        nodes_[n].first_leaf = nodes_[n].last_leaf = static_cast<int>(leaves_.size());
        leaves_.push_back(node.module);
        leaf_node_[at(node.module)] = static_cast<int>(n);
        continue;
      }
      nodes_[n].first_leaf = nodes_[at(node.children.front())].first_leaf;
      nodes_[n].last_leaf = nodes_[at(node.children.back())].last_leaf;
      for (const int child : node.children) nodes_[at(child)].parent = static_cast<int>(n);
    }
    first_port_.push_back(0);
    for (const int ports : assembly.port_counts) first_port_.push_back(first_port_.back() + at(ports));
    last_use_.assign(first_port_.back(), -1);
    connections = nodes_with(assembly.connections);
    springs = nodes_with(assembly.springs);
    couplings = nodes_with(assembly.couplings);
  }

  struct Node {
    int parent = -1, first_leaf = 0, last_leaf = 0;
  };
  const std::vector<Node>& nodes() const { return nodes_; }
  std::vector<int> connections, springs, couplings;  // the node in which each is eliminated: the first that has all its modules

  /// Ports that are joined in a node or further up.
  std::vector<PortRef> ports(int node) const {
    std::vector<PortRef> ports;
    const GroupNode& its = tree_.nodes[at(node)];
    for (int p = 0; its.module >= 0 && p < assembly_.port_counts[at(its.module)]; ++p) ports.push_back({its.module, p});
    for (const int child : its.children)
      for (const PortRef& port : kept(child)) ports.push_back(port);
    return ports;
  }
  /// Those that are joined further up.
  std::vector<PortRef> kept(int node) const {
    std::vector<PortRef> ports;
    for (int leaf = nodes_[at(node)].first_leaf; leaf <= nodes_[at(node)].last_leaf; ++leaf)
      for (int p = 0; p < assembly_.port_counts[at(leaves_[at(leaf)])]; ++p)
        if (const PortRef port{leaves_[at(leaf)], p}; is_kept(node, port)) ports.push_back(port);
    return ports;
  }
  bool is_kept(int node, const PortRef& port) const { return last_use_[place_of(port)] > node; }

 private:
  std::size_t place_of(const PortRef& port) const { return first_port_[at(port.module)] + at(port.port); }

  template <class Things>
  std::vector<int> nodes_with(const Things& things) {
    std::vector<int> nodes;
    nodes.reserve(things.size());
    for (const auto& ports : things) {
      const int node = nodes.emplace_back(node_with(ports));
      for (const PortRef& port : ports)
        if (!port.is_ground()) last_use_[place_of(port)] = std::max(last_use_[place_of(port)], node);
    }
    return nodes;
  }

  template <class Ports>
  int node_with(const Ports& ports) const {
    int first = static_cast<int>(leaf_node_.size()), last = -1, node = 0;
    for (const PortRef& port : ports) {
      if (port.is_ground()) continue;
      const int at_node = leaf_node_[at(port.module)], leaf = nodes_[at(at_node)].first_leaf;
      if (leaf < first) first = leaf, node = at_node;
      last = std::max(last, leaf);
    }
    while (nodes_[at(node)].last_leaf < last) node = nodes_[at(node)].parent;
    return node;
  }

  const AssemblyOutline& assembly_;
  const GroupTree& tree_;
  std::vector<Node> nodes_;
  std::vector<int> leaves_, leaf_node_;  // modules in their order, and the node of each module
  std::vector<std::size_t> first_port_;
  std::vector<int> last_use_;  // by port: the highest node it is joined in
};

}  // namespace

int message_size(std::size_t ports) {
  const int six = 6 * static_cast<int>(ports);
  return static_cast<int>(ports) * 18 + 2 * six + six * (six + 1) / 2;
}

GroupPlan plan_groups(const AssemblyOutline& assembly, const GroupTree& tree, const Placement& placement, int rank,
                      const Way& way) {
  const Outline outline(assembly, tree);
  const auto& nodes = outline.nodes();
  GroupPlan result;
  result.scheme = way.scheme;
  for (const int ports : assembly.port_counts) result.numbers_exposed += message_size(at(ports));

  // Ranks have neighbouring leaves: those of one rank are an interval of nodes, but for groups that span ranks.
  std::vector<std::pair<int, int>> ranks(nodes.size());
  // Above groups that a rank has alone: swaps, if each is followed by what the same ranks can solve then.
  std::vector<int> height(nodes.size(), 0);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const GroupNode& node = tree.nodes[n];
    ranks[n] = node.module >= 0 ? std::pair(placement.rank_of(nodes[n].first_leaf), placement.rank_of(nodes[n].first_leaf))
                                : std::pair(ranks[at(node.children.front())].first, ranks[at(node.children.back())].second);
    if (ranks[n].first == ranks[n].second) continue;
    for (const int child : node.children)
      height[n] = std::max(height[n], height[at(child)] + (ranks[at(child)] == ranks[n] ? 0 : 1));
  }
  // Levels are gathered in layers: whoever has a part in the top of a layer solves what is below it there.
  const auto layer = [&](std::size_t n) { return height[n] == 0 ? -1 : (height[n] - 1) / way.levels; };
  // Of the ranks of a group one tells what became of it: a different one for each, as far as that can be.
  const auto teller = [&](std::size_t n) {
    const GroupNode& node = tree.nodes[n];
    return node.module >= 0 ? ranks[n].first : ranks[at(node.children.front())].second;
  };
  std::vector<int> top(nodes.size());
  std::vector<char> solved(nodes.size(), 0), needed(nodes.size(), 0);
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const int parent = nodes[n].parent;
    const bool goes_with_parent = height[n] > 0 && parent >= 0 && layer(at(parent)) == layer(n);
    top[n] = goes_with_parent ? top[at(parent)] : static_cast<int>(n);
    const auto [first, last] = ranks[at(top[n])];
    solved[n] = (first <= rank && rank <= last) || (height[n] > 0 && way.scheme == Scheme::kOneExchange);
    if (!solved[n]) continue;
    needed[n] = 1;
    for (const int child : tree.nodes[n].children) needed[at(child)] = 1;
  }
  std::vector<int> place(nodes.size(), -1);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (!needed[n]) continue;
    place[n] = static_cast<int>(result.groups.size());
    PlannedGroup& group = result.groups.emplace_back();
    group.number = static_cast<int>(n);
    std::tie(group.first_rank, group.last_rank) = ranks[n];
    group.layer_top = top[n];
    group.solved = solved[n] != 0;
    group.told = teller(n) == rank;
    if (!group.solved) {
      group.ports = outline.kept(group.number);
      group.kept.resize(group.ports.size());
      std::iota(group.kept.begin(), group.kept.end(), 0);
      continue;
    }
    group.module = tree.nodes[n].module;
    for (const int child : tree.nodes[n].children) group.children.push_back(place[at(child)]);
    group.ports = outline.ports(group.number);
    for (std::size_t p = 0; p < group.ports.size(); ++p)
      if (outline.is_kept(group.number, group.ports[p])) group.kept.push_back(static_cast<int>(p));
  }
  // What is eliminated where, and what this rank tells of.
  const auto hand_out = [&](const std::vector<int>& node_of, std::vector<int> PlannedGroup::*list, std::vector<int>* told) {
    for (std::size_t i = 0; i < node_of.size(); ++i) {
      const std::size_t node = at(node_of[i]);
      if (told != nullptr && teller(node) == rank) told->push_back(static_cast<int>(i));
      if (solved[node]) (result.groups[at(place[node])].*list).push_back(static_cast<int>(i));
    }
  };
  hand_out(outline.connections, &PlannedGroup::connections, &result.connections);
  hand_out(outline.springs, &PlannedGroup::springs, &result.springs);
  hand_out(outline.couplings, &PlannedGroup::couplings, nullptr);
  for (const int node : outline.couplings) result.coupling_ranks.push_back(teller(at(node)));
  return result;
}

}  // namespace linkwork
