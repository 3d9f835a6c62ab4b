#include "linkwork/tree/operational_space.h"

#include <array>

#include "linkwork/tree/force_columns.h"

namespace linkwork {

MatX<double> operational_space_inverse_inertia(const Tree& tree, const TreeWork<double>& work, const std::vector<int>& nodes,
                                               const std::vector<Pose<double>>& frames) {
  std::vector<ForceColumns> groups;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    groups.emplace_back(tree, std::vector<int>{nodes[i]}, std::vector<int>{}, 6);
    for (int c = 0; c < 6; ++c) {
      Wrench<double> unit;
      (c < 3 ? unit.n[c] : unit.f[c - 3]) = 1.0;
      groups.back().wrench(0, c) = frames[i] * unit;
    }
    groups.back().reduce(tree, work);
  }
  MatX<double> result = MatX<double>::Zero(6 * static_cast<int>(nodes.size()), 6 * static_cast<int>(nodes.size()));
  Eigen::Matrix<double, 6, 6, Eigen::RowMajor> block;
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t j = 0; j < nodes.size(); ++j) {
      weighted_product(groups[i], groups[j], common_support(groups[i], groups[j]), block.data());
      result.block<6, 6>(6 * static_cast<int>(i), 6 * static_cast<int>(j)) = block;
    }
  return result;
}

}  // namespace linkwork
