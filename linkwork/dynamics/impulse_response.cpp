#include "linkwork/dynamics/impulse_response.h"

#include <algorithm>
#include <cmath>

#include "linkwork/dynamics/constraint_layout.h"

namespace linkwork {

ImpulseResponse::ImpulseResponse(const Model& model)
    : loops_(cut_loops(model)), balance_(model), dependent_(static_cast<std::size_t>(model.row_count())) {}

std::pair<double, int> ImpulseResponse::solve(System& system, const VecX<double>& change, VecX<double>& x, VecX<double>& P) {
  constexpr int kMostDense = 1000;  // velocities: a factorization of a second
  solve_by_recursion(system, change, x, P);
  if (balance_.is_needed()) balance_.settle_impulses(system, x, P);
  if (!is_solved(system, change, x, P) && system.tree().nv <= kMostDense) {
    if (!partition_) partition_.emplace(system.model()), solution_.emplace(system.model());
    partition_->partition().forget();
    partition_->update(system);
    if (partition_->solve_impulses(system, change, *solution_).ok()) {
      x = solution_->vdot;
      P = solution_->lambda;
      missed_ = change - system.jacobian() * x;
      dependent_ = solution_->dependent;
    }
  }
  std::pair<double, int> unmet{0.0, -1};
  for (std::size_t row = 0; row < dependent_.size(); ++row) {
    const double vain = dependent_[row] != 0 ? std::abs(missed_[static_cast<Eigen::Index>(row)]) : 0.0;
    if (vain > unmet.first) unmet = {vain, static_cast<int>(row)};
  }
  return unmet;
}

void ImpulseResponse::solve_by_recursion(System& system, const VecX<double>& change, VecX<double>& x, VecX<double>& P) {
  TreeWork<double>& work = system.work();
  for (std::size_t i = 0; i < work.nodes.size(); ++i) {
    work.nodes[i].n = Vec3<double>::Zero() - work.applied[i].n;
    work.nodes[i].f = Vec3<double>::Zero() - work.applied[i].f;
  }
  x.resize(system.tree().nv);
  P.resize(change.size());
  loops_.inward(system.tree(), work, system.terms().groups, change);
  loops_.outward(system.tree(), work, x, P);
  dependent_ = loops_.dependent();
  missed_ = Eigen::Map<const VecX<double>>(loops_.inconsistency().data(), change.size());
}

bool ImpulseResponse::is_solved(System& system, const VecX<double>& change, const VecX<double>& x, const VecX<double>& P) {
  constexpr double kRight = 1e-10, kInVain = 1e-6;
  if (x.size() == 0) return true;
  if (system.work().massless_node != 0) return false;
  const VecX<double>& unit = system.model().units.row;
  balance_.missed_impulses(system, x, P);
  left_ = sizes_ = change;
  loops_.subtract_rates(system.work(), system.terms().groups, x, left_, &sizes_);
  sizes_ += change.cwiseAbs();
  double size = 0.0, missed = 0.0, in_vain = 0.0;
  for (Eigen::Index row = 0; row < change.size(); ++row) {
    size = std::max(size, sizes_[row] / unit[row]);
    double& most = dependent_[static_cast<std::size_t>(row)] != 0 ? in_vain : missed;
    most = std::max(most, std::abs(left_[row]) / unit[row]);
  }
  if (!(missed <= kRight * size)) return false;
  const double jump = x.cwiseQuotient(system.model().units.velocity).cwiseAbs().maxCoeff();
  if (!(balance_.missed_motion(system) <= kRight * jump)) return false;
  if (in_vain <= kInVain * size || change.size() > kMostRowsToRank) return true;
  std::vector<char> dependent(dependent_.size());  // by geometry: masses may have lost a row
  return loops_.rank().rank >= RowRank().decide(system, dependent).rank;
}

}  // namespace linkwork
