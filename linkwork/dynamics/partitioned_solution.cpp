#include "linkwork/dynamics/partitioned_solution.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/redundancy.h"

namespace linkwork {

PartitionedSolution::PartitionedSolution(const Model& model)
    : n_(model.tree.nv), m_(model.row_count()), partition_(n_, m_), b_d_(VecX<double>::Zero(m_)), forces_(model) {}

void PartitionedSolution::update(System& system) {
  if (m_ == 0) return;
  rank_units(system, weights_);
  weights_.array() *= weights_.array();
  partition_.update(system.jacobian(), system.jacobian_bounds(), weights_);
}

Status PartitionedSolution::solve(System& system, const VecX<double>& b, std::string_view formulation, Solution& solution) {
  force_ = system.work().tau - system.bias();
  if (Status status = solve_forced(system, b, formulation, solution); !status.ok()) return status;
  forces_.settle(system, solution.vdot, solution.lambda);
  judge(system, b, solution);
  return {};
}

Status PartitionedSolution::solve_impulses(System& system, const VecX<double>& b, Solution& solution) {
  force_ = -forces_.missed_impulses(system, VecX<double>::Zero(n_), VecX<double>::Zero(m_));
  if (Status status = solve_forced(system, b, "partition", solution); !status.ok()) return status;
  forces_.settle_impulses(system, solution.vdot, solution.lambda);
  judge(system, b, solution);
  return {};
}

/// With force_ in place of tau - c.
Status PartitionedSolution::solve_forced(System& system, const VecX<double>& b, std::string_view formulation,
                                         Solution& solution) {
  constexpr double kRounding = 1e-14;
  const MatX<double>& M = system.mass_matrix();
  const MatX<double>& S = partition_.S();
  const int r = partition_.rank().rank;
  MS_.resize(n_, n_ - r);
  reduced_.resize(n_ - r, n_ - r);
  rhs_.resize(n_ - r);
  MS_.noalias() = M * S;
  reduced_.noalias() = S.transpose() * MS_;
  if (n_ > r) {
    llt_.compute(reduced_);
    // What is left of a motion's inertia after the others are held.
    Eigen::Index weakest = 0;
    const auto left = llt_.matrixLLT().diagonal().array().square() / reduced_.diagonal().array();
    if (llt_.info() != Eigen::Success || !(left.minCoeff(&weakest) > kRounding))
      return {fmt::format("formulation '{}' needs inertia for every motion the constraints leave, and that of '{}' has none",
                          formulation, system.model().velocity_name(column(r + static_cast<int>(weakest))))};
  }
  solution.vdot.setZero();
  solution.lambda.setZero();
  for (int pass = 0; pass < 2; ++pass) {  // the second time takes back what rounding did
    for (int k = 0; k < r; ++k) {
      const int row = partition_.rows()[static_cast<std::size_t>(k)];
      b_d_[k] = pass == 0 ? b[row] : b[row] - system.jacobian().row(row).dot(solution.vdot);
    }
    partition_.solve(b_d_);
    for (int k = 0; k < r; ++k) solution.vdot[column(k)] += b_d_[k];  // gamma
    r_ = force_;
    r_.noalias() -= M * solution.vdot;
    if (n_ > r) {
      rhs_.noalias() = S.transpose() * r_;
      llt_.solveInPlace(rhs_);
      solution.vdot.noalias() += S * rhs_;  // (1), (2)
    }
    r_ = -force_;
    r_.noalias() += M * solution.vdot;
    if (pass > 0 && m_ > 0) r_.noalias() -= system.jacobian().transpose() * solution.lambda;
    for (int k = 0; k < r; ++k) b_d_[k] = r_[column(k)];
    partition_.solve_transposed(b_d_);
    for (int k = 0; k < r; ++k) solution.lambda[partition_.rows()[static_cast<std::size_t>(k)]] += b_d_[k];  // (3)
  }
  return {};
}

void PartitionedSolution::judge(System& system, const VecX<double>& b, Solution& solution) const {
  solution.rank = partition_.rank();
  std::ranges::copy(partition_.dependent_rows(), solution.dependent.begin());
  solution.inconsistency = 0.0;
  for (int row = 0; row < m_; ++row)
    if (partition_.dependent_rows()[static_cast<std::size_t>(row)])
      solution.inconsistency = std::max(solution.inconsistency, std::abs(system.jacobian().row(row).dot(solution.vdot) - b[row]));
}

}  // namespace linkwork
