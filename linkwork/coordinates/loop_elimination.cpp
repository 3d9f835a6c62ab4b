#include "linkwork/coordinates/loop_elimination.h"

#include <cmath>
#include <limits>
#include <optional>

#include "linkwork/coordinates/elimination_recursions.h"

namespace linkwork {

template class EliminationPasses<double, Tree, ForceColumns>;

LoopElimination::LoopElimination(const Tree& tree, std::span<const ForceColumns> groups, Compounds* compounds,
                                 std::span<const ForceColumns> open)
    : EliminationPasses(EliminationPlan::best(tree, groups, compounds, open)) {
  find_spinners(tree);
}

/// Nodes that turn about an axis of symmetry, if nothing hangs on them.
void LoopElimination::find_spinners(const Tree& tree) {
  constexpr double kSame = 4.0 * std::numeric_limits<double>::epsilon();
  std::vector<char> carries(tree.nodes.size(), 0);
  for (const Node& node : tree.nodes) carries[at(node.parent)] = 1;
  std::optional<TreeWork<double>> work;
  for (int i = 1; i < tree.size(); ++i) {
    const Node& node = tree.nodes[at(i)];
    const Sym3<double>& I = node.inertia.I;
    const double size = kSame * I.trace(), arm = std::sqrt(node.inertia.mass * I.trace()) * kSame;
    const bool is_even = std::abs(I.xx - I.yy) <= size && std::abs(I.xy) <= size && std::abs(I.xz) <= size &&
                         std::abs(I.yz) <= size && std::abs(node.inertia.h.x()) <= arm && std::abs(node.inertia.h.y()) <= arm;
    if (node.kind != NodeKind::kRevolute || node.planar || node.parent == 0 || carries[at(i)] || !is_even ||
        !(I.zz > 1e-3 * I.trace()) || (compounds_ && (compounds_->owns(i) || compounds_->owns(node.parent))))
      continue;
    if (!work) work.emplace(tree);
    Spinner spinner{i, node.parent, I.zz, 1.0 / I.zz, {}};
    ArticulatedInertia<double> left = work->rigid[at(i)];
    left.I.xz = left.I.yz = left.I.zz = 0.0;
    link::add_seen_from_parent(tree, *work, i, left, spinner.left);
    spinners_.push_back(spinner);
    stations_[at(i)].spins = true;
  }
}

std::pair<double, double> LoopElimination::open_scale(int open, double arm) const {
  const double* const sums = &numbers_[at(groups_[at(closed_ + open)].sums)];
  const double reach = reach_[at(closed_ + open)] + arm;
  return {sums[0], sums[0] * reach * reach + sums[1]};
}

bool has_unequal_masses(const Tree& tree) {
  constexpr double kUnequal = 1e3;
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  int floating = 0;
  for (const Node& node : tree.nodes) {
    if (node.kind == NodeKind::kFree && ++floating > 1) return true;
    if (node.inertia.mass > 0.0) least = std::min(least, node.inertia.mass), most = std::max(most, node.inertia.mass);
  }
  return most > kUnequal * least;
}

}  // namespace linkwork
