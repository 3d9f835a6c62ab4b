#include "linkwork/dynamics/redundancy.h"

#include <algorithm>

#include "linkwork/model/sliding.h"

namespace linkwork {

void rank_units(System& system, VecX<double>& units) {
  const MatX<double>& bounds = system.jacobian_bounds();
  const Model& model = system.model();
  units = model.units.velocity;
  for (const Node& node : model.tree.nodes) units.segment(node.v, sliding_count(node.kind)).setZero();
  for (Eigen::Index row = 0; row < bounds.rows(); ++row) {
    double arm = 0.0;
    for (const Node& node : model.tree.nodes)
      for (int k = sliding_count(node.kind); k < velocity_count(node.kind); ++k) arm = std::max(arm, bounds(row, node.v + k));
    for (const Node& node : model.tree.nodes)
      for (int k = 0; k < sliding_count(node.kind); ++k)
        if (const double slides = bounds(row, node.v + k); slides > 0.0)
          units[node.v + k] = std::max(units[node.v + k], arm / slides);
  }
  for (Eigen::Index k = 0; k < units.size(); ++k) {
    const double usual = model.units.velocity[k];
    units[k] = units[k] > 0.0 ? std::min(units[k], usual) : usual;
  }
}

Rank RowRank::decide(System& system, std::span<char> dependent) {
  if (dependent.empty()) return {};
  return decide(system, system.jacobian(), dependent);
}

Rank RowRank::decide(System& system, const MatX<double>& A, std::span<char> dependent) {
  rank_units(system, units_);
  weights_ = units_.cwiseAbs2();
  return dependent_rows(A, system.jacobian_bounds(), weights_, test_, dependent);
}

std::vector<std::string> dependent_row_names(const Model& model, std::span<const char> dependent) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < dependent.size(); ++i)
    if (dependent[i]) names.push_back(model.rows[i].name);
  return names;
}

std::string describe_redundancy(const Model& model, std::span<const char> dependent) {
  const std::vector<std::string> names = dependent_row_names(model, dependent);
  return (names.size() == 1 ? "row " : "rows ") + listed(names) + (names.size() == 1 ? " adds" : " add") +
         " nothing to the others";
}

}  // namespace linkwork
