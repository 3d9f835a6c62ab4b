#include "linkwork/dynamics/redundancy.h"

namespace linkwork {

Rank RowRank::decide(System& system, std::span<char> dependent) {
  if (dependent.empty()) return {};
  weights_ = system.model().units.velocity.cwiseAbs2();
  return dependent_rows(system.jacobian(), system.jacobian_bounds(), weights_, test_, dependent);
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
