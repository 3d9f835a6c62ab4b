#include "linkwork/modules/group_tree.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "linkwork/linalg/index.h"

namespace linkwork {

namespace {

/// Lists of numbers, one behind the other.
struct Lists {
  std::vector<int> ends, items;

  std::span<const int> of(int list) const {
    const int begin = list == 0 ? 0 : ends[at(list - 1)];
    return std::span(items).subspan(at(begin), at(ends[at(list)] - begin));
  }
  void end_list() { ends.push_back(static_cast<int>(items.size())); }
};

/// O(n log n) in the number of modules and joints, as long as nests are not nested deeply.
class TreeMaker {
 public:
  TreeMaker(const std::vector<double>& weight, const std::vector<std::pair<int, int>>& joined)
      : weight_(weight), holder_(weight.size(), -1), joined_(joined) {
    std::vector<int> count(weight.size(), 0);
    for (const auto& [a, b] : joined)
      if (a != b) ++count[at(a)], ++count[at(b)];
    int end = 0;
    for (const int own : count) joints_of_.ends.push_back(end += own);
    joints_of_.items.resize(at(end));
    for (std::size_t joint = joined.size(); joint-- > 0;) {  // the last place of a list is filled first
      const auto [a, b] = joined[joint];
      if (a == b) continue;
      for (const int module : {a, b}) {
        const int begin = module == 0 ? 0 : joints_of_.ends[at(module - 1)];
        joints_of_.items[at(begin + --count[at(module)])] = static_cast<int>(joint);
      }
    }
    nodes_.reserve(2 * weight.size());
    weight_of_.reserve(2 * weight.size());
  }

  /// Adds the nodes of a nest; returns its top.
  int add(const Nest& nest) {
    std::vector<int> members;
    for (const int module : nest.modules) members.push_back(add_node({module, {}}, weight_[at(module)]));
    for (const Nest& inner : nest.nests) members.push_back(add(inner));
    if (members.size() == 1) return members.front();
    const std::vector<int> sequence = ordered(members);
    return halve(sequence, joints_between(sequence), 0, static_cast<int>(sequence.size()));
  }

  GroupTree take(int top) const {
    GroupTree sorted;
    sorted.nodes.reserve(nodes_.size());
    place(top, sorted.nodes);
    return sorted;
  }

 private:
  int add_node(const GroupNode& node, double weight) {
    nodes_.push_back(node);
    weight_of_.push_back(weight);
    return static_cast<int>(nodes_.size()) - 1;
  }

  int place(int node, std::vector<GroupNode>& sorted) const {
    GroupNode copy = nodes_[at(node)];
    if (!copy.children.empty()) {
      const int first = place(copy.children.front(), sorted);
      copy.children = {first, place(copy.children.back(), sorted)};
    }
    sorted.push_back(copy);
    return static_cast<int>(sorted.size()) - 1;
  }

  void list_modules(int node, std::vector<int>& modules) const {
    if (nodes_[at(node)].module >= 0) modules.push_back(nodes_[at(node)].module);
    for (const int child : nodes_[at(node)].children) list_modules(child, modules);
  }

  /// By member: those it is joined to, as often as there are joints, and in their order.
  Lists joints_between(const std::vector<int>& members) {
    Lists modules, neighbours;
    for (std::size_t m = 0; m < members.size(); ++m) {
      list_modules(members[m], modules.items);
      modules.end_list();
      for (const int module : modules.of(static_cast<int>(m))) holder_[at(module)] = static_cast<int>(m);
    }
    std::vector<int> found;  // joints
    for (int m = 0; m < static_cast<int>(members.size()); ++m) {
      found.clear();
      for (const int module : modules.of(m))
        for (const int joint : joints_of_.of(module)) found.push_back(joint);
      std::ranges::sort(found);
      for (const int joint : found)
        for (const int module : {joined_[at(joint)].first, joined_[at(joint)].second})
          if (const int holder = holder_[at(module)]; holder >= 0 && holder != m) neighbours.items.push_back(holder);
      neighbours.end_list();
    }
    for (const int module : modules.items) holder_[at(module)] = -1;
    return neighbours;
  }

  /// Members as a breadth-first search from the end of the graph comes to them: neighbours are then close together.
  std::vector<int> ordered(const std::vector<int>& members) {
    const Lists neighbours = joints_between(members);
    std::vector<char> done(members.size(), 0);
    std::vector<int> result, seen_by(members.size(), -1);
    int searches = 0;
    for (std::size_t first = 0; first < members.size(); ++first) {
      if (done[first]) continue;
      const std::vector<int> there = walk(neighbours, static_cast<int>(first), seen_by, searches++);
      for (const int m : walk(neighbours, there.back(), seen_by, searches++)) {
        result.push_back(members[at(m)]);
        done[at(m)] = 1;
      }
    }
    return result;
  }

  /// All that can be reached; `seen_by` says which search was there last.
  static std::vector<int> walk(const Lists& neighbours, int from, std::vector<int>& seen_by, int search) {
    std::vector<int> queue{from};
    seen_by[at(from)] = search;
    for (std::size_t i = 0; i < queue.size(); ++i)
      for (const int next : neighbours.of(queue[i]))
        if (seen_by[at(next)] != search) seen_by[at(next)] = search, queue.push_back(next);
    return queue;
  }

  /// Up to so many members the work of the elimination counts more than the depth of the tree: it grows with the cube of the
  /// joints that are eliminated together, as those of all that one module carries.
  static constexpr int kFew = 8;

  /// Splits a part of a sequence where it is about half in weight and few joints are cut, and each half again.
  int halve(const std::vector<int>& sequence, const Lists& neighbours, int begin, int end) {
    if (end - begin == 1) return sequence[at(begin)];
    double whole = 0.0;
    for (int i = begin; i < end; ++i) whole += weight_of_[at(sequence[at(i)])];
    int best = begin + 1;
    double least = std::numeric_limits<double>::infinity(), left = 0.0;
    int cut = 0;
    for (int split = begin + 1; split < end; ++split) {
      left += weight_of_[at(sequence[at(split - 1)])];
      for (const int other : neighbours.of(split - 1))
        if (other >= begin && other < end) cut += other >= split ? 1 : -1;
      const double unbalance = std::abs(left / whole - 0.5);
      const double cost = end - begin <= kFew ? 10.0 * cut + unbalance : cut + (unbalance > 0.2 ? 1e3 * unbalance : unbalance);
      if (cost < least - 1e-12) least = cost, best = split;
    }
    const int a = halve(sequence, neighbours, begin, best);
    const int b = halve(sequence, neighbours, best, end);
    return add_node({-1, {a, b}}, weight_of_[at(a)] + weight_of_[at(b)]);
  }

  const std::vector<double>& weight_;
  std::vector<GroupNode> nodes_;
  std::vector<double> weight_of_;
  std::vector<int> holder_;  // by module: the member that has it, while members are looked at
  const std::vector<std::pair<int, int>>& joined_;
  Lists joints_of_;  // by module: its joints
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
