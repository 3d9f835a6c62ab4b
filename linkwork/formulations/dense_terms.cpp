#include "linkwork/formulations/dense_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "linkwork/tree/aba.h"

namespace linkwork {

void DenseTerms::update(System& system) {
  M_ = &system.mass_matrix();
  A_ = &system.jacobian();
  b_ = &system.terms().b;
  units_ = &system.model().units;
  usual_ = std::pow(system.model().speed(system.state().v), 2);
  force_ = system.work().tau - system.bias();
  weights_ = M_->diagonal().unaryExpr([](double x) { return x > 0.0 ? 1.0 / x : 1.0; });
  scale_rows(system);
}

Status DenseTerms::update_factored(System& system, std::string_view formulation) {
  M_ = &system.mass_matrix();
  A_ = &system.jacobian();
  b_ = &system.terms().b;
  units_ = &system.model().units;
  usual_ = std::pow(system.model().speed(system.state().v), 2);
  force_ = system.work().tau - system.bias();
  mass_.compute(*M_);
  weights_ = mass_.matrixLLT().diagonal().array().square().inverse();
  constexpr double kRounding = 1e-14;
  if (mass_.info() != Eigen::Success || !((weights_.array() * M_->diagonal().array()).maxCoeff() < 1.0 / kRounding)) {
    aba_inertias(system.tree(), system.work());
    const int node = system.work().massless_node;
    return {
        fmt::format("formulation '{}' needs inertia at every joint of the tree, and {} moves none; use 'lagrange' or "
                    "'nullspace-qr'",
                    formulation, node != 0 ? "'" + system.model().node_name(node) + "'" : "some combination of them")};
  }
  scale_rows(system);
  return {};
}

void DenseTerms::scale_rows(System& system) {
  velocity_unit_ = weights_.cwiseSqrt();
  row_scales(system.jacobian_bounds(), weights_, scale_);
  row_unit_ = scale_.unaryExpr([](double x) { return x > 0.0 ? 1.0 / std::sqrt(x) : 0.0; });
}

Rank DenseTerms::decide_rank(System& system, std::span<char> dependent) {
  const Rank rank = rank_.decide(system, dependent);
  for (Eigen::Index i = 0; i < A_->rows(); ++i)
    if (const double length = A_->row(i).transpose().cwiseProduct(rank_.units()).squaredNorm();
        dependent[static_cast<std::size_t>(i)] != 0 && !is_independent(length, rank_.scale()[i]))
      row_unit_[i] = 0.0;
  return rank;
}

/// Whether dependent rows ask for something that the others do not give.
bool DenseTerms::contradict(System& system) {
  constexpr double kRounding = 1e-7;
  VecX<double> units, vdot;
  rank_units(system, units);
  rows_.factor(*A_, system.jacobian_bounds(), units);
  rows_.solve(*b_, vdot);
  const VecX<double> off = (*A_ * vdot - *b_).cwiseAbs(), size = A_->cwiseAbs() * vdot.cwiseAbs() + b_->cwiseAbs();
  return off.cwiseQuotient(units_->row).maxCoeff() > kRounding * std::max(usual_, size.cwiseQuotient(units_->row).maxCoeff());
}

/// Errors are measured by the largest of the terms, rows and coordinates in their units; at rest these are the accelerations that
/// gravity could give.
Status DenseTerms::verify(System& system, std::string_view formulation, Solution& solution) {
  if (!forces_) forces_.emplace(system.model());
  forces_->settle(system, solution.vdot, solution.lambda);
  // Near a singular position what rows miss is a larger error of the accelerations.
  constexpr double kLargest = 1e-9, kClosest = 1e-4;
  const double enough = kLargest * std::clamp(std::sqrt(solution.rank.weakest), kClosest, 1.0);
  vdot_size_ = solution.vdot.cwiseAbs();
  unmet_ = *b_;
  unmet_.noalias() -= *A_ * solution.vdot;
  row_size_ = b_->cwiseAbs() + usual_ * units_->row;
  row_size_.noalias() += A_->cwiseAbs() * vdot_size_;
  double size = 0.0, off = 0.0;
  for (Eigen::Index i = 0; i < unmet_.size(); ++i) {
    if (solution.dependent[static_cast<std::size_t>(i)] != 0) continue;
    size = std::max(size, row_size_[i] / units_->row[i]);
    off = std::max(off, std::abs(unmet_[i]) / units_->row[i]);
  }
  if (off > enough * size && solution.rank.rank < unmet_.size() && contradict(system)) {
    // Of rows that contradict one another all may be met as well as they can together, instead of the independent ones alone.
    size = off = 0.0;
    unmet_.array() *= row_unit_.array().square();
    row_size_.array() *= row_unit_.array().square();
    for (Eigen::Index j = 0; j < A_->cols(); ++j) {
      size = std::max(size, velocity_unit_[j] * A_->col(j).cwiseAbs().dot(row_size_));
      off = std::max(off, velocity_unit_[j] * std::abs(A_->col(j).dot(unmet_)));
    }
  }
  double worst = size > 0.0 ? off / size : 0.0;
  // What forces are off by, as accelerations.
  size = usual_, off = 0.0;
  for (Eigen::Index j = 0; j < M_->rows(); ++j) {
    size = std::max(size, vdot_size_[j] / units_->velocity[j]);
    const double force = std::abs(force_[j] + A_->col(j).dot(solution.lambda) - M_->row(j).dot(solution.vdot));
    if ((*M_)(j, j) > 0.0) off = std::max(off, force / ((*M_)(j, j) * units_->velocity[j]));
  }
  if (size > 0.0) worst = std::max(worst, off / size);
  if (worst <= enough) return {};
  return {
      fmt::format("formulation '{}' solves the equations of motion to {:.2g} only, where masses or rows differ so much; use "
                  "'schur'",
                  formulation, worst)};
}

double unmet_acceleration(const DenseTerms& terms, const VecX<double>& vdot, std::span<const char> dependent) {
  double most = 0.0;
  for (Eigen::Index i = 0; i < terms.A().rows(); ++i)
    if (dependent[static_cast<std::size_t>(i)] != 0) most = std::max(most, std::abs(terms.b()[i] - terms.A().row(i).dot(vdot)));
  return most;
}

}  // namespace linkwork
