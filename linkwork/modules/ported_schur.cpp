#include "linkwork/modules/ported_schur.h"

#include <fmt/format.h>

#include <algorithm>

#include "linkwork/dynamics/constraint_layout.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

using V3 = Vec3<double>;

static std::vector<ForceColumns> port_columns(const Tree& tree, const std::vector<NodeFrame>& ports) {
  std::vector<ForceColumns> columns;
  for (const NodeFrame& port : ports) columns.emplace_back(tree, std::vector<int>{port.node}, std::vector<int>{}, 6);
  return columns;
}

PortedSchur::PortedSchur(const Model& model, std::vector<NodeFrame> ports)
    : ports_(std::move(ports)),
      position_rows_(model),
      columns_(port_columns(model.tree, ports_)),
      loops_(model.tree, layout_of(model)->groups, nullptr, columns_),
      Q(VecX<double>::Zero(6 * static_cast<int>(ports_.size()))),
      lambda_(VecX<double>::Zero(model.row_count() + Q.size())) {}

Status PortedSchur::respond(System& system, Level level) {
  set_columns(system);
  const ConstraintTerms& terms = system.terms();
  TreeWork<double>& work = system.work();
  if (level == Level::kAcceleration) {
    update_bias_wrenches(system.tree(), work);
    loops_.inward(system.tree(), work, terms.groups, terms.b, columns_);
  } else if (level == Level::kPosition) {
    loops_.inward_unforced(system.tree(), work, position_rows_.groups(terms), terms.phi, columns_);
  } else {
    loops_.inward_unforced(system.tree(), work, terms.groups, terms.rate, columns_);
  }
  if (work.massless_node == 0 || level != Level::kAcceleration) return {};
  return {fmt::format("every joint must move some inertia, and '{}' moves none", system.model().node_name(work.massless_node))};
}

void PortedSchur::finish(System& system, VecX<double>& vdot, VecX<double>& lambda) {
  lambda_.tail(Q.size()) = Q;
  loops_.outward(system.tree(), system.work(), vdot, lambda_);
  lambda = lambda_.head(lambda_.size() - Q.size());
}

Status PortedSchur::solve(System& system, Solution& solution) {
  if (Status status = respond(system, Level::kAcceleration); !status.ok()) return status;
  finish(system, solution.vdot, solution.lambda);
  solution.rank = loops_.rank();
  std::copy_n(loops_.dependent().begin(), solution.dependent.size(), solution.dependent.begin());
  return {};
}

void PortedSchur::set_columns(const System& system) {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const Mat3<double>& R_WN = system.X_WN(ports_[p].node).R;
    columns_[p].set_point(ports_[p].node, ports_[p].X_NF.p);
    for (int k = 0; k < 3; ++k) {
      const V3 axis = R_WN.row(k).transpose();
      columns_[p].wrench(0, k) = {axis, V3::Zero()};
      columns_[p].wrench(0, 3 + k) = {ports_[p].X_NF.p.cross(axis), axis};
    }
  }
}

void PortedSchur::jacobian(System& system, MatX<double>& J) const {
  J.setZero(Q.size(), system.tree().nv);
  for (std::size_t p = 0; p < columns_.size(); ++p)
    columns_[p].add_rows_to(system.tree(), system.work(), static_cast<int>(6 * p), J);
}

void PortedSchur::jacobian_bounds(System& system, MatX<double>& bounds) const {
  update_poses(system.tree(), system.work());  // for lever arms
  bounds.setZero(Q.size(), system.tree().nv);
  for (std::size_t p = 0; p < columns_.size(); ++p)
    columns_[p].add_bounds_to(system.tree(), system.work(), static_cast<int>(6 * p), bounds);
}

}  // namespace linkwork
