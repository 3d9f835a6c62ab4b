#pragma once

#include <array>
#include <utility>
#include <vector>

#include "linkwork/modules/connection.h"

namespace linkwork {

/// A module, or a group of two members, each a module or a group.
struct GroupNode {
  /// None, or two.
  class Children {
   public:
    Children() = default;
    Children(int first, int second) : both_{first, second} {}

    const int* begin() const { return both_.data(); }
    const int* end() const { return both_.data() + (empty() ? 0 : 2); }
    bool empty() const { return both_[0] < 0; }
    int operator[](std::size_t i) const { return both_[i]; }
    int front() const { return both_[0]; }
    int back() const { return both_[1]; }

   private:
    std::array<int, 2> both_{-1, -1};
  };

  int module = -1;    // of a leaf
  Children children;  // of a group
};

/// The order in which the joints between modules are eliminated: first those within the innermost groups. Children stand before
/// their group, the whole is last; leaves stand in the order of a walk through the tree, which is the order modules are given to
/// ranks in.
struct GroupTree {
  std::vector<GroupNode> nodes;

  std::vector<int> leaves() const;  // modules, in order
  int depth() const;
};

/// What the nesting of module files says: a node of it holds modules and further nodes.
struct Nest {
  std::vector<int> modules;
  std::vector<Nest> nests;
};

/// Groups as nested, and within a nest of many members by balanced partitioning: members are split into halves of about equal
/// weight between which there are few joints, and so on. `weight` is that of each module; `balanced_only` ignores the nesting.
GroupTree make_group_tree(const Nest& nest, const std::vector<double>& weight, const std::vector<std::pair<int, int>>& joined,
                          bool balanced_only = false);

}  // namespace linkwork
