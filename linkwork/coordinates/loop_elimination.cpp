#include "linkwork/coordinates/loop_elimination.h"

#include <algorithm>
#include <limits>

#include "linkwork/coordinates/elimination_recursions.h"

namespace linkwork {

template class EliminationPasses<double, Tree, ForceColumns>;

LoopElimination::LoopElimination(const Tree& tree, std::span<const ForceColumns> groups, Compounds* compounds,
                                 std::span<const ForceColumns> open)
    : EliminationPasses(EliminationPlan::best(tree, groups, compounds, open)),
      only_at_ground_(std::ranges::all_of(groups_, [](const Group& group) { return group.K < 0; })) {}

void LoopElimination::inward_again(const Tree& tree, TreeWork<double>& work, const VecX<double>& b) {
  std::fill(std::copy(b.begin(), b.end(), rhs_.begin()), rhs_.end(), 0.0);
  if (only_at_ground_)
    work.u.setZero();
  else
    for (NodeWork<double>& node : work.nodes) node.n.setZero(), node.f.setZero();
  work.tau.setZero();
  for (int i = only_at_ground_ ? 0 : tree.size() - 1; i >= 0; --i) {
    const Station& station = stations_[at(i)];
    for (int k = station.first_eliminated; k < station.last_eliminated; ++k) push_with(groups_[at(order_[at(k)])], work);
    if (i == 0) break;
    reduce_force(tree, work, i);
    const double* const u = work.u.data() + tree.nodes[at(i)].v;
    const int nv = velocity_count(tree.nodes[at(i)].kind);
    for (int p = station.first_passage; p < station.last_passage; ++p) {
      const Passage& passage = passages_[at(p)];
      for (int c = 0; c < passage.columns; ++c)
        for (int k = 0; k < nv; ++k) rhs_[at(passage.first_row + c)] -= y_[at(passage.u + c * nv + k)] * u[k];
    }
  }
}

/// What eliminate() does to right-hand sides and forces.
void LoopElimination::push_with(const Group& group, TreeWork<double>& work) {
  const int m = group.columns;
  const double* const rhs = &rhs_[at(group.first_row)];
  for (const Later& later : group.later)
    for (int r = 0; r < groups_[at(later.group)].columns; ++r)
      for (int c = 0; c < m; ++c)
        rhs_[at(groups_[at(later.group)].first_row + r)] -= scaled_[at(later.values + r * m + c)] * rhs[c];
  if (group.K < 0) return;
  const double* const P = &inverse_[at(group.diagonal)];
  NodeWork<double>& node = work[group.node];
  for (int l = 0; l < m; ++l) {
    double force = 0.0;
    for (int c = 0; c < m; ++c) force += P[l * m + c] * rhs[c];
    node.n -= force * K_[at(group.K + l)].n;
    node.f -= force * K_[at(group.K + l)].f;
  }
}

void LoopElimination::open_response(MatX<double>& D, VecX<double>& R) const {
  const int first = closed_ < static_cast<int>(groups_.size()) ? groups_[at(closed_)].first_row : 0;
  for (const Fill& block : between_) {
    const Group &a = groups_[at(block.a)], &b = groups_[at(block.b)];
    const double* const values = &Lambda_[at(block.values)];
    for (int r = 0; r < a.columns; ++r)
      for (int c = 0; c < b.columns; ++c)
        D(a.first_row - first + r, b.first_row - first + c) = D(b.first_row - first + c, a.first_row - first + r) =
            values[r * b.columns + c];
    if (block.a == block.b)
      for (int r = 0; r < a.columns; ++r) R[a.first_row - first + r] = -rhs_[at(a.first_row + r)];
  }
}

std::pair<double, double> LoopElimination::open_scale(int open, double arm) const {
  const Sums& sums = sums_[at(closed_ + open)];
  const double reach = reach_[at(closed_ + open)] + arm;
  return {sums.turning, sums.turning * reach * reach + sums.sliding};
}

bool has_unequal_masses(const Tree& tree) {
  constexpr double kUnequal = 1e3;
  double least = std::numeric_limits<double>::infinity(), most = 0.0;
  for (const Node& node : tree.nodes) {
    if (node.kind == NodeKind::kFree) return true;
    if (node.inertia.mass > 0.0) least = std::min(least, node.inertia.mass), most = std::max(most, node.inertia.mass);
  }
  return most > kUnequal * least;
}

}  // namespace linkwork
