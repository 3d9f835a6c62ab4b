#include "linkwork/dynamics/acceleration_derivatives.h"

#include <Eigen/LU>
#include <cmath>

#include "linkwork/dynamics/constraint_layout.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

AccelerationDerivatives::AccelerationDerivatives(const Model& model) : gradient_(model), loops_(cut_loops(model)) {}

Status AccelerationDerivatives::compute(System& system, const Solution& solution) {
  constexpr double kAccepted = 1e-10;
  system_ = &system;
  gradient_.compute(system, solution.vdot, solution.lambda);
  dependent_ = solution.dependent;
  const Tree& tree = system.tree();
  const int nv = tree.nv;
  TreeWork<double>& work = system.work();
  load_x_.resize(nv, 0);
  by_recursion_ = nv > 0;
  if (by_recursion_) {
    update_bias_wrenches(tree, work);
    loops_.inward(tree, work, system.terms().groups, system.terms().b);
    by_recursion_ = work.massless_node == 0;
  }
  // Whether these factors give the accelerations back that are known.
  if (by_recursion_) {
    const auto A = gradient_.rate().middleCols(nv, nv);
    VecX<double> lambda = solution.lambda;
    for (const int row : system.inactive_rows()) lambda[row] = 0.0;
    RowMatX force = gradient_.mass() * solution.vdot - A.transpose() * lambda, b = A * solution.vdot, x, y;
    for (const int row : system.inactive_rows()) b.row(row).setZero();
    solve_at_constant_loads(force, b, x, y);
    const double size = std::max(solution.vdot.cwiseQuotient(system.model().units.velocity).cwiseAbs().maxCoeff(),
                                 std::pow(system.model().speed(system.state().v), 2));
    by_recursion_ = (x - solution.vdot).cwiseQuotient(system.model().units.velocity).cwiseAbs().maxCoeff() <= kAccepted * size;
  }
  if (!by_recursion_ && nv > 0) factor_dense();

  std::vector<const MotionGradient::Sliding*> loaded;
  for (const MotionGradient::Sliding& sliding : gradient_.sliding())
    if (sliding.normal_row >= 0) loaded.push_back(&sliding);
  if (!loaded.empty()) {
    RowMatX effects(nv, std::ssize(loaded));
    for (std::size_t k = 0; k < loaded.size(); ++k) effects.col(static_cast<Eigen::Index>(k)) = -loaded[k]->effect;
    RowMatX load_x;
    solve_at_constant_loads(effects, RowMatX::Zero(system.terms().rows(), effects.cols()), load_x, load_y_);
    load_response_.setIdentity(effects.cols(), effects.cols());
    for (std::size_t k = 0; k < loaded.size(); ++k)
      load_response_.row(static_cast<Eigen::Index>(k)) -= loaded[k]->sign * load_y_.row(loaded[k]->normal_row);
    load_x_ = load_x;
  }
  solve(-gradient_.force(), -gradient_.acceleration(), vdot_, lambda_);
  for (const MotionGradient::Sliding& sliding : gradient_.sliding()) {
    auto rows = lambda_.middleRows(sliding.first_row, sliding.change.rows());
    rows = sliding.change;
    if (sliding.normal_row < 0) continue;
    for (Eigen::Index i = 0; i < rows.rows(); ++i)
      rows.row(i) += sliding.by_load[i] * sliding.sign * lambda_.row(sliding.normal_row);
  }
  if (!vdot_.allFinite()) return {"the derivatives of the accelerations are not finite"};
  return {};
}

void AccelerationDerivatives::solve(const RowMatX& force, const RowMatX& b, RowMatX& x, RowMatX& y) {
  solve_at_constant_loads(force, b, x, y);
  if (load_x_.cols() == 0) return;
  // Loads follow the normal forces, which follow the loads.
  RowMatX normal(load_x_.cols(), x.cols());
  Eigen::Index k = 0;
  for (const MotionGradient::Sliding& sliding : gradient_.sliding())
    if (sliding.normal_row >= 0) normal.row(k++) = sliding.sign * y.row(sliding.normal_row);
  const RowMatX loads = load_response_.partialPivLu().solve(normal);
  x += load_x_ * loads;
  y += load_y_ * loads;
}

void AccelerationDerivatives::solve_at_constant_loads(const RowMatX& force, const RowMatX& b, RowMatX& x, RowMatX& y) {
  if (by_recursion_) return loops_.solve_more(system_->tree(), system_->work(), force, b, x, y);
  const Eigen::Index nv = force.rows(), rows = std::ssize(rows_);
  x.resize(nv, force.cols());
  y.setZero(b.rows(), force.cols());
  if (nv == 0) return;
  MatX<double> right(nv + rows, force.cols());
  right.topRows(nv) = force;
  for (Eigen::Index r = 0; r < rows; ++r) right.row(nv + r) = b.row(rows_[static_cast<std::size_t>(r)]);
  const MatX<double> solved = dense_.solve(right);
  x = solved.topRows(nv);
  for (Eigen::Index r = 0; r < rows; ++r) y.row(rows_[static_cast<std::size_t>(r)]) = solved.row(nv + r);
}

void AccelerationDerivatives::factor_dense() {
  const int nv = system_->tree().nv;
  rows_.clear();
  for (int row = 0; row < system_->terms().rows(); ++row)
    if (system_->is_active(row) && dependent_[static_cast<std::size_t>(row)] == 0) rows_.push_back(row);
  const auto n = nv + std::ssize(rows_);
  MatX<double> system = MatX<double>::Zero(n, n);
  system.topLeftCorner(nv, nv) = gradient_.mass();
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    const auto at = nv + static_cast<Eigen::Index>(r);
    system.row(at).head(nv) = gradient_.rate().row(rows_[r]).segment(nv, nv);
    system.col(at).head(nv) = -system.row(at).head(nv).transpose();
  }
  dense_.compute(system);
}

}  // namespace linkwork
