#include "linkwork/dynamics/constraint_response.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace linkwork {

ConstraintResponse::ConstraintResponse(const Model& model) : scale_(static_cast<std::size_t>(model.row_count())) {
  const ConstraintTerms terms(model);
  std::vector<int> sizes;
  std::unordered_map<int, std::vector<int>> groups_on;  // by velocity coordinate
  for (std::size_t g = 0; g < terms.groups.size(); ++g) {
    sizes.push_back(terms.groups[g].columns());
    for (int dof : terms.groups[g].support()) groups_on[dof].push_back(static_cast<int>(g));
  }
  std::vector<std::pair<int, int>> coupled;
  for (const auto& [dof, groups] : groups_on)
    for (std::size_t i = 0; i < groups.size(); ++i)
      for (std::size_t j = 0; j <= i; ++j) coupled.emplace_back(groups[i], groups[j]);
  std::ranges::sort(coupled);
  const auto repeated = std::ranges::unique(coupled);
  coupled.erase(repeated.begin(), repeated.end());
  for (const auto& [a, b] : coupled)
    pairs_.push_back(
        {a, b, common_support(terms.groups[static_cast<std::size_t>(a)], terms.groups[static_cast<std::size_t>(b)])});
  schur_ = BlockLdlt(std::move(sizes), coupled);
}

void ConstraintResponse::factor(System& system) {
  ConstraintTerms& terms = system.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g) {
    ForceColumns& columns = terms.groups[g];
    columns.reduce(system.tree(), system.work());
    for (int c = 0; c < columns.columns(); ++c) scale_[static_cast<std::size_t>(terms.first_rows[g] + c)] = columns.scale(c);
  }
  schur_.set_zero();
  std::array<double, kMaxRows * kMaxRows> block;
  for (const Pair& pair : pairs_) {
    weighted_product(terms.groups[static_cast<std::size_t>(pair.a)], terms.groups[static_cast<std::size_t>(pair.b)], pair.common,
                     block.data());
    schur_.set_block(pair.a, pair.b, block.data());
  }
  rank_ = schur_.factor(scale_);
}

void ConstraintResponse::apply(const System& system, const VecX<double>& u, VecX<double>& out) const {
  out.setZero();
  const ConstraintTerms& terms = system.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g) terms.groups[g].add_weighted_dot(u, out.data() + terms.first_rows[g]);
}

void ConstraintResponse::add_force(const System& system, const VecX<double>& lambda, VecX<double>& u) const {
  const ConstraintTerms& terms = system.terms();
  for (std::size_t g = 0; g < terms.groups.size(); ++g) terms.groups[g].add_reduced_times(lambda.data() + terms.first_rows[g], u);
}

}  // namespace linkwork
