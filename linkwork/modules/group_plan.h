#pragma once

#include <vector>

#include "linkwork/modules/assembly_outline.h"
#include "linkwork/modules/placement.h"

namespace linkwork {

/// How ranks work on the groups that none of them has alone. Which is chosen does not change a bit of the result.
enum class Scheme {
  kOneExchange,  // all get what the ranks' own groups offer, and each solves all groups that span ranks
  kTree          // ranks swap what their own groups offer with others, and so on up the tree; each solves those it has a part in
};

/// A scheme, and in that of the tree how many levels of groups are solved after each swap: there are fewer swaps then, of more
/// messages each, and a rank solves more groups one after the other.
struct Way {
  Scheme scheme = Scheme::kOneExchange;
  int levels = 1;

  bool operator==(const Way&) const = default;
};

/// A group, before it is at work.
struct PlannedGroup {
  int number = 0;                     // in the tree
  int module = -1;                    // of a leaf
  std::vector<int> children;          // places in GroupPlan::groups
  int first_rank = 0, last_rank = 0;  // that have its modules
  int layer_top = 0;                  // of the highest group, it or one above it, that is solved after the same swap
  bool solved = false;                // here; else what it offers comes by message
  bool told = false;                  // of in the output, by this rank
  std::vector<PortRef> ports;         // of the children that are joined here or further up; kept ones only, if not solved here
  std::vector<int> kept;              // places of those that are joined further up
  std::vector<int> connections, springs, couplings;  // that are eliminated here: places in the plan

  bool spans_ranks() const { return first_rank != last_rank; }
};

/// What one rank has to know of the tree of groups: those that it solves, and their children. Children stand before their group.
struct GroupPlan {
  Scheme scheme = Scheme::kOneExchange;
  std::vector<PlannedGroup> groups;
  std::vector<int> connections, springs;  // that this rank tells of in the output: places in the plan
  std::vector<int> coupling_ranks;        // by coupling: which rank tells of it
  int numbers_exposed = 0;                // motion and response of the ports of all modules
};

/// In O(n log n).
GroupPlan plan_groups(const AssemblyOutline& assembly, const GroupTree& tree, const Placement& placement, int rank,
                      const Way& way);

/// Numbers that tell of the motion and the response of this many ports.
int message_size(std::size_t ports);

}  // namespace linkwork
