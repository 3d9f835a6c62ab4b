#include "linkwork/coordinates/elimination_plan.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "linkwork/coordinates/compounds.h"
#include "linkwork/linalg/index.h"
#include "linkwork/linalg/rank.h"

namespace linkwork {

namespace {

/// Machine instructions, fitted to measurements.
constexpr double kPass = 110, kPassPlanar = 45, kPassBlock = 330, kCouple = 5, kPerGroup = 500, kPerRow = 130, kEliminate = 4,
                 kAtNode = 80;

/// How far a group's wrenches can be from the joints they pass, beyond their arms in the last link: the lengths of the other
/// links on the way.
double reach_of(const Tree& tree, const ForceColumns& group) {
  double reach = kShortestArm * tree.length;
  for (int node : group.way())
    if (tree.nodes[at(node)].parent != group.root()) reach += tree.nodes[at(node)].p.norm();
  return reach;
}

/// The node at which a loop is known as a whole: the lowest that contains it. Between bodies that float apart from one another it
/// is the one of them that comes last: nothing is fixed to the ground, and its free joint carries nothing further.
int end_of(const Tree& tree, const ForceColumns& group) {
  if (group.root() != 0 || !group.seed_dofs().empty()) return group.root();
  std::set<int> floating;
  for (int node : group.seed_nodes()) {
    if (node == 0) return 0;
    while (tree.nodes[at(node)].parent != 0) node = tree.nodes[at(node)].parent;
    if (tree.nodes[at(node)].kind != NodeKind::kFree) return 0;
    floating.insert(node);
  }
  return floating.size() > 1 ? *floating.begin() : 0;
}

}  // namespace

EliminationPlan EliminationPlan::best(const Tree& tree, std::span<const ForceColumns> closed, Compounds* compounds,
                                      std::span<const ForceColumns> open) {
  EliminationPlan plan(tree, closed, compounds, open, true);
  const auto floats = [&](const ForceColumns& group) { return end_of(tree, group) != group.root(); };
  if (std::ranges::none_of(closed, floats)) return plan;
  EliminationPlan all_at_ground(tree, closed, compounds, open, false);
  return all_at_ground.work_ < plan.work_ ? all_at_ground : plan;
}

EliminationPlan::EliminationPlan(const Tree& tree, std::span<const ForceColumns> closed, Compounds* compounds,
                                 std::span<const ForceColumns> open, bool early)
    : compounds_(compounds), closed_(static_cast<int>(closed.size())), stations_(tree.nodes.size()) {
  std::vector<ForceColumns> groups(closed.begin(), closed.end());
  groups.insert(groups.end(), open.begin(), open.end());
  const int count = static_cast<int>(groups.size());
  std::vector<std::map<int, int>> K_of(groups.size());  // by group: node -> first wrench
  std::vector<std::set<int>> present(tree.nodes.size());
  std::vector<std::vector<int>> ending(tree.nodes.size());
  const auto appear = [&](int g, int node) {
    const auto [entry, added] = K_of[at(g)].try_emplace(node, size_);
    if (added) {
      place(6 * padded(groups[at(g)].working()));
      present[at(node)].insert(g);
    }
    return entry->second;
  };
  for (int g = 0; g < count; ++g) {
    const ForceColumns& columns = groups[at(g)];
    const int m = columns.working();
    const bool is_open = g >= closed_, is_embedded = !is_open && compounds_ && compounds_->embeds(g);
    const int end = is_open ? 0 : is_embedded ? -1 : early ? end_of(tree, columns) : columns.root();
    const double reach = is_embedded ? 0.0 : reach_of(tree, columns);
    groups_.push_back(
        {m, rows_, rows_ + columns.columns(), place(padded(m)), end, -1, 0, 0, place(kColumnsAtATime), reach, {}, {}});
    rows_ += columns.columns();
    if (is_embedded) continue;
    if (m > 0) {
      for (int node : columns.way()) appear(g, node);
      if (end != 0) groups_.back().K = appear(g, end);
    }
    if (!is_open) ending[at(end)].push_back(g), working_rows_ += m;
    groups_.back().diagonal = place(m * padded(m));
    groups_.back().inverse = place(m * padded(m));
    for (std::size_t s = 0; s < columns.seed_nodes().size(); ++s)
      if (const auto found = K_of[at(g)].find(columns.seed_nodes()[s]); found != K_of[at(g)].end())
        seeds_.push_back({g, static_cast<int>(s), found->second, false, tree.nodes[at(columns.seed_nodes()[s])].planar});
  }

  // Node by node, inward: groups that end there go, by least degree; those they were coupled with are coupled among one another
  // from then on, and act on the node. Groups that pass a joint together are coupled as well.
  std::vector<std::set<int>> neighbours(groups.size());
  std::map<std::pair<int, int>, int> values_of;  // (later, earlier) -> their block of Lambda
  const auto coupling_of = [&](int later, int earlier) {
    const auto [entry, added] = values_of.try_emplace({later, earlier}, size_);
    if (added) place(groups_[at(later)].columns * padded(groups_[at(earlier)].columns));
    return entry->second;
  };
  std::vector<int> rank_in_order(groups.size(), -1);
  std::vector<std::vector<int>> passing(tree.nodes.size());
  for (int node = tree.size() - 1; node >= 0; --node) {
    stations_[at(node)].first_eliminated = static_cast<int>(order_.size());
    std::set<std::pair<std::size_t, int>> by_degree;
    for (int g : ending[at(node)]) by_degree.insert({neighbours[at(g)].size(), g});
    while (!by_degree.empty()) {
      const int g = by_degree.begin()->second;
      by_degree.erase(by_degree.begin());
      rank_in_order[at(g)] = static_cast<int>(order_.size());
      order_.push_back(g);
      present[at(node)].erase(g);
      for (int h : neighbours[at(g)]) {
        std::set<int>& of_h = neighbours[at(h)];
        const bool waits = by_degree.erase({of_h.size(), h}) > 0;
        of_h.erase(g);
        for (int other : neighbours[at(g)])
          if (other != h) of_h.insert(other);
        if (waits) by_degree.insert({of_h.size(), h});
        const Group& of_later = groups_[at(h)];
        const int K = node == 0 ? -1 : appear(h, node), values = coupling_of(h, g);
        groups_[at(g)].later.push_back({h, of_later.columns, of_later.first_row, of_later.rhs, K, values,
                                        place(of_later.columns * padded(groups_[at(g)].columns))});
      }
      double beyond = node == 0 ? 0.0 : 6.0;  // rows and coordinates that its elimination couples
      for (int h : neighbours[at(g)]) beyond += groups_[at(h)].columns;
      work_ += groups_[at(g)].columns * beyond * beyond;
    }
    stations_[at(node)].last_eliminated = static_cast<int>(order_.size());
    passing[at(node)].assign(present[at(node)].begin(), present[at(node)].end());
    for (int g : passing[at(node)])
      for (int h : passing[at(node)])
        if (g != h) neighbours[at(g)].insert(h);
  }
  for (int g = closed_; g < count; ++g) rank_in_order[at(g)] = g;
  for (int a = closed_; a < count; ++a)
    for (int b = closed_; b <= a; ++b) between_.push_back({a, b, a == b ? groups_[at(a)].diagonal : coupling_of(a, b)});
  for (Group& group : groups_)
    for (std::size_t a = 0; a < group.later.size(); ++a)
      for (std::size_t b = 0; b < group.later.size(); ++b) {
        const Later &of_a = group.later[a], &of_b = group.later[b];
        const int ga = of_a.group, gb = of_b.group;
        if (ga != gb && rank_in_order[at(ga)] < rank_in_order[at(gb)]) continue;
        const int target = ga == gb ? groups_[at(ga)].diagonal : coupling_of(ga, gb);
        group.fill.push_back({of_a.columns, of_b.columns, of_a.scaled, of_b.values, target});
      }

  costs_.resize(groups.size(), 0.0);
  for (int g : order_) {
    const Group& group = groups_[at(g)];
    double beyond = group.columns;
    for (const Later& later : group.later) beyond += groups_[at(later.group)].columns;
    costs_[at(g)] = kPerGroup + group.columns * (kPerRow + (group.K < 0 ? 0.0 : kAtNode) + kEliminate * beyond * beyond);
  }
  for (int node = 0; node < tree.size(); ++node) {
    Station& station = stations_[at(node)];
    station.first_passage = static_cast<int>(passages_.size());
    station.first_coupling = static_cast<int>(couplings_.size());
    station.first_seed = static_cast<int>(joint_seeds_.size());
    const Node& joint = tree.nodes[at(node)];
    for (int g : passing[at(node)]) {
      const auto above = joint.parent == 0 ? K_of[at(g)].end() : K_of[at(g)].find(joint.parent);
      const int m = groups_[at(g)].columns;
      for (std::size_t s = 0; s < groups[at(g)].seed_dofs().size(); ++s) {
        const int component = groups[at(g)].seed_dofs()[s] - joint.v;
        if (component >= 0 && component < velocity_count(joint.kind))
          joint_seeds_.push_back({g, static_cast<int>(s), component, static_cast<int>(passages_.size())});
      }
      const int parent_K = above == K_of[at(g)].end() ? -1 : above->second, numbers = padded(m) * velocity_count(joint.kind);
      passages_.push_back({m, false, K_of[at(g)].at(node), parent_K, place(numbers), place(numbers), groups_[at(g)].rhs,
                           groups_[at(g)].sums, groups_[at(g)].first_row});
      costs_[at(g)] += m * (joint.planar ? kPassPlanar : velocity_count(joint.kind) == 1 ? kPass : kPassBlock);
    }
    station.last_passage = static_cast<int>(passages_.size());
    for (int a = station.first_passage; a < station.last_passage; ++a)
      for (int b = station.first_passage; b < station.last_passage; ++b) {
        const Passage &pa = passages_[at(a)], &pb = passages_[at(b)];
        const int ga = passing[at(node)][at(a - station.first_passage)], gb = passing[at(node)][at(b - station.first_passage)];
        if (rank_in_order[at(ga)] >= rank_in_order[at(gb)])
          costs_[at(ga)] += kCouple * pa.columns * pb.columns * velocity_count(joint.kind);
        if (a == b)
          couplings_.push_back({pa.columns, pb.columns, pa.u, pb.y, groups_[at(ga)].diagonal, false});
        else if (rank_in_order[at(ga)] > rank_in_order[at(gb)])
          couplings_.push_back({pa.columns, pb.columns, pa.u, pb.y, coupling_of(ga, gb), false});
      }
    station.last_coupling = static_cast<int>(couplings_.size());
    station.last_seed = static_cast<int>(joint_seeds_.size());
    const bool has_axis = node != 0 && velocity_count(joint.kind) == 1 && station.first_seed == station.last_seed;
    const bool is_one =
        station.first_passage + 1 == station.last_passage && passages_[at(station.first_passage)].columns <= kColumnsAtATime;
    station.way = !has_axis      ? Way::kOther
                  : joint.planar ? (is_one ? Way::kPlanarOne : Way::kPlanar)
                                 : (is_one ? Way::kAxisOne : Way::kAxis);
  }

  find_first_terms(tree);
}

/// Sums begin with their first terms, those that have none before they are used with zero.
void EliminationPlan::find_first_terms(const Tree& tree) {
  std::vector<char> begun(at(size_), 0);
  for (Seed& seed : seeds_) seed.first = !std::exchange(begun[at(seed.K)], 1);
  const auto clear = [&](int first, int numbers) {
    if (first >= 0 && !std::exchange(begun[at(first)], 1)) cleared_.push_back({first, first + numbers});
  };
  for (int node = tree.size() - 1; node >= 0; --node) {
    const Station& station = stations_[at(node)];
    for (int k = station.first_eliminated; k < station.last_eliminated; ++k) {
      const Group& group = groups_[at(order_[at(k)])];
      clear(group.K, 6 * padded(group.columns));
      clear(group.diagonal, group.columns * padded(group.columns));
      for (const Later& later : group.later) {
        clear(later.K, 6 * padded(later.columns));
        clear(later.values, later.columns * padded(group.columns));
      }
      for (const Fill& fill : group.fill) clear(fill.target, fill.rows * padded(fill.columns));
    }
    for (int p = station.first_passage; p < station.last_passage; ++p) {
      Passage& passage = passages_[at(p)];
      clear(passage.K, 6 * padded(passage.columns));
      if (passage.parent_K >= 0) passage.first = !std::exchange(begun[at(passage.parent_K)], 1);
    }
    for (int k = station.first_coupling; k < station.last_coupling; ++k)
      couplings_[at(k)].first = !std::exchange(begun[at(couplings_[at(k)].values)], 1);
  }
  for (const Between& block : between_) clear(block.values, groups_[at(block.a)].columns * padded(groups_[at(block.b)].columns));
}

}  // namespace linkwork
