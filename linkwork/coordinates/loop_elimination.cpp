#include "linkwork/coordinates/loop_elimination.h"

#include <limits>

#include "linkwork/coordinates/elimination_recursions.h"

namespace linkwork {

template class EliminationPasses<double, Tree, ForceColumns>;

LoopElimination::LoopElimination(const Tree& tree, std::span<const ForceColumns> groups, Compounds* compounds,
                                 std::span<const ForceColumns> open)
    : EliminationPasses(EliminationPlan::best(tree, groups, compounds, open)) {}

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
