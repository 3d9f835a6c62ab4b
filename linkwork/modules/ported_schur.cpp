#include "linkwork/modules/ported_schur.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "linkwork/dynamics/constraint_layout.h"
#include "linkwork/tree/kinematics.h"
#include "linkwork/tree/rnea.h"

namespace linkwork {

using V3 = Vec3<double>;

namespace {

constexpr double kParallel = 1e-14;  // sine of an angle that is rounding

/// The rotation from the parent's frame, with the joint at zero.
Mat3<double> at_rest(const Node& joint) {
  if (velocity_count(joint.kind) != 1) return joint.R_PF;
  const auto turn = [](double c, double s) { return Mat3<double>{{c, -s, 0.0}, {s, c, 0.0}, {0.0, 0.0, 1.0}}; };
  const Mat3<double> tilt{{1.0, 0.0, 0.0}, {0.0, joint.ca, -joint.sa}, {0.0, joint.sa, joint.ca}};
  return turn(joint.cg, joint.sg) * tilt * turn(std::cos(joint.theta0), std::sin(joint.theta0));
}

/// Where all joints between a node and the ground turn about one axis of the world, or slide, most wrenches do no work on them,
/// wherever they are: a planar module answers to one moment and two forces only.
PortOrder order_of(const Tree& tree, int node) {
  std::vector<int> way;
  for (int i = node; i != 0; i = tree.nodes[static_cast<std::size_t>(i)].parent) way.push_back(i);
  std::array<bool, 6> works{};
  int turns_about = -1;
  Mat3<double> R = Mat3<double>::Identity();
  for (std::size_t i = way.size(); i-- > 0;) {
    const Node& joint = tree.nodes[static_cast<std::size_t>(way[i])];
    R = R * at_rest(joint);
    if (velocity_count(joint.kind) != 1) works.fill(true);
    const bool turns = joint.kind != NodeKind::kPrismatic, slides = joint.kind != NodeKind::kRevolute;
    const V3 axis = R.col(2).cwiseAbs();
    Eigen::Index along = 0;
    const bool is_along = axis.maxCoeff(&along) > 0.5 && (axis - V3::Unit(along)).cwiseAbs().maxCoeff() < kParallel;
    if (turns && (!is_along || (turns_about >= 0 && turns_about != along))) works.fill(true);
    if (turns) turns_about = static_cast<int>(along);
    for (int k = 0; slides && k < 3; ++k)
      if (axis[k] > kParallel) works[static_cast<std::size_t>(3 + k)] = true;
  }
  if (turns_about >= 0)
    for (int k = 0; k < 3; ++k) works[static_cast<std::size_t>(k == turns_about ? k : 3 + k)] = true;
  if (std::ranges::none_of(works, std::identity{})) works.fill(true);
  PortOrder order{{}, 0};
  int last = 6;
  for (int k = 6; k-- > 0;)
    if (!works[static_cast<std::size_t>(k)]) order.component[static_cast<std::size_t>(--last)] = k;
  for (int k = 0; k < 6; ++k)
    if (works[static_cast<std::size_t>(k)]) order.component[static_cast<std::size_t>(order.working++)] = k;
  return order;
}

std::vector<PortOrder> orders_of(const Tree& tree, const std::vector<NodeFrame>& ports) {
  std::vector<PortOrder> orders;
  for (const NodeFrame& port : ports) orders.push_back(order_of(tree, port.node));
  return orders;
}

std::vector<ForceColumns> port_columns(const Tree& tree, const std::vector<NodeFrame>& ports,
                                       const std::vector<PortOrder>& orders) {
  std::vector<ForceColumns> columns;
  for (std::size_t p = 0; p < ports.size(); ++p) {
    columns.emplace_back(tree, std::vector<int>{ports[p].node}, std::vector<int>{}, 6);
    columns.back().set_working(orders[p].working);
  }
  return columns;
}

}  // namespace

PortedSchur::PortedSchur(const Model& model, std::vector<NodeFrame> ports)
    : ports_(std::move(ports)),
      order_(orders_of(model.tree, ports_)),
      position_rows_(model),
      columns_(port_columns(model.tree, ports_, order_)),
      loops_(model.tree, layout_of(model)->groups, nullptr, columns_),
      Q(VecX<double>::Zero(6 * static_cast<int>(ports_.size()))),
      lambda_(VecX<double>::Zero(model.row_count() + Q.size())),
      forces_(model) {}

Status PortedSchur::respond(System& system, Level level) {
  settled_ = false;
  set_columns(system, false);
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
  if (settled_) respond(system, Level::kAcceleration);
  put_in_order(Q, lambda_.data() + lambda_.size() - Q.size());
  loops_.outward(system.tree(), system.work(), vdot, lambda_);
  assign_numbers(lambda_.data(), lambda_.size() - Q.size(), lambda);
}

void PortedSchur::settle(System& system, VecX<double>& vdot, VecX<double>& lambda) {
  if (!forces_.is_needed()) return;
  set_columns(system);
  with_forces(system, Q, [&] {
    forces_.settle(system, vdot, lambda);
    return 0;
  });
  settled_ = true;
}

Status PortedSchur::solve(System& system, Solution& solution) {
  if (Status status = respond(system, Level::kAcceleration); !status.ok()) return status;
  finish(system, solution.vdot, solution.lambda);
  settle(system, solution.vdot, solution.lambda);
  solution.rank = loops_.rank();
  std::copy_n(loops_.dependent().begin(), solution.dependent.size(), solution.dependent.begin());
  return {};
}

void PortedSchur::set_columns(const System& system, bool all) {
  for (std::size_t p = 0; p < ports_.size(); ++p) {
    const Mat3<double>& R_WN = system.X_WN(ports_[p].node).R;
    const V3& r = ports_[p].X_NF.p;
    columns_[p].set_point(ports_[p].node, r);
    for (int c = 0; c < (all ? 6 : order_[p].working); ++c) {
      const int k = order_[p].component[static_cast<std::size_t>(c)];
      const V3 axis = R_WN.row(k % 3).transpose();
      if (k < 3)
        columns_[p].wrench(0, c) = {axis, V3::Zero()};
      else
        columns_[p].wrench(0, c) = {r.cross(axis), axis};
    }
  }
}

void PortedSchur::put_in_order(const VecX<double>& x, double* ordered) const {
  for (std::size_t p = 0; p < order_.size(); ++p)
    for (const int k : order_[p].component) *ordered++ = x[static_cast<Eigen::Index>(6 * p) + k];
}

void PortedSchur::order_rows(MatX<double>& rows) {
  unordered_ = rows;
  Eigen::Index row = 0;
  for (std::size_t p = 0; p < order_.size(); ++p)
    for (const int k : order_[p].component) rows.row(static_cast<Eigen::Index>(6 * p) + k) = unordered_.row(row++);
}

void PortedSchur::apply(const VecX<double>& forces, TreeWork<double>& work) const {
  VecX<double> ordered(forces.size());
  put_in_order(forces, ordered.data());
  for (std::size_t p = 0; p < columns_.size(); ++p) columns_[p].add_to_forces(ordered.data() + 6 * p, work);
}

/// What cannot move has no response, to the last bit.
void PortedSchur::response(PortResponse& response) const {
  response.D.setZero();
  response.R.setZero();
  const Eigen::Index rows = response.D.rows();
  loops_.for_each_open_response([&](const LoopElimination::OpenBlock& block) {
    const int *const a = order_[static_cast<std::size_t>(block.a)].component.data(), *const b =
                                                                                         order_[static_cast<std::size_t>(block.b)]
                                                                                             .component.data();
    double *const D = response.D.data() + 6 * (block.a + block.b * rows), *const mirrored =
                                                                              response.D.data() + 6 * (block.b + block.a * rows);
    const bool is_diagonal = block.a == block.b;
    const double* from = block.values;
    for (int r = 0; r < block.rows; ++r, from += block.stride)
      for (int c = 0; c < (is_diagonal ? r + 1 : block.columns); ++c)
        D[a[r] + b[c] * rows] = mirrored[b[c] + a[r] * rows] = from[c];
    for (int r = 0; is_diagonal && r < block.rows; ++r) response.R[6 * block.a + a[r]] = -block.rhs[r];
  });
}

void PortedSchur::jacobian(System& system, MatX<double>& J) {
  J.setZero(Q.size(), system.tree().nv);
  for (std::size_t p = 0; p < columns_.size(); ++p)
    columns_[p].add_rows_to(system.tree(), system.work(), static_cast<int>(6 * p), J);
  order_rows(J);
}

void PortedSchur::jacobian_bounds(System& system, MatX<double>& bounds) {
  update_poses(system.tree(), system.work());  // for lever arms
  bounds.setZero(Q.size(), system.tree().nv);
  for (std::size_t p = 0; p < columns_.size(); ++p)
    columns_[p].add_bounds_to(system.tree(), system.work(), static_cast<int>(6 * p), bounds);
  order_rows(bounds);
}

}  // namespace linkwork
