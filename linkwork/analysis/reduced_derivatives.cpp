#include <Eigen/LU>

#include "linkwork/analysis/reduced_motion.h"
#include "linkwork/simulation/simulation_error.h"

namespace linkwork {

AccelerationDerivatives& ReducedMotion::derivatives() {
  if (derivatives_known_) return *derivatives_;
  if (!derivatives_) derivatives_ = std::make_unique<AccelerationDerivatives>(model());
  rates(origin_);
  evaluator_.refresh();
  if (const Status status = derivatives_->compute(evaluator_.system(), evaluator_.solution()); !status.ok())
    throw SimulationError(status.trouble);
  derivatives_known_ = true;
  return *derivatives_;
}

/// Rows of phi stay zero, A_h dq = 0, and so do those of A v - u:  G dq + A dv + G_z dz = 0.
MatX<double> ReducedMotion::tangent() {
  const MotionGradient& gradient = derivatives().gradient();
  const int nv = model().tree.nv, np = position_count(), ne = velocity_count(), nz = state_count();
  const RowMatX& rate = gradient.rate();
  MatX<double> T = MatX<double>::Zero(gradient.columns(), size());
  for (int k = 0; k < np; ++k) T(positions_.independent[static_cast<std::size_t>(k)], k) = 1.0;
  for (int k = 0; k < ne; ++k) T(nv + velocities_.independent[static_cast<std::size_t>(k)], np + k) = 1.0;
  for (int k = 0; k < nz; ++k) T(gradient.first_state() + k, np + ne + k) = 1.0;
  const auto columns_of = [](const std::vector<int>& coordinates, int first) {
    std::vector<int> columns;
    for (const int c : coordinates) columns.push_back(first + c);
    return columns;
  };
  if (!positions_.rows.empty()) {
    const std::vector<int> dependent = columns_of(positions_.dependent, nv), independent = columns_of(positions_.independent, nv);
    const MatX<double> follow =
        MatX<double>(rate(positions_.rows, dependent)).partialPivLu().solve(MatX<double>(rate(positions_.rows, independent)));
    T(positions_.dependent, Eigen::seqN(0, np)) = -follow;
  }
  if (!velocities_.rows.empty()) {
    const std::vector<int> dependent = columns_of(velocities_.dependent, nv);
    const MatX<double> off = MatX<double>(rate(velocities_.rows, Eigen::all)) * T;
    T(dependent, Eigen::all) = -MatX<double>(rate(velocities_.rows, dependent)).partialPivLu().solve(off);
  }
  return T;
}

MatX<double> ReducedMotion::rate_derivatives() {
  const AccelerationDerivatives& exact = derivatives();
  const int nv = model().tree.nv, np = position_count(), ne = velocity_count();
  MatX<double> rates = MatX<double>::Zero(size(), exact.gradient().columns());
  // Of a turn, the rotation vector's rate is w + phi x w / 2 to first order.
  MatX<double> moves = MatX<double>::Zero(nv, exact.gradient().columns());
  moves.middleCols(nv, nv).setIdentity();
  for (const Node& node : model().tree.nodes) {
    if (linkwork::velocity_count(node.kind) < 3) continue;
    const int first = node.v + linkwork::velocity_count(node.kind) - 3;
    moves.block<3, 3>(first, first) = -0.5 * skew<double>(Vec3<double>(base_.v.segment<3>(first)));
  }
  for (int k = 0; k < np; ++k) rates.row(k) = moves.row(positions_.independent[static_cast<std::size_t>(k)]);
  for (int k = 0; k < ne; ++k) rates.row(np + k) = exact.vdot().row(velocities_.independent[static_cast<std::size_t>(k)]);
  rates.bottomRows(state_count()) = exact.gradient().states();
  return rates;
}

}  // namespace linkwork
