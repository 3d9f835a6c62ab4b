#include "linkwork/modules/group_tree.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "linkwork/linalg/index.h"

namespace linkwork {

namespace {

class TreeMaker {
 public:
  TreeMaker(const std::vector<double>& weight, const std::vector<std::pair<int, int>>& joined)
      : weight_(weight), joined_(joined) {}

  /// Adds the nodes of a nest; returns its top.
  int add(const Nest& nest) {
    std::vector<int> members;
    for (const int module : nest.modules) members.push_back(add_leaf(module));
    for (const Nest& inner : nest.nests) members.push_back(add(inner));
    return members.size() == 1 ? members.front() : halve(ordered(members));
  }

  GroupTree take(int top) {
    GroupTree sorted;
    std::function<int(int)> place = [&](int node) {
      GroupNode copy{nodes_[at(node)].module, {}};
      for (const int child : nodes_[at(node)].children) copy.children.push_back(place(child));
      sorted.nodes.push_back(std::move(copy));
      return static_cast<int>(sorted.nodes.size()) - 1;
    };
    place(top);
    return sorted;
  }

 private:
  int add_leaf(int module) {
    nodes_.push_back({module, {}});
    weight_of_.push_back(weight_[at(module)]);
    holder_.resize(weight_.size(), -1);
    return static_cast<int>(nodes_.size()) - 1;
  }

  void mark(int node, int member) {
    if (nodes_[at(node)].module >= 0) holder_[at(nodes_[at(node)].module)] = member;
    for (const int child : nodes_[at(node)].children) mark(child, member);
  }

  /// How many joints there are between each two members.
  std::vector<std::vector<int>> joints_between(const std::vector<int>& members) {
    std::ranges::fill(holder_, -1);
    for (std::size_t m = 0; m < members.size(); ++m) mark(members[m], static_cast<int>(m));
    neighbours_.assign(members.size(), {});
    for (const auto& [a, b] : joined_) {
      const int ma = holder_[at(a)], mb = holder_[at(b)];
      if (ma < 0 || mb < 0 || ma == mb) continue;
      neighbours_[at(ma)].push_back(mb);
      neighbours_[at(mb)].push_back(ma);
    }
    return neighbours_;
  }

  /// Members as a breadth-first search from the end of the graph comes to them: neighbours are then close together.
  std::vector<int> ordered(const std::vector<int>& members) {
    const auto neighbours = joints_between(members);
    std::vector<char> seen(members.size(), 0);
    std::vector<int> order;
    for (std::size_t first = 0; first < members.size(); ++first) {
      if (seen[first]) continue;
      const std::vector<int> there = walk(neighbours, static_cast<int>(first), seen);
      for (const int m : walk(neighbours, there.back(), seen)) {
        order.push_back(m);
        seen[at(m)] = 1;
      }
    }
    std::vector<int> result;
    for (const int m : order) result.push_back(members[at(m)]);
    return result;
  }

  static std::vector<int> walk(const std::vector<std::vector<int>>& neighbours, int from, const std::vector<char>& done) {
    std::vector<char> seen = done;
    std::vector<int> queue{from};
    seen[at(from)] = 1;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const int next : neighbours[at(queue[i])])
        if (!seen[at(next)]) seen[at(next)] = 1, queue.push_back(next);
    return queue;
  }

  /// Splits a sequence where it is about half in weight and few joints are cut, and each part again.
  int halve(const std::vector<int>& sequence) {
    if (sequence.size() == 1) return sequence.front();
    const auto neighbours = joints_between(sequence);
    const auto n = static_cast<int>(sequence.size());
    double whole = 0.0;
    for (const int member : sequence) whole += weight_of_[at(member)];
    int best = 1;
    double least = std::numeric_limits<double>::infinity(), left = 0.0;
    int cut = 0;
    for (int split = 1; split < n; ++split) {
      left += weight_of_[at(sequence[at(split - 1)])];
      for (const int other : neighbours[at(split - 1)]) cut += other >= split ? 1 : -1;
      const double unbalance = std::abs(left / whole - 0.5);
      const double cost = cut + (unbalance > 0.2 ? 1e3 * unbalance : unbalance);
      if (cost < least - 1e-12) least = cost, best = split;
    }
    const int a = halve({sequence.begin(), sequence.begin() + best});
    const int b = halve({sequence.begin() + best, sequence.end()});
    nodes_.push_back({-1, {a, b}});
    weight_of_.push_back(weight_of_[at(a)] + weight_of_[at(b)]);
    return static_cast<int>(nodes_.size()) - 1;
  }

  const std::vector<double>& weight_;
  const std::vector<std::pair<int, int>>& joined_;
  std::vector<GroupNode> nodes_;
  std::vector<double> weight_of_;
  std::vector<int> holder_;
  std::vector<std::vector<int>> neighbours_;
};

Nest flattened(const Nest& nest) {
  Nest flat{nest.modules, {}};
  for (const Nest& inner : nest.nests) {
    const Nest part = flattened(inner);
    flat.modules.insert(flat.modules.end(), part.modules.begin(), part.modules.end());
  }
  return flat;
}

}  // namespace

std::vector<int> GroupTree::leaves() const {
  std::vector<int> modules;
  for (const GroupNode& node : nodes)
    if (node.module >= 0) modules.push_back(node.module);
  return modules;
}

int GroupTree::depth() const {
  std::vector<int> below(nodes.size(), 0);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (const int child : nodes[i].children) below[i] = std::max(below[i], below[at(child)] + 1);
  return nodes.empty() ? 0 : below.back();
}

GroupTree make_group_tree(const Nest& nest, const std::vector<double>& weight, const std::vector<std::pair<int, int>>& joined,
                          bool balanced_only) {
  TreeMaker maker(weight, joined);
  const int top = maker.add(balanced_only ? flattened(nest) : nest);
  return maker.take(top);
}

}  // namespace linkwork
