#include "linkwork/modules/ported_formulation.h"

#include <algorithm>
#include <cmath>

namespace linkwork {

Status PortedFormulation::solve(System& system, Solution& solution) {
  ports_.set_columns(system);
  return ports_.with_forces(system, ports_.Q, [&] { return inner_->solve(system, solution); });
}

void PortedFormulation::complete(System& system, Solution& solution) {
  ports_.with_forces(system, ports_.Q, [&] {
    inner_->complete(system, solution);
    return 0;
  });
}

/// What D's diagonal could be at other positions, by the tree's inertia alone.
void PortedFormulation::measure(System& system, PortResponse& response) {
  constexpr double kNothing = 1e-12;
  weights_ = system.mass_matrix().diagonal();
  const double largest = weights_.size() > 0 ? weights_.maxCoeff() : 0.0;
  for (double& weight : weights_) weight = weight > kNothing * largest ? 1.0 / weight : 0.0;
  ports_.jacobian_bounds(system, bounds_);
  row_scales(bounds_, weights_, scale_);
  for (Eigen::Index p = 0; p < scale_.size(); p += 3) response.scale.segment<3>(p).setConstant(scale_.segment<3>(p).maxCoeff());
}

Status PortedFormulation::respond(System& system, Stabilization& stabilization, Solution& solution, PortResponse& response) {
  ports_.set_columns(system);
  ports_.jacobian(system, J_);
  measure(system, response);
  const Eigen::Index count = J_.rows();
  forces_ = VecX<double>::Zero(count);
  const auto answer_to = [&](VecX<double>& accelerations) {
    const Status status = ports_.with_forces(system, forces_, [&] {
      const Status solved = inner_->solve(system, solution);
      if (solved.ok()) stabilization.correct(system, solution);
      return solved;
    });
    if (status.ok()) accelerations.noalias() = J_ * solution.vdot;
    return status;
  };
  if (Status status = answer_to(free_); !status.ok()) return status;
  response.R = free_;
  VecX<double> moved(count);
  for (Eigen::Index k = 0; k < count; ++k) {
    const double size = response.scale[k] > 0.0 ? (1.0 + free_.cwiseAbs().maxCoeff()) / response.scale[k] : 1.0;
    forces_[k] = size;
    if (Status status = answer_to(moved); !status.ok()) return status;
    response.D.col(k) = (moved - free_) / size;
    forces_[k] = 0.0;
  }
  answers_ = response.D.transpose();
  response.D = 0.5 * (response.D + answers_);
  return {};
}

}  // namespace linkwork
