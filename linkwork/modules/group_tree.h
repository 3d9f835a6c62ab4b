#pragma once

#include <vector>

#include "linkwork/modules/connection.h"

namespace linkwork {

/// A module, or a group of modules and groups.
struct GroupNode {
  int module = -1;            // of a leaf
  std::vector<int> children;  // of a group
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
