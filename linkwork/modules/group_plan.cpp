#include "linkwork/modules/group_plan.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <tuple>
#include <utility>

#include "linkwork/linalg/index.h"

namespace linkwork {

namespace {

/// The tree with what its nodes have to do, all of it: only needed while plans are made.
class Outline {
 public:
  Outline(const AssemblyPlan& plan, const GroupTree& tree)
      : tree_(tree), nodes_(tree.nodes.size()), leaf_node_(plan.modules.size()) {
    int leaves = 0;
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const GroupNode& node = tree.nodes[n];
      if (node.module >= 0) {
        nodes_[n].first_leaf = nodes_[n].last_leaf = leaves++;
        leaf_node_[at(node.module)] = static_cast<int>(n);
        continue;
      }
      nodes_[n].first_leaf = nodes_[at(node.children.front())].first_leaf;
      nodes_[n].last_leaf = nodes_[at(node.children.back())].last_leaf;
      for (const int child : node.children) nodes_[at(child)].parent = static_cast<int>(n);
    }
    first_port_.assign(plan.modules.size() + 1, 0);
    for (std::size_t m = 0; m < plan.modules.size(); ++m) first_port_[m + 1] = first_port_[m] + at(plan.modules[m].port_count);
    last_use_.assign(first_port_.back(), -1);
    take_all(
        plan.connections,
        [](const Connection& c) {
          return std::array{c.a, c.b};
        },
        &Node::connections);
    take_all(
        plan.springs,
        [](const SpringLink& s) {
          return std::array{s.a, s.b};
        },
        &Node::springs);
    take_all(
        plan.couplings, [](const CouplingPlan& k) { return std::span(k.ports); }, &Node::couplings);
    for (std::size_t n = 0; n < nodes_.size(); ++n) keep_ports(plan, static_cast<int>(n));
  }

  struct Node {
    int parent = -1, first_leaf = 0, last_leaf = 0;
    std::vector<int> connections, springs, couplings;
    std::vector<PortRef> kept;  // ports that are joined further up
  };
  const std::vector<Node>& nodes() const { return nodes_; }

  /// Ports that are joined in a node or further up.
  std::vector<PortRef> ports(const AssemblyPlan& plan, int node) const {
    std::vector<PortRef> ports;
    const GroupNode& its = tree_.nodes[at(node)];
    if (its.module >= 0)
      for (int p = 0; p < plan.modules[at(its.module)].port_count; ++p) ports.push_back({its.module, p});
    for (const int child : its.children) {
      const std::vector<PortRef>& kept = nodes_[at(child)].kept;
      ports.insert(ports.end(), kept.begin(), kept.end());
    }
    return ports;
  }
  bool is_kept(int node, const PortRef& port) const { return last_use_[place_of(port)] > node; }

 private:
  std::size_t place_of(const PortRef& port) const { return first_port_[at(port.module)] + at(port.port); }

  /// The first node that has all modules of some ports.
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

  template <class Things, class PortsOf>
  void take_all(const Things& things, PortsOf ports_of, std::vector<int> Node::*list) {
    for (std::size_t i = 0; i < things.size(); ++i) {
      const auto ports = ports_of(things[i]);
      const int node = node_with(ports);
      (nodes_[at(node)].*list).push_back(static_cast<int>(i));
      for (const PortRef& port : ports)
        if (!port.is_ground()) last_use_[place_of(port)] = std::max(last_use_[place_of(port)], node);
    }
  }

  void keep_ports(const AssemblyPlan& plan, int node) {
    for (const PortRef& port : ports(plan, node))
      if (is_kept(node, port)) nodes_[at(node)].kept.push_back(port);
  }

  const GroupTree& tree_;
  std::vector<Node> nodes_;
  std::vector<int> leaf_node_;  // by module
  std::vector<std::size_t> first_port_;
  std::vector<int> last_use_;  // by port: the highest node it is joined in
};

}  // namespace

int message_size(std::size_t ports) {
  const int six = 6 * static_cast<int>(ports);
  return static_cast<int>(ports) * 18 + 2 * six + six * (six + 1) / 2;
}

GroupPlan plan_groups(const AssemblyPlan& plan, const GroupTree& tree, const Placement& placement, int rank, const Way& way) {
  const Outline outline(plan, tree);
  const auto& nodes = outline.nodes();
  GroupPlan result;
  result.scheme = way.scheme;
  result.coupling_ranks.resize(plan.couplings.size());
  for (const ModulePlan& module : plan.modules) result.numbers_exposed += message_size(at(module.port_count));

  // Ranks have neighbouring leaves: those of one rank are an interval of nodes, but for groups that span ranks.
  std::vector<std::pair<int, int>> ranks(nodes.size());
  std::vector<int> height(nodes.size(), 0);  // above groups that a rank has alone
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const GroupNode& node = tree.nodes[n];
    ranks[n] = node.module >= 0 ? std::pair(placement.rank_of(nodes[n].first_leaf), placement.rank_of(nodes[n].first_leaf))
                                : std::pair(ranks[at(node.children.front())].first, ranks[at(node.children.back())].second);
    if (ranks[n].first == ranks[n].second) continue;
    for (const int child : node.children) height[n] = std::max(height[n], height[at(child)] + 1);
  }
  // Levels are gathered in layers: whoever solves the top of a layer solves what is below it there.
  const auto layer = [&](std::size_t n) { return height[n] == 0 ? -1 : (height[n] - 1) / way.levels; };
  std::vector<int> solver(nodes.size());
  std::vector<char> solved(nodes.size(), 0), needed(nodes.size(), 0);
  for (std::size_t n = nodes.size(); n-- > 0;) {
    const int parent = nodes[n].parent;
    const bool goes_with_parent = way.scheme == Scheme::kTree && height[n] > 0 && parent >= 0 && layer(at(parent)) == layer(n);
    solver[n] = goes_with_parent ? solver[at(parent)] : ranks[n].first;
    solved[n] = solver[n] == rank || (height[n] > 0 && way.scheme == Scheme::kOneExchange);
    if (!solved[n]) continue;
    needed[n] = 1;
    for (const int child : tree.nodes[n].children) needed[at(child)] = 1;
  }
  std::vector<int> place(nodes.size(), -1);
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    const Outline::Node& node = nodes[n];
    for (const int k : node.couplings) result.coupling_ranks[at(k)] = solver[n];
    if (solver[n] == rank) {
      result.connections.insert(result.connections.end(), node.connections.begin(), node.connections.end());
      result.springs.insert(result.springs.end(), node.springs.begin(), node.springs.end());
    }
    if (!needed[n]) continue;
    place[n] = static_cast<int>(result.groups.size());
    PlannedGroup& group = result.groups.emplace_back();
    group.number = static_cast<int>(n);
    group.parent = node.parent;
    group.parent_rank = node.parent < 0 ? -1 : solver[at(node.parent)];
    std::tie(group.first_rank, group.last_rank) = ranks[n];
    group.rank = solver[n];
    group.solved = solved[n] != 0;
    if (!group.solved) {
      group.ports = node.kept;
      group.kept.resize(node.kept.size());
      std::iota(group.kept.begin(), group.kept.end(), 0);
      continue;
    }
    group.module = tree.nodes[n].module;
    for (const int child : tree.nodes[n].children) group.children.push_back(place[at(child)]);
    group.ports = outline.ports(plan, group.number);
    for (std::size_t p = 0; p < group.ports.size(); ++p)
      if (outline.is_kept(group.number, group.ports[p])) group.kept.push_back(static_cast<int>(p));
    group.connections = node.connections;
    group.springs = node.springs;
    group.couplings = node.couplings;
  }
  std::ranges::sort(result.connections);
  std::ranges::sort(result.springs);
  return result;
}

}  // namespace linkwork
