#include "linkwork/modules/coordinate_change.h"

#include "linkwork/model/sliding.h"

namespace linkwork {

CoordinateChange::CoordinateChange(const Model& model, double length) : unit_(VecX<double>::Ones(model.tree.nv)) {
  for (const Node& node : model.tree.nodes) unit_.segment(node.v, sliding_count(node.kind)).setConstant(length);
  weights_ = unit_.cwiseAbs2();
}

void CoordinateChange::respond(System& system, PortedSchur& ports, Level level, PortResponse& response) {
  ports.set_columns(system);
  ports.jacobian(system, J_);
  J_ *= unit_.asDiagonal();
  const bool positions = level == Level::kPosition;
  rows_ = system.jacobian();
  if (positions)
    for (const int row : ports.position_rows().velocity_rows()) rows_.row(row).setZero();
  dependent_.resize(static_cast<std::size_t>(rows_.rows()));
  rank_ = decision_.decide(system, rows_, dependent_);
  rows_ *= unit_.asDiagonal();
  basis_.factor(rows_, dependent_);
  basis_.shortest_solution(positions ? system.terms().phi : system.terms().rate, own_);
  along_ = J_.transpose();
  for (Eigen::Index k = 0; k < along_.cols(); ++k) {
    basis_.closest_multipliers(along_.col(k), lambda_);
    along_.col(k).noalias() -= rows_.transpose() * lambda_;
  }
  response.D.noalias() = along_.transpose() * along_;  // N is a projection
  response.R.noalias() = J_ * own_;
  ports.jacobian_bounds(system, bounds_);
  row_scales(bounds_, weights_, scale_);
  for (Eigen::Index p = 0; p < scale_.size(); p += 3) response.scale.segment<3>(p).setConstant(scale_.segment<3>(p).maxCoeff());
}

void CoordinateChange::finish(const VecX<double>& Q, VecX<double>& change) const {
  change = own_;
  change.noalias() += along_ * Q;
  change.array() *= unit_.array();
}

}  // namespace linkwork
